/* The trace of a sound on the CPU.
 *   naive  tap after tap.
 *   tiled  frames to whole numbers once, then products of 16 bits in vectors. */
#include "audio/trace.h"

SMP_CPU_KERNEL(trace_naive)
{
    const smp_trace *p = params;
    int16_t *to = io->result;
    for (int64_t i = (y0 + p->every - 1) / p->every; i * p->every < y1; i++)
        to[i] = smp_trace_number(io, p, i);
}

enum { NUMBERS = 64, FRAMES = (NUMBERS + 4) * SMP_TRACE_EVERY + 1 };

SMP_INLINE int32_t product(const int16_t *restrict a, const int16_t *restrict b, int32_t n)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

SMP_CPU_KERNEL(trace_tiled)
{
    const smp_trace *p = params;
    int16_t *to = io->result, frames[FRAMES];
    const int64_t last = (y1 - 1) / p->every;
    for (int64_t i = (y0 + p->every - 1) / p->every; i <= last; i += NUMBERS) {
        const int64_t some = last - i + 1 < NUMBERS ? last - i + 1 : NUMBERS, from = i * p->every - p->reach;
        const int64_t count = (some - 1) * p->every + 2 * p->reach + 1;
        for (int64_t f = 0; f < count; f++)
            frames[f] = (int16_t)smp_trace_frame(&io->in, from + f);
        for (int64_t n = 0; n < some; n++)
            to[i + n] = smp_trace_limit(product(p->taps, frames + n * p->every, 2 * p->reach + 1));
    }
}
