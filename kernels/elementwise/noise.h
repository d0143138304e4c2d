/* noise: random values added to samples. Counter: number of the pixel or frame, channel; key: the seed. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/philox.h"

enum { SMP_NOISE_GAUSSIAN, SMP_NOISE_UNIFORM, SMP_NOISE_SALT_PEPPER };
enum { SMP_NOISE_SINES = 4096 }; /* of a turn, in the table, and one more */

typedef struct smp_noise {
    uint64_t seed;
    int32_t kind;
    float amount; /* code values; of salt and pepper: a share of the samples */
    float white;
} smp_noise;

/* Gaussian: Box and Muller's sqrt(-2 ln u) sin(2 pi t), 0 < u <= 1, where t lies `part` of the way from one entry of
 * the table of sines to the next. */
SMP_HOST_DEVICE float smp_noise_gaussian(float v, float u, float part, float low, float high, const smp_noise *p)
{
    const float length = sqrtf(-1.3862944f * smp_log2f_(u + 0x1p-24f));
    return smp_one_nan(fmaf(p->amount, length * fmaf(part, high - low, low), v));
}
SMP_HOST_DEVICE float smp_noise_part(uint32_t turn)
{
    return (float)(int32_t)(turn & 4095u) * 0x1p-12f;
}

/* sines: the table. */
SMP_HOST_DEVICE float smp_noise_sample(float v, uint64_t index, int channel, const smp_noise *p, const float *sines)
{
    const smp_philox r = smp_philox_of(index, (uint32_t)channel, 0, p->seed);
    const float u = smp_philox_uniform(r.v[0]);
    if (p->kind == SMP_NOISE_UNIFORM)
        return smp_one_nan(fmaf(p->amount, 2.f * u - 1.f, v));
    if (p->kind == SMP_NOISE_SALT_PEPPER)
        return u < 0.5f * p->amount ? 0.f : u < p->amount ? p->white : v;
    const uint32_t turn = r.v[1] >> 8;
    const float *at = sines + (turn >> 12);
    return smp_noise_gaussian(v, u, smp_noise_part(turn), at[0], at[1], p);
}

SMP_CPU_DECLARE(noise_naive);
SMP_CPU_DECLARE(noise_tiled);
