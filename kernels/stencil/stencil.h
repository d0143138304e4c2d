/* Shared by the stencil stages: samples beyond the border on any device, and on a CPU the walk over column tiles.
 *
 * Tiling on a CPU. A tile is a column of the picture, STENCIL_TILE samples wide. Its rows pass through a window, a few
 * f32 rows that stay in the first- or second-level cache. `make` fills one window row from a picture row: it converts
 * the samples, and a separable filter applies its row pass too. `emit` computes output rows from window rows. Window
 * rows lie a constant pitch apart, so that the loop in `emit` needs one pointer and constant offsets. All arithmetic is
 * on f32 code values, whatever the storage, so that results do not depend on the storage. Stencil stages store one NaN
 * only, that of smp_one_nan(), in alpha that passes through as well. */
#pragma once

#include <stddef.h>

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/view.h"

/* The code value outside the picture for the edges `zero` and `constant`. fill is a fraction of full scale. */
SMP_HOST_DEVICE float smp_outside(int edge, float fill, float white)
{
    return edge == SMP_CONSTANT ? fill * white : 0.f;
}

/* The sample of channel c at pixel (x, y), which may lie outside the picture. outside: from smp_outside(). */
SMP_HOST_DEVICE float smp_at_border(const smp_view *in, int64_t x, int64_t y, int c, int edge, float outside)
{
    x = smp_border(x, in->width, edge);
    y = smp_border(y, in->height, edge);
    return x < 0 || y < 0 ? outside : smp_load(smp_row(in, y), x * in->channels + c, in->format);
}

/* Rows that must be present on one side of an output row. Taps reach `near` rows on this side and `far` rows on the
 * other. A border that folds back reads rows of this side in place of rows beyond the other. */
SMP_HOST_DEVICE int64_t smp_stencil_reach(int64_t near, int64_t far, int edge)
{
    return (edge == SMP_REFLECT || edge == SMP_MIRROR) && far > near ? far : near;
}

enum {
    STENCIL_TILE = 384,               /* samples: 1, 2, 3, 4, 6 and 8 channels fill it with whole pixels */
    STENCIL_LANES = 16,               /* loops run over a multiple of this many samples */
    STENCIL_PITCH = STENCIL_TILE + 16 /* window rows start in different cache sets */
};

/* Pixels across a tile. */
SMP_HOST_DEVICE int64_t smp_stencil_tile(int channels)
{
    return STENCIL_TILE / channels;
}

/* Rows a step: what emit() makes from one filling of the window, a multiple of 4. The next step moves `reach` rows to
 * the top of the window, so tall windows take taller steps. Low windows fit the first-level cache. */
SMP_HOST_DEVICE int64_t smp_stencil_step(int64_t reach)
{
    return reach < 12 ? 16 : reach <= 32 ? 32 : (reach + 3) / 4 * 4;
}

/* Floats in a window. reach: rows up and down together. */
SMP_HOST_DEVICE size_t smp_stencil_window(int64_t reach, int64_t step, int64_t pitch)
{
    return (size_t)((reach + step) * pitch);
}

/* Floats in a line: a tile and `halo` samples on either side, each rounded up to whole vectors. */
SMP_HOST_DEVICE size_t smp_stencil_line(int64_t halo)
{
    return (size_t)(STENCIL_PITCH + 2 * halo + 2 * STENCIL_LANES);
}

#ifdef SMP_ISA
#include <string.h>

typedef struct stencil_tile {
    int64_t x0;      /* the tile's first pixel */
    int64_t pixels;  /* across */
    int64_t samples; /* pixels * channels */
    int64_t lanes;   /* samples rounded up to a multiple of STENCIL_LANES: loops may run to here */
} stencil_tile;

typedef struct stencil_walk stencil_walk;
struct stencil_walk {
    const smp_io *io;
    int64_t up, down; /* rows that an output row reaches */
    int64_t step;     /* output rows a filling of the window; a multiple of 4 */
    int64_t pitch;    /* floats from a window row to the next */
    float *window;    /* (up + down + step) * pitch floats */
    void *context;    /* of the stage */
    /* Fills one window row from picture row y, which may lie outside the picture. */
    void (*make)(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row);
    /* Stores output rows y .. y+rows-1. Window row 0 is picture row y - up. Window rows past the last hold old data. */
    void (*emit)(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows);
};

