/* noise: the generator's known answer, and that what it makes is distributed as it says. test_stage_matrix and
 * test_gpu_matrix hold its variants against each other. */
#include <math.h>

#include "suite.h"

#include "elementwise/noise.h"
#include "kernel_case.h"

extern const smp_stage smp_stage_noise;

SMP_TEST(the_generator_has_its_known_answers)
{
    static const uint32_t zero[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    static const uint32_t ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    const smp_philox a = smp_philox_of(0, 0, 0, 0), b = smp_philox_of(UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(a.v[i], zero[i]);
        assert_int_equal(b.v[i], ones[i]);
    }
}

typedef struct noise_params {
    double amount;
    int kind;
    int64_t seed;
    double snr; /* NaN: not given */
} noise_params;

/* Mean and deviation of noise on a gray of 50 %, and the share of 0 and 1. */
static void measure(const noise_params *params, double found[4], uint64_t *hash)
{
    const smp_shape shape = case_shape(256, 256, 1, SMP_F32);
    const kernel_case c = {
        .stage = &smp_stage_noise, .params = params, .in = shape, .in_storage = SMP_F32, .out_storage = SMP_F32};
    picture in = picture_make(&shape, SMP_F32), out;
    const double n = 256. * 256.;
    double sum = 0, squares = 0, black = 0, white = 0;
    for (int y = 0; y < 256; y++)
        for (int x = 0; x < 256; x++)
            picture_set(&in, x, y, 0, 0.5f);
    kernel_case_naive(&c, &in, NULL, &out);
    *hash = 0;
    for (int y = 0; y < 256; y++)
        for (int x = 0; x < 256; x++) {
            const double v = (double)picture_get(&out, x, y, 0);
            sum += v;
            squares += (v - 0.5) * (v - 0.5);
            black += v == 0;
            white += v == 1;
            *hash = *hash * 31 + (uint64_t)(int64_t)(v * 16777216);
        }
    found[0] = sum / n;
    found[1] = sqrt(squares / n);
    found[2] = black / n;
    found[3] = white / n;
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(is_distributed_as_it_says)
{
    double gaussian[4], uniform[4], salt[4], other[4];
    uint64_t hash[4];
    measure(&(noise_params){0.1, SMP_NOISE_GAUSSIAN, 0, NAN}, gaussian, &hash[0]);
    measure(&(noise_params){0.1, SMP_NOISE_UNIFORM, 0, NAN}, uniform, &hash[1]);
    measure(&(noise_params){0.2, SMP_NOISE_SALT_PEPPER, 0, NAN}, salt, &hash[2]);
    measure(&(noise_params){0.1, SMP_NOISE_GAUSSIAN, 1, NAN}, other, &hash[3]);
    assert_float_equal(gaussian[0], 0.5f, 0.002f); /* 0.1 / 256: five deviations */
    assert_float_equal(gaussian[1], 0.1f, 0.0015f);
    assert_float_equal(uniform[0], 0.5f, 0.0012f);
    assert_float_equal(uniform[1], 0.057735f, 0.0008f);
    assert_float_equal(salt[2], 0.1f, 0.006f);
    assert_float_equal(salt[3], 0.1f, 0.006f);
    assert_float_equal(other[1], 0.1f, 0.0015f);
    assert_true(hash[0] != hash[3]);
}
