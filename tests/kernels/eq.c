/* eq: coefficients and samples against those of the cookbook and of scipy.signal.lfilter, every variant and device
 * against the definition with segments short enough that there are many, what is refused, and what shared memory costs.
 */
#include "suite.h"

#include "gpu_case.h"

#include <math.h>

#include "audio/eq.h"

enum { PEAK, LOWSHELF, HIGHSHELF, LOWPASS, HIGHPASS, BANDPASS, NOTCH, ALLPASS };

typedef struct eq_values { /* as the stage's parameters lie */
    int kind;
    double freq, gain, q;
} eq_values;

extern const smp_stage smp_stage_eq;

SMP_TEST(known_samples)
{
    static const struct {
        eq_values values;
        double rate, b[3], a[2], first[5], last;
    } cases[] = {
        {{PEAK, 1000, 6, 1},
         48000,
         {1.0439530870, -1.8953207239, 0.8677222848},
         {-1.8953207239, 0.9116753718},
         {-1.0194854, -1.0620977, -1.0291926, -0.9157108, -0.7173678},
         0.4753555},
        {{LOWSHELF, 200, -6, 0.7071},
         44100,
         {0.9930313976, -1.9523944872, 0.9599243977},
         {-1.9521151628, 0.9532351197},
         {-0.9697572, -0.9193490, -0.8094423, -0.6408832, -0.4145102},
         0.4151423},
        {{HIGHPASS, 80, 0, 0.7071},
         16000,
         {0.9780302754, -1.9560605508, 0.9780302754},
         {-1.9555778328, 0.9565432688},
         {-0.9551077, -0.8763856, -0.7410218, -0.5516084, -0.3106770},
         0.3821047},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const kernel_case c = kernel_case_in(&smp_stage_eq, &cases[i].values, case_sound(64, 1, cases[i].rate));
        smp_node_plan plan = case_plan(&c);
        const smp_eq *eq = (const smp_eq *)(const void *)plan.kernel.bytes;
        const double found[5] = {eq->filter.b0, eq->filter.b1, eq->filter.b2, eq->filter.a1, eq->filter.a2};
        for (int k = 0; k < 5; k++)
            assert_true(fabs(found[k] - (k < 3 ? cases[i].b[k] : cases[i].a[k - 3])) < 6e-11);
        assert_int_equal(eq->segments.warm, 1024);
        assert_int_equal(plan.rows.up, 64); /* all of the sound */
        case_plan_free(&plan);
        float in[64], out[64];
        for (int n = 0; n < 64; n++)
            in[n] = (float)((31 * n * n + 7 * n) % 2001 - 1000) / 1024.f;
        kernel_case_samples(&c, in, out, NULL);
        for (int k = 0; k < 5; k++)
            assert_true(fabs((double)out[k] - cases[i].first[k]) < 1.2e-7);
        assert_true(fabs((double)out[63] - cases[i].last) < 1e-7);
    }
}

/* A sound longer than its segments is as if it had none, to a half of the last bit. */
SMP_TEST(segments_do_not_show)
{
    enum { FRAMES = 40000 };
    static const eq_values values = {HIGHPASS, 40, 0, 0.7071};
    const kernel_case c = kernel_case_in(&smp_stage_eq, &values, case_sound(FRAMES, 1, 48000));
    smp_node_plan plan = case_plan(&c);
    const smp_biquad f = ((const smp_eq *)(const void *)plan.kernel.bytes)->filter;
    assert_int_equal(((const smp_eq *)(const void *)plan.kernel.bytes)->segments.warm, 6144);
    case_plan_free(&plan);
    picture in = picture_make(&c.in, SMP_F32), out;
    picture_fill(&in, 3, CASE_REALS);
    kernel_case_naive(&c, &in, NULL, &out);
    double z1 = 0, z2 = 0;
    for (int64_t n = 0; n < FRAMES; n++) {
        const double x = (double)picture_get(&in, 0, n, 0), y = f.b0 * x + z1;
        z1 = f.b1 * x - f.a1 * y + z2;
        z2 = f.b2 * x - f.a2 * y;
        assert_true(fabs((double)picture_get(&out, 0, n, 0) - y) <= 0x1p-24 * fabs(y) + 1e-9);
    }
    picture_free(&in);
    picture_free(&out);
}

