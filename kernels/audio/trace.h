/* The trace of a sound, by which tempo and pitch find where grains fit (grains.h): number i is the sum over t of c[t]
 * q[i every - reach + t], divided by 2^15 and limited to 16 bits, where q are the frames as whole numbers: channels
 * weighed by 1, 7/8, 7/8, .., times 2^13, limited to 16 bits, to the nearest. Sums of integers have no order. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_TRACE_EVERY = 64, SMP_TRACE_TAPS = 4 * SMP_TRACE_EVERY + 1 };
typedef struct smp_trace {
    int32_t every, reach;         /* frames from a number to the next; taps on either side of its frame */
    int16_t taps[SMP_TRACE_TAPS]; /* c: magnitudes add up to less than 2^16 */
} smp_trace;

SMP_HOST_DEVICE int32_t smp_trace_frame(const smp_view *in, int64_t y)
{
    float sum = 0.f;
    if (y < in->y0 || y >= in->y0 + in->rows)
        return 0;
    const float *frame = (const float *)smp_row(in, y);
    for (int c = 0; c < in->channels; c++)
        sum = fmaf(c ? 0.875f : 1.f, frame[c], sum);
    sum = sum * 8192.f;
    sum = sum > -32768.f ? sum : -32768.f; /* NaN too */
    sum = sum < 32767.f ? sum : 32767.f;
    return (int32_t)((sum + 12582912.f) - 12582912.f);
}

SMP_HOST_DEVICE int16_t smp_trace_limit(int32_t sum)
{
    const int32_t v = sum >> 15;
    return (int16_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
}

/* Number i. */
SMP_HOST_DEVICE int16_t smp_trace_number(const smp_io *io, const smp_trace *p, int64_t i)
{
    int32_t sum = 0;
    for (int32_t t = 0; t <= 2 * p->reach; t++)
        sum += p->taps[t] * smp_trace_frame(&io->in, i * p->every - p->reach + t);
    return smp_trace_limit(sum);
}

SMP_CPU_DECLARE(trace_naive);
SMP_CPU_DECLARE(trace_tiled);
