/* hash: the rows of a picture made short: what a hash of its looks begins with. Of row y, `across` numbers, each a
 * weighted sum over neighbouring pixels, as kernels/stencil/resize.h has them; the host makes columns and bits of them
 * (src/stages/shared/reduce/perceptual_hash.h).
 *
 * A pixel counts as brightness of 8 bits, ITU-R BT.601, as it looks on white: 0.299 red, then fmaf with green and blue;
 * (value - white) * alpha + white.
 *   SMP_RESIZE_FLOAT  v = fmaf(w[k], brightness, v), k ascending from v = 0
 *   SMP_RESIZE_FIXED  of brightness rounded to a byte, in integers; the result is a byte
 *
 * Result (SMP_RESULT_CHUNKS): float [height][across]. The table is that of the resize axis. */
#pragma once

#include "stencil/resize.h"

enum { SMP_HASH_MOST = 32 /* numbers of a row */, SMP_HASH_ROWS = 32 /* GPU: rows of a block, a lane each */ };

typedef struct smp_hash {
    smp_resize_axis axis;
    int32_t across, kind; /* smp_resize_kind */
} smp_hash;

SMP_HOST_DEVICE float smp_hash_bright(const smp_view *v, const void *row, int64_t x)
{
    const int64_t at = x * v->channels;
    const int32_t colours = v->channels - v->alpha;
    float bright = smp_load(row, at, v->format);
    if (colours == 3)
        bright = fmaf(0.114f, smp_load(row, at + 2, v->format),
                      fmaf(0.587f, smp_load(row, at + 1, v->format), 0.299f * bright));
    bright = bright / v->white * 255.f;
    if (v->alpha)
        bright = fmaf(smp_load(row, at + colours, v->format) / v->white, bright - 255.f, 255.f);
    return bright;
}

/* A sum of SMP_RESIZE_FIXED or SMP_RESIZE_FLOAT that goes on from pixel to pixel. */
typedef struct smp_hash_sum {
    int32_t fixed;
    float real;
} smp_hash_sum;

SMP_HOST_DEVICE smp_hash_sum smp_hash_begin(void)
{
    const smp_hash_sum sum = {SMP_RESIZE_HALF, 0.f};
    return sum;
}
SMP_HOST_DEVICE void smp_hash_add(smp_hash_sum *sum, int kind, const int32_t *weight, float bright)
{
    if (kind == SMP_RESIZE_FIXED)
        sum->fixed += *weight * (int32_t)smp_to_u8(bright);
    else
        sum->real = fmaf(smp_resize_weight(weight), bright, sum->real);
}
SMP_HOST_DEVICE float smp_hash_end(const smp_hash_sum *sum, int kind)
{
    return kind == SMP_RESIZE_FIXED ? (float)smp_resize_byte(sum->fixed) : smp_one_nan(sum->real);
}

/* Number k of row y: the definition. */
SMP_HOST_DEVICE float smp_hash_number(const smp_hash *p, const smp_io *io, int64_t y, int32_t k)
{
    const smp_resize_taps taps = smp_resize_taps_of(&p->axis, io->table, k);
    const void *row = smp_row(&io->in, y);
    smp_hash_sum sum = smp_hash_begin();
    for (int32_t i = 0; i < taps.count; i++)
        smp_hash_add(&sum, p->kind, taps.weight + i, smp_hash_bright(&io->in, row, taps.first + i));
    return smp_hash_end(&sum, p->kind);
}

/* CPU scratch: a row's brightness. */
static inline size_t smp_hash_scratch(const smp_io *io, const void *params)
{
    (void)params;
    return ((size_t)io->in.width + 16) * (sizeof(float) + sizeof(int32_t));
}

SMP_CPU_DECLARE(hash_naive);
SMP_CPU_DECLARE(hash_tiled);
