/* limit: known gains, what it promises of samples and of the values between them, every variant and device against the
 * definition, and what is refused. */
#include "suite.h"

#include "gpu_case.h"

#include <math.h>

#include "audio/limit.h"

typedef struct limit_values { /* as the stage's parameters lie */
    double ceiling, lookahead, release;
    int peak;
} limit_values;

extern const smp_stage smp_stage_limit;

SMP_TEST(known_gains)
{
    static const struct {
        limit_values values;
        int from, count;
        int gains[13]; /* 2^-16 dB */
        double peak;
    } cases[] = {
        {{-6.02, 0.0005, 20000, 0},
         16,
         13,
         {-65754, -263027, -526067, -723340, -789093, -775441, -720828, -611601, -461413, -300082, -157422, -58230,
          -11144},
         0.50003432},
        {{0, 0.00025, 10000, 0},
         18,
         9,
         {-98642, -295926, -394567, -374087, -312647, -230727, -148807, -70646, -16722},
         0.99999831},
    };
    for (int i = 0; i < 2; i++) {
        const kernel_case c = kernel_case_in(&smp_stage_limit, &cases[i].values, case_sound(40, 1, 8000));
        picture in = picture_make(&c.in, SMP_F32), out;
        for (int n = 0; n < 40; n++) /* the small value shows the gain where the sound is silent */
            picture_set(&in, 0, n, 0, n >= 5 && n <= 8 ? 0.5f : n == 20 ? 2.f : 0x1p-20f);
        kernel_case_naive(&c, &in, NULL, &out);
        assert_true(fabs((double)picture_get(&out, 0, 20, 0) - cases[i].peak) < 3e-7);
        for (int n = 0; n < 40; n++) {
            const int k = n - cases[i].from;
            const double want = k >= 0 && k < cases[i].count ? cases[i].gains[k] / 65536. : 0,
                         got = 20 * log10((double)picture_get(&out, 0, n, 0) / (double)picture_get(&in, 0, n, 0));
            assert_true(fabs(got - want) < 6e-5); /* 3 units and the rounding of f32 */
        }
        picture_free(&in);
        picture_free(&out);
    }
}

/* A loud sound all through: the gain is nearly the same everywhere. */
SMP_TEST(known_gains_of_a_loud_sound)
{
    const limit_values values = {-1, 0.005, 100, 0};
    const kernel_case c = kernel_case_in(&smp_stage_limit, &values, case_sound(300, 2, 44100));
    picture in = picture_make(&c.in, SMP_F32), out;
    for (int n = 0; n < 300; n++)
        for (int k = 0; k < 2; k++)
            picture_set(&in, 0, n, k, 3 * (float)((31 * n * n + 7 * n + 97 * k) % 2001 - 1000) / 1024.f);
    kernel_case_naive(&c, &in, NULL, &out);
    for (int n = 0; n <= 150; n += n < 5 ? 1 : 145) {
        const double want = (n < 6 ? -677409 : -677052) / 65536.,
                     got = 20 * log10((double)picture_get(&out, 0, n, 0) / (double)picture_get(&in, 0, n, 0));
        assert_true(fabs(got - want) < 6e-5);
    }
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(nothing_passes_the_ceiling)
{
    static const limit_values values[] = {
        {-1, 0.005, 100, 0}, {-6, 0.001, 1000, 0}, {-20, 0.0001, 100000, 0}, {-3, 0.1, 1, 0}, {-1, 0.005, 100, 1}};
    for (int i = 0; i < 5; i++) {
        const kernel_case c = kernel_case_in(&smp_stage_limit, &values[i], case_sound(3000, 2, 44100));
        picture in = picture_make(&c.in, SMP_F32), out;
        uint64_t seed = (uint64_t)i;
        for (int64_t y = 0; y < 3000; y++)
            for (int k = 0; k < 2; k++)
                picture_set(&in, 0, y, k, (float)((double)case_random(&seed) / 0x1p31 - 1) * (y % 700 < 9 ? 4.f : 1.f));
        kernel_case_naive(&c, &in, NULL, &out);
        const double most = pow(10, values[i].ceiling / 20) * (1 + 2e-6);
        for (int64_t y = 0; y < 3000; y++)
            for (int k = 0; k < 2; k++)
                assert_true(fabs((double)picture_get(&out, 0, y, k)) <= most);
        double between = 0; /* by the same four phases */
        for (int64_t y = 0; y < 3000 && values[i].peak; y++)
            for (int phase = 0; phase < 4; phase++) {
                double s = 0;
                for (int k = 0; k < SMP_PEAK_TAPS && k <= y; k++)
                    s += smp_peak_tap(phase, k) * (double)picture_get(&out, 0, y - k, 0);
                between = smp_larger(between, s);
            }
        assert_true(20 * log10(between + 1e-9) < values[i].ceiling + 0.3);
        picture_free(&in);
        picture_free(&out);
    }
}

SMP_TEST(what_stays_below_is_left_alone)
{
    const limit_values values = {-1, 0.005, 100, 0};
    const kernel_case c = kernel_case_in(&smp_stage_limit, &values, case_sound(1000, 2, 44100));
    picture in = picture_make(&c.in, SMP_F32), out;
    picture_fill(&in, 1, CASE_CODES); /* 0 to 1 */
    for (int64_t y = 0; y < 1000; y++)
        for (int k = 0; k < 2; k++)
            picture_set(&in, 0, y, k, 0.89f * picture_get(&in, 0, y, k));
    kernel_case_naive(&c, &in, NULL, &out);
    assert_true(picture_equal(&in, &out));
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    static const struct {
        limit_values values;
        int64_t frames;
        int channels;
        double rate;
    } cases[] = {
        {{-6, 0.001, 100000, 0}, 1300, 2, 44100}, {{-1, 0.0005, 30000, 1}, 1100, 1, 48000},
        {{-12, 0.002, 50000, 1}, 900, 3, 96000},  {{-3, 0.0001, 1000, 0}, 5000, 1, 8000},
        {{-6, 0.03, 20000, 0}, 1, 8, 8000},       {{-6, 0.0125, 40000, 1}, 517, 5, 16000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kernel_case c = kernel_case_in(&smp_stage_limit, &cases[i].values,
                                       case_sound(cases[i].frames, cases[i].channels, cases[i].rate));
        c.values = i == 4 ? CASE_ANY : CASE_REALS;
        c.seed = i;
        kernel_case_check(&c);
    }
}

SMP_TEST(gpus_give_the_same_bytes)
{
    static const char *const lines[] = {"limit -6dB lookahead=1ms release=100000",
                                        "limit -9dB lookahead=0.3ms release=3000 peak=true"};
    for (int i = 0; i < 4; i++)
        gpu_line_check(lines[i % 2], case_sound(i < 3 ? 900 : 17000, 1 + i % 3, 8000), CASE_REALS, (uint64_t)i);
    const gpu_case small = {.lines = {lines[0]}, .in = case_sound(300, 2, 8000), .values = CASE_REALS};
    gpu_no_conflicts(&small, "tiled", "limit_");
}

SMP_TEST(a_lookahead_of_too_many_frames_is_refused)
{
    smp_error err = {0};
    smp_node_plan work = {0};
    const smp_shape in = case_sound(100, 1, 1e6);
    assert_int_equal(smp_stage_limit.plan(&(limit_values){-1, 0.1, 100, 0}, &in, NULL, &work, &err), SMP_E_PIPE);
    assert_string_equal(err.message, "a lookahead of 0.1 s has 100000 frames at 1e+06 Hz; at most 65536 are possible");
}