/* Output rows y0 .. y1-1, tile by tile. */
SMP_INLINE void stencil_run(const stencil_walk *walk, int64_t y0, int64_t y1)
{
    const smp_view *in = &walk->io->in;
    const int64_t across = smp_stencil_tile(in->channels), reach = walk->up + walk->down, step = walk->step;
    for (int64_t x0 = 0; x0 < in->width; x0 += across) {
        stencil_tile tile = {.x0 = x0, .pixels = in->width - x0 < across ? in->width - x0 : across};
        tile.samples = tile.pixels * in->channels;
        tile.lanes = (tile.samples + STENCIL_LANES - 1) & -STENCIL_LANES;
        for (int64_t y = y0; y < y1; y += step) {
            int64_t rows = y1 - y < step ? y1 - y : step, have = y == y0 ? 0 : reach;
            if (have)
                memmove(walk->window, walk->window + step * walk->pitch, (size_t)(have * walk->pitch) * sizeof(float));
            for (int64_t i = have; i < rows + reach; i++)
                walk->make(walk, &tile, y - walk->up + i, walk->window + i * walk->pitch);
            walk->emit(walk, &tile, y, rows);
        }
    }
}

/* For a kernel whose functions and context are called so; with .up, .down, .step, .pitch and .window. */
#define STENCIL_RUN(...)                                                                                               \
    stencil_run(&(stencil_walk){.io = io, .context = &context, .make = make, .emit = emit, __VA_ARGS__}, y0, y1)

/* Prefetches n bytes of a row that will be read, or written, soon. A tile reads a short piece of each row, which the
 * hardware's prefetcher does not follow. */
SMP_INLINE void stencil_prefetch(const void *row, int64_t n, int write)
{
    const char *p = row;
    for (int64_t i = 0; i < n; i += 64) {
        if (write)
            __builtin_prefetch(p + i, 1);
        else
            __builtin_prefetch(p + i, 0);
    }
}

/* Prefetches the tile's part of an input row, or of an output row. Rows of floats go to the second-level cache: sixteen
 * of them in the first would evict the window, which costs a blur 4 to 8 %. */
SMP_INLINE void stencil_prefetch_in(const smp_view *in, const stencil_tile *tile, int64_t y)
{
    int64_t size = smp_sample_size(in->format), last = in->y0 + in->rows - 1;
    y = y < in->y0 ? in->y0 : y > last ? last : y;
    const char *row = (const char *)smp_row(in, y) + tile->x0 * in->channels * size;
    if (in->format != SMP_F32)
        stencil_prefetch(row, tile->samples * size, 0);
    else
        for (int64_t i = 0; i < tile->samples * size; i += 64)
            __builtin_prefetch(row + i, 0, 2);
}
SMP_INLINE void stencil_prefetch_out(const smp_view *out, const stencil_tile *tile, int64_t y)
{
    int64_t size = smp_sample_size(out->format), last = out->y0 + out->rows - 1;
    y = y > last ? last : y;
    stencil_prefetch((const char *)smp_row(out, y) + tile->x0 * out->channels * size, tile->samples * size, 1);
}

/* Loads pixels xa .. xb-1 of a row one by one, by the border rule. Returns the end of what it wrote. */
SMP_INLINE float *stencil_line_slowly(float *to, const smp_view *in, const void *row, int64_t xa, int64_t xb, int edge,
                                      float outside)
{
    for (int64_t x = xa; x < xb; x++) {
        int64_t from = smp_border(x, in->width, edge);
        for (int c = 0; c < in->channels; c++)
            *to++ = from < 0 ? outside : smp_load(row, from * in->channels + c, in->format);
    }
    return to;
}

