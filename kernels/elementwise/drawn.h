/* drawn: letters and shapes laid on a picture, by coverage that the host made. Table: for each row of a box and each
 * SMP_DRAWN_BLOCK columns the number of a block, int32; then the blocks. Block 0 is empty. A pixel of a block is four
 * bytes, the lowest first: in 255ths, how much of it each layer's colour covers; 255 in all at most. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_DRAWN_LAYERS = 4, SMP_DRAWN_BLOCK = 64 };

typedef struct smp_drawn {
    int64_t x, y, width, height;                      /* the box, px of the picture */
    int64_t columns;                                  /* blocks in a row of it */
    float colour[SMP_DRAWN_LAYERS][SMP_MAX_CHANNELS]; /* code values */
    float opacity;
} smp_drawn;

SMP_HOST_DEVICE uint32_t smp_drawn_block(const smp_drawn *p, const void *table, int64_t dx, int64_t dy)
{
    return ((const uint32_t *)table)[dy * p->columns + dx / SMP_DRAWN_BLOCK];
}

/* Returns the coverage of a pixel; 0: none. */
SMP_HOST_DEVICE uint32_t smp_drawn_cover(const smp_drawn *p, const void *table, int64_t x, int64_t y)
{
    const int64_t dx = x - p->x, dy = y - p->y;
    if (dx < 0 || dy < 0 || dx >= p->width || dy >= p->height)
        return 0;
    const int64_t block = smp_drawn_block(p, table, dx, dy);
    return ((const uint32_t *)table)[p->height * p->columns + block * SMP_DRAWN_BLOCK + dx % SMP_DRAWN_BLOCK];
}

/* Porter and Duff's over, of the layers' mean colour, whose alpha is their coverage times opacity. alpha: the pixel's
 * own, 1 where it has none. */
SMP_HOST_DEVICE float smp_drawn_value(const smp_drawn *p, uint32_t cover, float v, float alpha, int channel,
                                      const smp_view *in)
{
    float colour = 0.f;
    uint32_t covered = 0;
    for (int i = 0; i < SMP_DRAWN_LAYERS; i++) {
        const uint32_t part = cover >> 8 * i & 255u;
        covered += part;
        if (part)
            colour = fmaf((float)(int32_t)part / (float)(int32_t)covered, p->colour[i][channel] - colour, colour);
    }
    const float over = p->opacity * (float)(int32_t)covered / 255.f, both = fmaf(alpha, 1.f - over, over);
    if (in->alpha && channel == in->channels - 1)
        return smp_one_nan(both * in->white);
    return smp_one_nan(fmaf(both == 0.f ? 0.f : over / both, colour - v, v));
}

/* The alpha of pixel x of a row. */
SMP_HOST_DEVICE float smp_drawn_alpha(const smp_view *in, int64_t y, int64_t x)
{
    return in->alpha ? smp_load(smp_row(in, y), x * in->channels + in->channels - 1, in->format) / in->white : 1.f;
}

SMP_CPU_DECLARE(drawn_naive);
SMP_CPU_DECLARE(drawn_tiled);
