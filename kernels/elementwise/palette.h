/* palette: the nearest of a few colours for each pixel; and what those colours are, counted. diffuse.h has the same
 * with errors handed on. Table: float[count][colours] code values, then int32_t of the same: what diffuse.h computes
 * with. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/per_pixel.h"

enum {
    SMP_PALETTE_MOST = 256,
    SMP_PALETTE_BITS = 5,                         /* of each of three colours that a bin tells; of one colour 8 */
    SMP_PALETTE_BINS = 1 << 3 * SMP_PALETTE_BITS, /* more than one colour needs */
    SMP_PALETTE_PARTS = 4,                        /* of a bin: pixels, and the sum of each colour in 65535ths */
    SMP_PALETTE_RUN = 16                          /* pixels that a GPU's thread counts */
};

typedef struct smp_palette {
    int32_t count;   /* colours of the table */
    int32_t colours; /* channels that choose together: 1 or 3; 0: each by itself, of `steps` + 1 even values */
    int32_t steps;
    int32_t white; /* of the whole numbers that errors are handed on in: 255, or 65535 */
    float scale;   /* from code values to those: 1; of floats 65535 */
} smp_palette;

SMP_HOST_DEVICE int32_t smp_palette_width(const smp_palette *p)
{
    return p->colours ? p->colours : 1;
}

SMP_HOST_DEVICE const int32_t *smp_palette_codes(const smp_palette *p, const void *table)
{
    return (const int32_t *)table + p->count * smp_palette_width(p);
}

/* The square of a distance, summed from the last colour to the first. NaN is far from everything. */
SMP_HOST_DEVICE float smp_palette_far(float sum, float a, float b)
{
    const float d = a - b;
    return fmaf(d, d, sum);
}

/* The colour of the table with the least distance, the first of equal ones. */
SMP_HOST_DEVICE float smp_palette_pixel(smp_pixel from, int channel, const smp_io *io, const smp_palette *p)
{
    const float *table = (const float *)io->table;
    float best = INFINITY, v = 0.f;
    if (channel >= p->colours)
        return from.last;
    for (int32_t k = 0; k < p->count; k++) {
        float far = 0.f;
        for (int c = from.most - 1; c >= 0; c--)
            if (c < p->colours)
                far = smp_palette_far(far, from.v[c * from.step], table[k * p->colours + c]);
        v = far < best ? table[k * p->colours + channel] : v;
        best = far < best ? far : best;
    }
    return best < INFINITY ? v : table[channel];
}

/* A pixel as it is counted: its bin, and each colour in 65535ths. */
typedef struct smp_palette_sample {
    int32_t bin;
    int32_t code[3];
} smp_palette_sample;

/* `bin` is -1 for what cannot be seen. */
SMP_HOST_DEVICE smp_palette_sample smp_palette_sample_of(const smp_palette *p, const smp_view *in, const void *row,
                                                         int64_t x)
{
    smp_palette_sample s = {0, {0, 0, 0}};
    const float wide = in->white == 255.f ? 257.f : 1.f, white = in->white == 1.f ? 65535.f : in->white;
    for (int c = 0; c < p->colours; c++) {
        const float v = smp_load(row, x * in->channels + c, in->format) * p->scale;
        s.code[c] = (int32_t)(smp_round_to(v, white) * wide);
        s.bin = p->colours == 1 ? s.code[c] >> 8 : s.bin << SMP_PALETTE_BITS | s.code[c] >> (16 - SMP_PALETTE_BITS);
    }
    if (in->alpha && !(smp_load(row, x * in->channels + in->channels - 1, in->format) > 0.f))
        s.bin = -1;
    return s;
}

SMP_CPU_DECLARE(palette_naive);
SMP_CPU_DECLARE(palette_tiled);
SMP_CPU_DECLARE(palette_count_naive);
SMP_CPU_DECLARE(palette_count_tiled);