/* Segments of 96 frames and a warm-up of 64, so that short sounds have many. */
static smp_code plan_short(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *plan,
                           smp_error *err)
{
    smp_code code = smp_stage_eq.plan(params, in, by, plan, err);
    ((smp_eq *)(void *)plan->kernel.bytes)->segments = (smp_segments){.length = 96, .warm = 64};
    plan->rows.up = 64 + 96 - 1;
    return code;
}

SMP_TEST(many_segments_give_the_same_on_every_device)
{
    static const int64_t lengths[] = {1, 96, 97, 500, 1801, 700};
    static const int channels[] = {1, 2, 3, 8, 2, 5};
    static const eq_values values[] = {{PEAK, 1000, 6, 1}, {LOWSHELF, 200, -6, 1}, {LOWPASS, 9000, 0, 0.5}};
    smp_variant variants[4] = {{0}};
    smp_stage shortened = smp_stage_eq;
    for (int i = 0; i < 3; i++) {
        variants[i] = smp_stage_eq.variants[i];
        variants[i].band = 32;
    }
    shortened.plan = plan_short;
    shortened.variants = variants;
    for (int i = 0; i < 6; i++) {
        kernel_case c = kernel_case_in(&shortened, &values[i % 3], case_sound(lengths[i], channels[i], 48000));
        c.values = i % 2 ? CASE_ANY : CASE_REALS;
        c.seed = (uint64_t)i;
        kernel_case_check(&c);
        gpu_views_check(&c);
    }
}

SMP_TEST(only_padding_avoids_conflicts)
{
    for (int channels = 1; channels <= 3; channels++) { /* with one segment there is nothing to turn */
        const gpu_case c = {.lines = {"eq peak freq=4kHz gain=6dB q=0.5"},
                            .in = case_sound(16384 * 3 / 2, channels, 48000),
                            .values = CASE_REALS,
                            .seed = 3};
        gpu_job job = gpu_job_make(&c);
        gpu_job_check(&job, "padded", 0);
        gpu_job_check(&job, "naive", 0);
        gpu_job_free(&job);
        if (channels != 2)
            continue;
        const gpu_case small = {.lines = {c.lines[0]}, .in = case_sound(40, channels, 48000), .values = CASE_REALS};
        gpu_no_conflicts(&small, "padded", "eq_");
    }
}

SMP_TEST(what_cannot_be_is_refused)
{
    static const struct {
        eq_values values;
        double rate;
        const char *says;
    } cases[] = {
        {{PEAK, 24000, 6, 1}, 48000, "24000 Hz does not lie below half the sound's rate of 48000 Hz"},
        {{PEAK, 0.001, 6, 1}, 48000, "the filter is too narrow for this rate"},
        {{PEAK, 1000, 6, 1}, 0, "the sound has no rate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        smp_node_plan work = {0};
        const smp_shape in = case_sound(100, 1, cases[i].rate);
        assert_int_equal(smp_stage_eq.plan(&cases[i].values, &in, NULL, &work, &err), SMP_E_PIPE);
        assert_non_null(strstr(err.message, cases[i].says));
    }
    smp_error err = {0};
    assert_int_equal(smp_stage_eq.check(&(eq_values){NOTCH, 1000, 6, 1}, &err), SMP_E_PIPE);
    assert_string_equal(err.message, "a notch has no gain");
    smp_node_plan work = {0};
    const smp_shape in = case_sound(100, 1, 48000);
    assert_int_equal(smp_stage_eq.plan(&(eq_values){HIGHSHELF, 1000, 0, 1}, &in, NULL, &work, &err), SMP_OK);
    assert_true(work.effect.none);
}
