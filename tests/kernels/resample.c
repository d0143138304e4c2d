/* resample: known samples, a sine that stays a sine, what lies above the band, every variant and device against the
 * definition for ratios up and down, and what is refused. */
#include "suite.h"

#include "gpu_case.h"

#include <math.h>

#include "audio/resample.h"

typedef struct resample_values { /* as the stage's parameters lie */
    double rate, bandwidth, attenuation, speed;
} resample_values;

extern const smp_stage smp_stage_resample;

SMP_TEST(known_samples)
{
    static const struct {
        resample_values values;
        int64_t frames;
        double rate;
        int64_t made;
        double first[8];
    } cases[] = {
        {{48000, 0.913, 100, 1},
         40,
         44100,
         44,
         {-0.8579441, -1.1015641, -0.7048892, -0.8564720, -0.4708698, -0.2901998, -0.1591314, 0.6470323}},
        {{16000, 0.913, 100, 1},
         90,
         48000,
         30,
         {-0.6676261, -0.7292510, 0.0581755, -0.2504770, 0.2545370, -0.5877528, NAN, NAN}},
        {{44100, 0.8, 80, 1}, 20, 8000, 111, {-0.9263036, -1.0409798, -1.1084789, NAN, NAN, NAN, NAN, NAN}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const kernel_case c =
            kernel_case_in(&smp_stage_resample, &cases[i].values, case_sound(cases[i].frames, 1, cases[i].rate));
        float in[90], out[111];
        for (int n = 0; n < cases[i].frames; n++)
            in[n] = (float)((31 * n * n + 7 * n) % 2001 - 1000) / 1024.f;
        assert_int_equal(kernel_case_samples(&c, in, out, NULL), cases[i].made);
        for (int k = 0; k < 8 && cases[i].first[k] == cases[i].first[k]; k++)
            assert_true(fabs((double)out[k] - cases[i].first[k]) < 4e-7);
    }
}

/* In the middle, where the ends are out of reach: what is below 91.3 % of the lower band stays, in time and level;
 * what is above the lower rate's half goes. */
SMP_TEST(a_sine_stays_or_goes)
{
    static const struct {
        double from, to, frequency;
        bool stays;
    } cases[] = {{44100, 48000, 1000, true},
                 {44100, 48000, 20000, true},
                 {48000, 16000, 7000, true},
                 {48000, 16000, 8100, false},
                 {44100, 16000, 12000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const resample_values values = {cases[i].to, 0.913, 100, 1};
        const kernel_case c = kernel_case_in(&smp_stage_resample, &values, case_sound(2000, 1, cases[i].from));
        const double turn = 2 * 3.14159265358979323846 * cases[i].frequency;
        float in[2000], out[2200];
        for (int n = 0; n < 2000; n++)
            in[n] = (float)sin(turn * n / cases[i].from);
        const int made = kernel_case_samples(&c, in, out, NULL);
        for (int n = made / 3; n < made * 2 / 3; n++) {
            const double want = cases[i].stays ? sin(turn * n / cases[i].to) : 0;
            assert_true(fabs((double)out[n] - want) < 3e-5);
        }
    }
}

/* A sound at another speed is one of another rate, made to have its own. */
SMP_TEST(a_speed_is_another_rate)
{
    const resample_values fast = {NAN, 0.8, 60, 1.5}, plain = {8000, 0.8, 60, 1};
    const smp_shape in = case_sound(300, 1, 8000), relabelled = case_sound(300, 1, 12000);
    smp_node_plan a = {.out = in}, b = {.out = relabelled};
    smp_error err = {0};
    assert_int_equal(smp_stage_resample.plan(&fast, &in, NULL, &a, &err), SMP_OK);
    assert_int_equal(smp_stage_resample.plan(&plain, &relabelled, NULL, &b, &err), SMP_OK);
    assert_true(a.out.rate == 8000 && b.out.rate == 8000);
    assert_int_equal(a.out.height, 200);
    assert_int_equal(b.out.height, 200);
    assert_int_equal(a.table.size, b.table.size);
    assert_memory_equal(a.table.data, b.table.data, a.table.size);
    assert_memory_equal(a.kernel.bytes, b.kernel.bytes, a.kernel.size);
    smp_free(a.table.data);
    smp_free(b.table.data);
    assert_int_equal(smp_stage_resample.check(&(resample_values){NAN, 0.9, 100, 1}, &err), SMP_E_PIPE);
}

static const struct {
    double from, to;
    int64_t frames;
    int channels;
} ratios[] = {
    {44100, 48000, 900, 2}, {44100, 16000, 1500, 1}, {48000, 16000, 700, 3}, {16000, 48000, 500, 1},
    {8000, 44100, 120, 5},  {48000, 24000, 300, 2},  {44100, 44101, 90, 1},  {48000, 47999, 90, 2},
    {32000, 48000, 1, 1},   {10, 7, 40, 8},
};
enum { RATIOS = sizeof ratios / sizeof ratios[0] };

SMP_TEST(every_variant_gives_the_same_bytes)
{
    for (int i = 0; i < RATIOS; i++) {
        const resample_values values = {ratios[i].to, 0.8, 60, 1};
        kernel_case c = kernel_case_in(&smp_stage_resample, &values,
                                       case_sound(ratios[i].frames, ratios[i].channels, ratios[i].from));
        c.values = i % 3 ? CASE_REALS : CASE_ANY;
        c.seed = (uint64_t)i;
        kernel_case_check(&c);
    }
}

SMP_TEST(gpus_give_the_same_bytes)
{
    for (int i = 0; i < RATIOS; i++) {
        char line[80];
        snprintf(line, sizeof line, "resample %.0fHz bandwidth=70%% attenuation=50dB", ratios[i].to);
        const gpu_case c = {.lines = {line, ratios[i].to == 48000 ? "gain -3dB" : NULL},
                            .in = case_sound(ratios[i].frames, ratios[i].channels, ratios[i].from),
                            .values = CASE_REALS,
                            .seed = (uint64_t)i};
        gpu_case_check(&c);
    }
}

SMP_TEST(exchanged_frames_cost_no_conflicts)
{
    static const char *const names[] = {"tiled", "swizzled"};
    static const char *const lines[] = {"resample 24kHz bandwidth=60% attenuation=40dB",
                                        "resample 12kHz bandwidth=60% attenuation=40dB",
                                        "resample 8kHz bandwidth=60% attenuation=40dB"};
    for (int v = 0; v < 6; v++) {
        const gpu_case c = {.lines = {lines[v / 2]}, .in = case_sound(700, 1, 48000), .values = CASE_REALS};
        smp_trace trace = {0};
        gpu_case_trace(&c, names[v % 2], 0, &trace);
        const uint64_t conflicts = gpu_conflicts(&trace, "resample_", SMP_SHARED_LOAD);
        if (v % 2)
            assert_int_equal(conflicts, 0);
        else
            assert_true(conflicts > 0);
        smp_trace_free(&trace);
    }
}

SMP_TEST(what_cannot_be_is_refused)
{
    smp_error err = {0};
    smp_node_plan work = {0};
    const smp_shape in = case_sound(100, 1, 48000);
    assert_int_equal(smp_stage_resample.check(&(resample_values){44100.5, 0.9, 100, 1}, &err), SMP_E_PIPE);
    assert_string_equal(err.message, "the rate is 44100.5 Hz: it must be a whole number");
    assert_int_equal(smp_stage_resample.plan(&(resample_values){96001, 0.9, 100, 1}, &in, NULL, &work, &err),
                     SMP_E_PIPE);
    assert_non_null(strstr(err.message, "too little in common: their ratio is 96001 to 48000"));
    assert_int_equal(smp_stage_resample.plan(&(resample_values){47999, 0.99, 160, 1}, &in, NULL, &work, &err),
                     SMP_E_PIPE);
    assert_non_null(strstr(err.message, "takes 47999 filters of"));
    work = (smp_node_plan){0};
    assert_int_equal(smp_stage_resample.plan(&(resample_values){48000, 0.9, 100, 1}, &in, NULL, &work, &err), SMP_OK);
    assert_true(work.effect.none && work.effect.already);
}
