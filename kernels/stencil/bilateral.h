/* bilateral: a blur that does not cross edges (Tomasi and Manduchi 1998): neighbours weigh by distance and by likeness.
 *
 * Over dx^2 + dy^2 <= radius^2, dy then dx ascending: D = the sum of |q - p| over the colours, k = space * likeness(D),
 * num = fma(k, q, num), den = den + k; the result is num / den. All f32. For 8 bits the likeness is a table's entry
 * round(D), made in double; of other formats 2^-(d^2 * factor), d = D as a fraction of full scale. Alpha passes.
 *
 * Table (f32): [2 radius + 1][2 radius + 1] weights by distance, 0 outside the disc; then those by likeness. */
#pragma once

#include "stencil/stencil.h"

enum {
    SMP_BILATERAL_MOST = 100,        /* px, the largest radius */
    SMP_BILATERAL_TILE = 128,        /* CPU: pixels of a tile */
    SMP_BILATERAL_LANES = 16,        /* CPU: pixels side by side */
    SMP_BILATERAL_BESIDE = 32,       /* CPU: floats that vectors may reach beyond a line */
    SMP_BILATERAL_PAIRS = 8,         /* CPU: the largest radius whose weights are kept for both pixels of a pair */
    SMP_BILATERAL_ACROSS = 32,       /* GPU, tiled: pixels of a block */
    SMP_BILATERAL_DOWN = 8,          /* the same: rows */
    SMP_BILATERAL_COPIES = 32,       /* GPU, private: of the table of likeness */
    SMP_BILATERAL_SHARED = 48 * 1024 /* bytes that a block's tile may take */
};

typedef struct smp_bilateral {
    int32_t radius, edge;
    float fill;
    float factor; /* of d^2 in the exponent of 2 */
    float unit;   /* 1 / full scale */
} smp_bilateral;

SMP_HOST_DEVICE int smp_bilateral_colours(const smp_view *v)
{
    return v->channels - v->alpha;
}
SMP_HOST_DEVICE const float *smp_bilateral_likeness_table(const smp_bilateral *p, const void *table)
{
    return (const float *)table + (2 * p->radius + 1) * (2 * p->radius + 1);
}

/* The weight of a difference. most: the last entry of the table, 0: there is none; apart: from an entry to the next. */
SMP_HOST_DEVICE float smp_bilateral_likeness(float difference, const float *likeness, float most, int apart,
                                             float factor, float unit)
{
    if (most > 0.f)
        return likeness[(int32_t)smp_round_to(difference, most) * apart];
    const float d = difference * unit;
    return smp_exp2f_(-(d * d) * factor);
}
SMP_HOST_DEVICE float smp_bilateral_last(const smp_view *in)
{
    return in->white == 255.f ? 255.f * (float)smp_bilateral_colours(in) : 0.f;
}

/* All channels of pixel (x, y): the definition. */
SMP_HOST_DEVICE void smp_bilateral_pixel(const smp_bilateral *p, const smp_io *io, int64_t x, int64_t y,
                                         float out[SMP_MAX_CHANNELS])
{
    const smp_view *in = &io->in;
    const int colours = smp_bilateral_colours(in), r = p->radius, side = 2 * r + 1;
    const float *space = (const float *)io->table, *likeness = smp_bilateral_likeness_table(p, io->table);
    const float most = smp_bilateral_last(in), outside = smp_outside(p->edge, p->fill, in->white);
    float middle[SMP_MAX_CHANNELS], num[SMP_MAX_CHANNELS], den = 0.f;
    for (int c = 0; c < in->channels; c++) {
        middle[c] = smp_load(smp_row(in, y), x * in->channels + c, in->format);
        num[c] = 0.f;
    }
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            const float weight = space[(dy + r) * side + dx + r];
            float q[SMP_MAX_CHANNELS], difference = 0.f;
            if (weight == 0.f)
                continue;
            for (int c = 0; c < colours; c++) {
                q[c] = smp_at_border(in, x + dx, y + dy, c, p->edge, outside);
                difference = difference + smp_abs(q[c] - middle[c]);
            }
            const float k = weight * smp_bilateral_likeness(difference, likeness, most, 1, p->factor, p->unit);
            for (int c = 0; c < colours; c++)
                num[c] = fmaf(k, q[c], num[c]);
            den = den + k;
        }
    for (int c = 0; c < in->channels; c++)
        out[c] = c < colours ? num[c] / den : middle[c];
}

/* Floats of a line of the CPU's window; of a row of the GPU's tile. */
SMP_HOST_DEVICE int32_t smp_bilateral_line(const smp_bilateral *p)
{
    return SMP_BILATERAL_TILE + 2 * p->radius + SMP_BILATERAL_BESIDE;
}

/* CPU: lines of weights of pairs. Those of row y with pixels of row y + dy are kept until row y + dy is done. */
static inline size_t smp_bilateral_pair_lines(const smp_bilateral *p)
{
    const int r = p->radius;
    size_t lines = 0;
    for (int dy = 0; dy <= r && r <= SMP_BILATERAL_PAIRS; dy++)
        for (int dx = dy ? -r : 0; dx <= r; dx++)
            lines += dx * dx + dy * dy <= r * r ? (size_t)dy + 1 : 0;
    return lines;
}

static inline size_t smp_bilateral_scratch(const smp_io *io, const void *params)
{
    const smp_bilateral *p = (const smp_bilateral *)params;
    const size_t lines = (size_t)(2 * p->radius + 1) * (size_t)io->in.channels + smp_bilateral_pair_lines(p);
    return (lines * (size_t)smp_bilateral_line(p) + (size_t)SMP_BILATERAL_TILE * SMP_MAX_CHANNELS + 64) * sizeof(float);
}

/* GPU: bytes of a tile of all colours, and of copies of the table of likeness. */
SMP_HOST_DEVICE int64_t smp_bilateral_shared(const smp_bilateral *p, const smp_view *in, int copies)
{
    const int64_t across = SMP_BILATERAL_ACROSS + 2 * p->radius, down = SMP_BILATERAL_DOWN + 2 * p->radius;
    const int64_t entries = (int64_t)smp_bilateral_last(in) + 1;
    return (across * down * smp_bilateral_colours(in) + entries * copies) * (int64_t)sizeof(float);
}

SMP_CPU_DECLARE(bilateral_naive);
SMP_CPU_DECLARE(bilateral_tiled);
