/* diffuse: a few values for each sample, or a few colours for each pixel, whose errors go to the neighbours that come
 * after: Floyd and Steinberg 1976. Whole numbers, from left to right: 7/16 of an error goes right, 3/16 below left,
 * 5/16 below, 1/16 below right; the sum is cut toward zero, then the value to 0..white. With two levels these are the
 * bytes of Pillow's convert("1").
 *
 * Two launches. The first, over the whole picture, writes which value each sample gets: bytes
 * [height][width][channels], channels 1 where the colours of a pixel choose together; behind them lie rows for the
 * errors of one row of the picture, int32_t [width][colours]. The second, strip by strip, writes the values of
 * io->table (palette.h). */
#pragma once

#include "elementwise/palette.h"

enum {
    SMP_DIFFUSE_THREADS = 512, /* rows that a GPU's block works on, each two columns behind the one above */
    SMP_DIFFUSE_LANES = 16,    /* the same of a CPU's thread */
    SMP_DIFFUSE_STEPS = 128,   /* columns that it takes at a time */
    SMP_DIFFUSE_SCRATCH = 32768
};

/* Rows of bytes behind the picture's that the errors of a row take. */
SMP_HOST_DEVICE int64_t smp_diffuse_rows(const smp_palette *p)
{
    return (int64_t)sizeof(int32_t) * smp_palette_width(p);
}

/* Returns the parts of the first launch: channels, or the whole. */
SMP_HOST_DEVICE int32_t smp_diffuse_parts(const smp_palette *p, const smp_view *in)
{
    return p->colours ? 1 : in->channels - (in->alpha != 0);
}

/* Errors of part `part`: of column x and colour c at [(x * parts + part) * width + c]. */
SMP_HOST_DEVICE int32_t *smp_diffuse_errors(const smp_view *bytes, int64_t height)
{
    return (int32_t *)(void *)smp_row(bytes, height);
}

SMP_HOST_DEVICE int32_t smp_diffuse_code(float v, const smp_palette *p)
{
    return (int32_t)smp_round_to(v * p->scale, (float)p->white);
}

/* A sample with what it is handed: the errors to the left, above right, above and above left. */
SMP_HOST_DEVICE int32_t smp_diffuse_sum(int32_t code, int32_t left, int32_t right, int32_t up, int32_t before,
                                        int32_t white)
{
    const int32_t v = code + (7 * left + 3 * right + 5 * up + before) / 16, low = v > 0 ? v : 0;
    return low < white ? low : white;
}

/* The level of v: the upper of two from 129/255 of a step on. (n + 1 + n >> b) >> b is n / (2^b - 1). */
SMP_HOST_DEVICE int32_t smp_diffuse_level(int32_t v, const smp_palette *p)
{
    const int32_t shift = p->white == 255 ? 8 : 16, n = v * p->steps + (p->white == 255 ? 126 : 126 * 257);
    return (n + 1 + (n >> shift)) >> shift;
}

/* The colour of the table that is nearest to v, the first of equal ones. */
SMP_HOST_DEVICE int32_t smp_diffuse_nearest(const int32_t *v, const int32_t *codes, int32_t count, int colours)
{
    float best = INFINITY;
    int32_t which = 0;
    for (int32_t k = 0; k < count; k++) {
        float far = 0.f;
        for (int c = colours - 1; c >= 0; c--)
            far = smp_palette_far(far, (float)v[c], (float)codes[k * colours + c]);
        which = far < best ? k : which;
        best = far < best ? far : best;
    }
    return which;
}

SMP_HOST_DEVICE int32_t smp_diffuse_choice(const int32_t *v, const smp_palette *p, const int32_t *codes, int colours)
{
    return p->colours ? smp_diffuse_nearest(v, codes, p->count, colours) : smp_diffuse_level(v[0], p);
}

/* The definition: one part, pixel by pixel. colours: of a part, a constant. */
SMP_HOST_DEVICE void smp_diffuse_part(const smp_io *io, const smp_palette *p, int part, const int colours)
{
    const int parts = smp_diffuse_parts(p, &io->in), channels = io->in.channels;
    const int32_t *codes = smp_palette_codes(p, io->table);
    int32_t *errors = smp_diffuse_errors(&io->out, io->in.height) + part * colours;
    const int64_t step = (int64_t)parts * colours;
    for (int64_t y = 0; y < io->in.height; y++) {
        const void *row = smp_row(&io->in, y);
        uint8_t *to = (uint8_t *)smp_row(&io->out, y);
        int32_t left[3] = {0, 0, 0}, before[3] = {0, 0, 0}, up[3], v[3], right;
        for (int c = 0; c < colours; c++)
            up[c] = y ? errors[c] : 0;
        for (int64_t x = 0; x < io->in.width; x++) {
            for (int c = 0; c < colours; c++) {
                const int32_t code = smp_diffuse_code(smp_load(row, x * channels + part + c, io->in.format), p);
                right = y && x + 1 < io->in.width ? errors[(x + 1) * step + c] : 0;
                v[c] = smp_diffuse_sum(code, left[c], right, up[c], before[c], p->white);
                before[c] = up[c];
                up[c] = right;
            }
            const int32_t k = smp_diffuse_choice(v, p, codes, colours);
            for (int c = 0; c < colours; c++)
                errors[x * step + c] = left[c] = v[c] - codes[k * colours + c];
            to[x * parts + part] = (uint8_t)k;
        }
    }
}

/* Channel c of pixel x of row y of the result: from the bytes of the row, but for alpha. */
SMP_HOST_DEVICE float smp_diffuse_value(const smp_io *io, const smp_palette *p, const uint8_t *bytes, int64_t y,
                                        int64_t x, int32_t c)
{
    const int32_t colours = io->out.channels - (io->out.alpha != 0);
    const float *table = (const float *)io->table;
    if (c == colours)
        return smp_load(smp_row(&io->second, y), x * io->out.channels + c, io->second.format);
    return p->colours ? table[bytes[x] * p->colours + c] : table[bytes[x * colours + c]];
}

SMP_CPU_DECLARE(diffuse_naive);
SMP_CPU_DECLARE(diffuse_tiled);
SMP_CPU_DECLARE(diffuse_paint);
