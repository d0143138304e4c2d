/* compress, gate, compand: the gains of steady tones and of what comes before and after them, every variant and
 * device against the definition. tests/oracle has the whole curves. */
#include "suite.h"

#include "gpu_case.h"

#include <math.h>

#include "audio/limit.h"

typedef struct compress_values { /* as the stages' parameters lie */
    double threshold, ratio, knee, attack, release, makeup;
    int64_t key;
} compress_values;
typedef struct gate_values {
    double threshold, ratio, range, attack, release;
} gate_values;

extern const smp_stage smp_stage_compress, smp_stage_gate;

/* dB by which frame n of a sound changes: 0.001, but `loud` from 400 to 799. */
static void gains_of(const kernel_case *c, float loud, double *gains)
{
    picture in = picture_make(&c->in, SMP_F32), out;
    for (int n = 0; n < 1200; n++)
        picture_set(&in, 0, n, 0, n >= 400 && n < 800 ? loud : 0.001f);
    kernel_case_naive(c, &in, NULL, &out);
    for (int n = 0; n < 1200; n++)
        gains[n] = 20 * log10((double)picture_get(&out, 0, n, 0) / (double)picture_get(&in, 0, n, 0));
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(a_compressor_follows_its_curve)
{
    static const struct {
        compress_values values;
        float loud;
        double gain; /* of the loud part; dB */
    } cases[] = {
        {{-20, 4, 0, 0.001, 0.01, 0}, 1.f, -15},      /* 20 dB too loud become 5 */
        {{-20, 4, 0, 0.001, 0.01, 0}, 0.1f, 0},       /* at the threshold */
        {{-20, 4, 12, 0.001, 0.01, 0}, 0.1f, -1.125}, /* the middle of the knee: 3/4 of 6 * 6 / 24 */
        {{-20, 2, 6, 0.001, 0.01, 9}, 1.f, -1},       /* beyond the knee, and make-up */
        {{-40, 1000, 0, 0.001, 0.01, -3}, 1.f, -42.96},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const kernel_case c = kernel_case_in(&smp_stage_compress, &cases[i].values, case_sound(1200, 1, 48000));
        const double makeup = cases[i].values.makeup;
        double gains[1200];
        gains_of(&c, cases[i].loud, gains);
        assert_true(fabs(gains[399] - makeup) < 1e-3);             /* nothing falls before it must */
        assert_true(gains[405] >= cases[i].gain - 1e-3);           /* the attack lets a beginning pass */
        assert_true(fabs(gains[400 + 49] - cases[i].gain) < 1e-3); /* and ends after 48 frames */
        assert_true(fabs(gains[799] - cases[i].gain) < 1e-3);
        for (int n = 401; n < 800; n++)
            assert_true(gains[n] <= gains[n - 1] + 1e-5);
        for (int n = 850; n < 1200; n++) { /* 1000 dB a second, and never beyond the rest */
            const double want = fmin(makeup, gains[850] + (n - 850) / 48.);
            assert_true(fabs(gains[n] - want) < 0.3); /* the curve of the attack rounds the corner */
        }
    }
}

SMP_TEST(a_gate_opens_before_and_closes_after)
{
    const gate_values values = {-40, 3, 30, 0.001, 0.01};
    const kernel_case c = kernel_case_in(&smp_stage_gate, &values, case_sound(1200, 1, 48000));
    double gains[1200];
    gains_of(&c, 0.5f, gains);
    assert_true(fabs(gains[300] + 30) < 1e-3); /* -60 dB: 20 below the threshold become 60; the range is 30 */
    for (int n = 400; n < 800; n++)
        assert_true(fabs(gains[n]) < 1e-6);
    assert_true(gains[390] > -30 && gains[390] < 0);
    assert_true(fabs(gains[800 + 24 + 240] + 5) < 0.3);
    gains_of(&c, 0.00562f, gains); /* -45 dB: 5 below become 15 */
    assert_true(fabs(gains[600] + 10) < 0.02);
}

SMP_TEST(every_variant_gives_the_same_bytes)
{
    static const compress_values soft = {-30, 3, 10, 0.002, 0.0002, 4, 1}, hard = {-6, 20, 0, 0.0001, 0.001, 0};
    static const gate_values slow = {-20, 4, 40, 0.002, 0.0005}, fast = {-3, 100, 100, 0.0001, 0.0002};
    for (int i = 0; i < 4; i++) {
        kernel_case c =
            i < 2 ? kernel_case_in(&smp_stage_compress, i ? &soft : &hard, case_sound(1300 - 300 * i, 1 + i, 44100))
                  : kernel_case_in(&smp_stage_gate, i % 2 ? &fast : &slow, case_sound(1 + 900 * (i % 2), 3, 16000));
        c.values = i % 2 ? CASE_REALS : CASE_ANY;
        c.seed = (uint64_t)i;
        kernel_case_check(&c);
    }
}

SMP_TEST(gpus_give_the_same_bytes)
{
    static const char *const lines[] = {"compress -12dB ratio=3 attack=0.5ms release=0.2ms makeup=3dB",
                                        "gate -6dB ratio=4 range=24dB attack=1ms release=0.2ms",
                                        "compress -12dB attack=0.5ms release=0.2ms key=2",
                                        "compand [-30 -20; -10 -15] attack=1ms release=3ms knee=4 lookahead=5ms"};
    for (int i = 0; i < 4; i++)
        gpu_line_check(lines[i], case_sound(i < 3 ? 700 : 40000, 1 + i, 8000), CASE_REALS, 0);
}
