/* mix on the CPU.
 *   naive  sample by sample.
 *   tiled  ranges of frames in which the same sounds are: copies and vectors. */
#include <string.h>

#include "audio/mix.h"

static void each_sample(const smp_io *io, const smp_mix *p, int64_t y0, int64_t y1)
{
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < io->out.channels; c++)
            ((float *)smp_row(&io->out, y))[c] = smp_mix_sample(io, p, y, c);
}

SMP_CPU_KERNEL(mix_naive)
{
    each_sample(io, params, y0, y1);
}

/* `count` samples. The second one's lie end to end with the first's. */
SMP_INLINE void both(float *restrict to, const float *restrict a, const float *restrict b, float gain, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = smp_mix_both(a[i], b[i], gain);
}

SMP_INLINE void second_alone(float *restrict to, const float *restrict b, float gain, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = smp_mix_second(b[i], gain);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

SMP_CPU_KERNEL(mix_tiled)
{
    const smp_mix *p = params;
    const int64_t end = p->at + io->second.height, channels = io->out.channels,
                  packed = channels * (int64_t)sizeof(float);
    if (p->shared || p->beside || io->out.stride != packed || io->in.stride != packed || io->second.stride != packed) {
        each_sample(io, p, y0, y1);
        return;
    }
    for (int64_t y = y0, next; y < y1; y = next) {
        const int first = y < io->in.height, second = y >= p->at && y < end;
        next = least(y1, first ? io->in.height : y1);
        next = least(next, y < p->at ? p->at : second ? end : y1);
        float *to = smp_row(&io->out, y);
        const int64_t count = (next - y) * channels;
        if (first && second && p->fade)
            each_sample(io, p, y, next);
        else if (first && second)
            both(to, smp_row(&io->in, y), smp_row(&io->second, y - p->at), p->gain, count);
        else if (first)
            memcpy(to, smp_row(&io->in, y), (size_t)count * sizeof(float));
        else if (second && p->gain != 1.f)
            second_alone(to, smp_row(&io->second, y - p->at), p->gain, count);
        else if (second)
            memcpy(to, smp_row(&io->second, y - p->at), (size_t)count * sizeof(float));
        else
            memset(to, 0, (size_t)count * sizeof(float));
    }
}
