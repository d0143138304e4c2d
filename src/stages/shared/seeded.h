/* Numbers that a stage draws by its own seed, where several hang together: the box of `crop random`. */
#pragma once

#include <math.h>

#include "lib/philox.h"

/* The turn-th number of a seed, 0 <= u < 1, in steps of 2^-53. */
static inline double smp_seeded(int64_t seed, uint32_t turn)
{
    const smp_philox made = smp_philox_of(turn, 0, 0, (uint64_t)seed);
    return (double)(((uint64_t)made.v[0] << 32 | made.v[1]) >> 11) * 0x1p-53;
}

/* The same as a whole number from 0 to `most`. */
static inline int64_t smp_seeded_whole(int64_t seed, uint32_t turn, int64_t most)
{
    return (int64_t)floor(smp_seeded(seed, turn) * ((double)most + 1));
}
