/* Random values of a pipeline. See draw.h. */
#include "pipe/draw.h"

#include "lib/philox.h"

uint64_t smp_draw_bits(const smp_draw *of, uint32_t place)
{
    const smp_philox made = smp_philox_of(of->index, (uint32_t)of->epoch, place, of->seed);
    return ((uint64_t)made.v[0] << 32 | made.v[1]) >> (64 - SMP_DRAW_BITS);
}

double smp_draw_uniform(const smp_draw *of, uint32_t place)
{
    return (double)smp_draw_bits(of, place) * 0x1p-53;
}
