/* Random numbers that depend on a counter alone, so that every device and order gives the same ones: Philox4x32-10
 * (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011). */
#ifndef SMP_KERNELS_LIB_PHILOX_H
#define SMP_KERNELS_LIB_PHILOX_H

#include "lib/view.h"

typedef struct smp_philox {
    uint32_t v[4];
} smp_philox;

SMP_HOST_DEVICE smp_philox smp_philox_of(smp_philox counter, uint64_t key)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * counter.v[0], b = (uint64_t)0xCD9E8D57u * counter.v[2];
        const smp_philox next = {{(uint32_t)(b >> 32) ^ counter.v[1] ^ k0, (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ counter.v[3] ^ k1, (uint32_t)a}};
        counter = next;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return counter;
}

/* 0 to 1 - 2^-24, evenly. */
SMP_HOST_DEVICE float smp_philox_uniform(uint32_t r)
{
    return (float)(r >> 8) * 0x1p-24f;
}

#endif
