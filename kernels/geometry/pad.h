/* pad: a border round a picture, or silence round a sound. out(x, y) = in(x - left, y - top), by the border rule
 * outside. */
#pragma once

#include "geometry/gather.h"

typedef struct smp_pad {
    int64_t left, top;            /* pixels, rows before the input */
    int32_t edge;                 /* an smp_edge */
    float fill[SMP_MAX_CHANNELS]; /* code values */
    int32_t unused;
} smp_pad;

SMP_HOST_DEVICE float smp_pad_fill(const void *params, int channel)
{
    return ((const smp_pad *)params)->fill[channel];
}

SMP_HOST_DEVICE smp_source smp_pad_source(const smp_io *io, const void *params, int64_t x, int64_t y)
{
    const smp_pad *p = (const smp_pad *)params;
    const int64_t to = x - p->left, width = io->in.width, left = io->out.width - x;
    smp_source from = {smp_border(to, width, p->edge), smp_border(y - p->top, io->in.height, p->edge), 1};
    if (from.y >= 0 && from.x >= 0) { /* rows repeat from left to right with edge=wrap */
        const int64_t run = p->edge == SMP_WRAP || (to >= 0 && to < width) ? width - from.x : 1;
        from.run = run < left ? run : left;
        return from;
    }
    from.run = from.y >= 0 && to < 0 ? -to : left;
    from.y = -1;
    return from;
}
SMP_GATHER_DECLARE(pad);
SMP_CPU_DECLARE(pad_rows);