/* Loads pixels x0-left .. x0+pixels+right-1 of picture row y as floats, and zeros up to whole vectors. Returns 0 and
 * writes nothing when the row is outside the picture and the border is a value. */
SMP_INLINE int stencil_load(float *line, const smp_view *in, int64_t y, const stencil_tile *tile, int64_t left,
                            int64_t right, int edge, float outside)
{
    const int64_t inside = smp_border(y, in->height, edge);
    if (inside < 0)
        return 0;
    const char *row = smp_row(in, inside);
    const int64_t xa = tile->x0 - left, xb = tile->x0 + tile->pixels + right; /* the pixels to load */
    const int64_t a = xa < 0 ? 0 : xa, b = xb > in->width ? in->width : xb;   /* those inside the picture */
    float *to = stencil_line_slowly(line, in, row, xa, a, edge, outside);
    smp_load_row(to, row + a * in->channels * smp_sample_size(in->format), in->format, (b - a) * in->channels);
    to = stencil_line_slowly(to + (b - a) * in->channels, in, row, b, xb, edge, outside);
    for (int64_t i = tile->samples; i < tile->lanes; i++)
        *to++ = 0.f;
    return 1;
}

SMP_INLINE void stencil_fill(float *row, float v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        row[i] = v;
}

/* Stores values that cannot leave 0..white, such as means of integer samples, as integers without clamping. The rounded
 * integer is the low part of v + 2^23. */
SMP_INLINE void stencil_store_inside(void *restrict to, int format, const float *restrict from, int64_t n)
{
    int64_t i = 0;
#ifdef __AVX2__
    if (format == SMP_U8) { /* vpack works within 128-bit halves; the permutation restores the order */
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        for (; i + 32 <= n; i += 32) {
            const __m256i a = _mm256_cvtps_epi32(_mm256_loadu_ps(from + i)),
                          b = _mm256_cvtps_epi32(_mm256_loadu_ps(from + i + 8)),
                          c = _mm256_cvtps_epi32(_mm256_loadu_ps(from + i + 16)),
                          d = _mm256_cvtps_epi32(_mm256_loadu_ps(from + i + 24));
            const __m256i bytes = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
            _mm256_storeu_si256((__m256i_u *)(void *)((uint8_t *)to + i), _mm256_permutevar8x32_epi32(bytes, order));
        }
    }
#endif
    for (; i < n; i++) {
        union {
            float f;
            uint32_t u;
        } v = {.f = from[i] + 8388608.f};
        if (format == SMP_U8)
            ((uint8_t *)to)[i] = (uint8_t)v.u;
        else
            ((uint16_t *)to)[i] = (uint16_t)v.u;
    }
}

/* Stores one sample of output row y: for naive kernels. Counts clipping as smp_store_row() does. */
SMP_INLINE void stencil_put(const smp_io *io, int64_t y, int64_t i, float v)
{
    const int format = io->out.format;
    if (io->clipped && format != SMP_F32)
        *io->clipped += (uint64_t)smp_clips(v, format == SMP_U8 ? 255.f : 65535.f);
    smp_store(smp_row(&io->out, y), i, format, smp_one_nan(v));
}

/* Stores f32 samples. Every NaN becomes that of smp_one_nan(). */
SMP_INLINE void stencil_store_reals(float *restrict to, const float *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_one_nan(from[i]);
}

/* Stores row y of a tile. inside: no value can leave 0..white. */
SMP_INLINE void stencil_store(const smp_io *io, const stencil_tile *tile, int64_t y, const float *from, int inside)
{
    const smp_view *out = &io->out;
    char *to = (char *)smp_row(out, y) + tile->x0 * out->channels * smp_sample_size(out->format);
    if (inside && out->format == SMP_U8)
        stencil_store_inside(to, SMP_U8, from, tile->samples);
    else if (inside && out->format == SMP_U16)
        stencil_store_inside(to, SMP_U16, from, tile->samples);
    else if (out->format == SMP_F32)
        stencil_store_reals((float *)(void *)to, from, tile->samples);
    else
        smp_store_row(to, out->format, from, tile->samples, io->clipped);
}
#endif
