/* dither: the generator's known answers, the noise's range and spread, and the same from every device. */
#include "suite.h"

#include "gpu_case.h"

#include "audio/dither.h"

/* Random123, kat_vectors: philox4x32 10. */
SMP_TEST(the_generator_gives_its_known_answers)
{
    const smp_philox zero = smp_philox_of(0, 0, 0, 0),
                     ones = smp_philox_of(UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX);
    const uint32_t want_zero[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                   want_ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    assert_memory_equal(zero.v, want_zero, sizeof want_zero);
    assert_memory_equal(ones.v, want_ones, sizeof want_ones);
}

SMP_TEST(the_noise_is_triangular)
{
    enum { FRAMES = 20000 };
    const smp_dither p = {.seed = 7, .step = 1};
    double sum = 0, squares = 0, most = 0;
    for (int64_t y = 0; y < FRAMES; y++) {
        const double v = (double)smp_dither_sample(0, y, 1, &p);
        sum += v;
        squares += v * v;
        most = fmax(most, fabs(v));
    }
    assert_true(most > 0.97 && most < 1);
    assert_float_equal(sum / FRAMES, 0, 0.01);
    assert_float_equal(squares / FRAMES, 1. / 6, 0.005);
    assert_true(smp_dither_sample(0, 5, 0, &p) != smp_dither_sample(0, 5, 1, &p));
}

SMP_TEST(every_device_gives_the_same)
{
    for (int i = 0; i < 3; i++)
        gpu_line_check("dither 16bit seed=12345678901", case_sound(70, 1 + i, 8000), CASE_ANY, (uint64_t)i);
}
