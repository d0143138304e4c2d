/* Random numbers that need no state: Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011)
 * makes four 32-bit numbers of a counter and a key, so that every sample has its own whatever the order. */
#pragma once

#include "lib/view.h"

typedef struct smp_philox {
    uint32_t v[4];
} smp_philox;

/* counter: two words of an index, and two more; key: two words of a seed. */
SMP_HOST_DEVICE smp_philox smp_philox_of(uint64_t index, uint32_t third, uint32_t fourth, uint64_t seed)
{
    uint32_t a = (uint32_t)index, b = (uint32_t)(index >> 32), c = third, d = fourth;
    uint32_t k = (uint32_t)seed, m = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xD2511F53u * a, q = (uint64_t)0xCD9E8D57u * c;
        a = (uint32_t)(q >> 32) ^ b ^ k;
        c = (uint32_t)(p >> 32) ^ d ^ m;
        b = (uint32_t)q;
        d = (uint32_t)p;
        k += 0x9E3779B9u;
        m += 0xBB67AE85u;
    }
    const smp_philox made = {{a, b, c, d}};
    return made;
}

/* 0 <= u < 1, in steps of 2^-24: exact. */
SMP_HOST_DEVICE float smp_philox_uniform(uint32_t v)
{
    return (float)(int32_t)(v >> 8) * 0x1p-24f;
}
