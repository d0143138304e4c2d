/* Stencils that are one formula on a square window of samples and do not separate into rows and columns: median. From
 * the formula, an inline function in the stage's header, this file makes the naive and the tiled CPU kernel, and
 * window.cuh the naive and the tiled GPU kernel. docs/add-a-stage.md shows how.
 *
 * The formula NAME_T(w, size, params) gets the window in raster order: w[size * row + column], the output's own place
 * in the middle. The kernels call it with a constant size: its loops unroll, w stays in registers, and a CPU makes
 * neighbouring results in the lanes of a vector. There are two kinds:
 *   SMP_WINDOW_VALUES   computes with code values. The stage has NAME_float.
 *   SMP_WINDOW_ORDERED  compares samples and returns one of them. The stage has NAME_int32_t, NAME_uint16_t and
 *                       NAME_uint8_t. Bytes stay bytes, so that a vector holds four times as many as of f32. Floats
 *                       become 32-bit keys that order like IEEE totalOrder (-0 before +0), every NaN last. */
#pragma once

#include "lib/tuning.h"
#include "stencil/stencil.h"

enum { SMP_WINDOW_VALUES, SMP_WINDOW_ORDERED };

enum {
    SMP_WINDOW_MOST = 15,                               /* the largest side of a window, pixels */
    SMP_WINDOW_AREA = SMP_WINDOW_MOST * SMP_WINDOW_MOST /* its samples */
};

/* Before a loop over a window: compilers unroll it where its bounds are constants, so that no array is left. */
#if defined(__CUDACC__) || defined(__clang__)
#define SMP_WINDOW_UNROLL _Pragma("unroll")
#else
#define SMP_WINDOW_UNROLL _Pragma("GCC unroll 225")
#endif

/* The kernel parameters, or their first member. */
typedef struct smp_window {
    int32_t size;  /* pixels on a side, odd */
    int32_t edge;  /* smp_edge */
    float fill;    /* of `constant`: a fraction of full scale */
    int32_t alpha; /* 1: alpha is filtered like a colour; 0: it passes through */
} smp_window;

/* The value outside the picture. Where samples are only moved, it is a code value as they are. */
SMP_HOST_DEVICE float smp_window_outside(const smp_window *g, float white, int kind)
{
    const float v = smp_outside(g->edge, g->fill, white);
    return kind == SMP_WINDOW_ORDERED && white > 1.f ? smp_round_to(v, white) : v;
}

/* The bits of a float, kept in a float, as an integer that orders like the float; and back. Those of a float that is
 * not negative stay. */
SMP_HOST_DEVICE float smp_window_turn(float v)
{
    const uint32_t bits = smp_bits(v), negative = (uint32_t)((int32_t)bits >> 31);
    return smp_from_bits(bits ^ (negative >> 1));
}
SMP_HOST_DEVICE float smp_window_key(float v)
{
    return smp_window_turn(smp_one_nan(v));
}

/* The formula NAME_float of a stage that has NAME_int32_t: on keys. */
#define SMP_WINDOW_KEYS(name)                                                                                          \
    SMP_HOST_DEVICE float name##_float(const float *w, int size, const void *params)                                   \
    {                                                                                                                  \
        int32_t keys[SMP_WINDOW_AREA];                                                                                 \
        SMP_WINDOW_UNROLL                                                                                              \
        for (int i = 0; i < size * size; i++)                                                                          \
            keys[i] = (int32_t)smp_bits(w[i]);                                                                         \
        return smp_from_bits((uint32_t)name##_int32_t(keys, size, params));                                            \
    }

/* Declares the CPU kernels of a stage. */
#define SMP_WINDOW_DECLARE(name)                                                                                       \
    SMP_CPU_DECLARE(name##_naive);                                                                                     \
    SMP_CPU_DECLARE(name##_tiled)

/* CPU scratch: floats from a window row to the next; the window and a row of results. */
SMP_HOST_DEVICE int64_t smp_window_pitch(const smp_window *g, int channels)
{
    return STENCIL_PITCH + (g->size * channels + STENCIL_LANES - 1) / STENCIL_LANES * STENCIL_LANES;
}
SMP_HOST_DEVICE size_t smp_window_scratch(const smp_window *g, int channels)
{
    const int64_t pitch = smp_window_pitch(g, channels);
    return (smp_stencil_window(g->size - 1, smp_stencil_step(g->size - 1), pitch) + (size_t)pitch) * sizeof(float);
}

#ifdef SMP_ISA
typedef float smp_window_fn(const float *w, int size, const void *params);

/* The definition: each sample of each window by the border rule. size is a constant of the call. */
SMP_INLINE void window_naive(const smp_io *io, const smp_window *g, int kind, const int size, smp_window_fn *formula,
                             int64_t y0, int64_t y1)
{
    const float outside = smp_window_outside(g, io->in.white, kind);
    const int channels = io->in.channels, alpha = io->in.alpha && !g->alpha ? channels - 1 : -1;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->in.width * channels; i++) {
            const int64_t x = i / channels;
            const int c = (int)(i - x * channels);
            float w[SMP_WINDOW_AREA];
            for (int k = 0; k < size * size; k++) {
                w[k] = smp_at_border(&io->in, x + k % size - size / 2, y + k / size - size / 2, c, g->edge, outside);
                w[k] = kind == SMP_WINDOW_ORDERED ? smp_window_key(w[k]) : w[k];
            }
            const float v = c == alpha ? w[size * size / 2] : formula(w, size, g);
            stencil_put(io, y, i, kind == SMP_WINDOW_ORDERED ? smp_window_turn(v) : v);
        }
}

typedef struct window_walk {
    const smp_window *g;
    int kind;
    float outside, *row; /* of results */
} window_walk;

/* Picture row y as floats, of the kind ORDERED as keys. */
static __attribute__((unused)) void window_make_float(const stencil_walk *walk, const stencil_tile *tile, int64_t y,
                                                      float *row)
{
    const window_walk *w = walk->context;
    const smp_view *in = &walk->io->in;
    const int64_t n = tile->lanes + (w->g->size - 1) * in->channels;
    stencil_prefetch_in(in, tile, y + 16);
    if (!stencil_load(row, in, y, tile, w->g->size / 2, w->g->size / 2, w->g->edge, w->outside))
        stencil_fill(row, w->outside, n);
    if (w->kind == SMP_WINDOW_ORDERED && in->format == SMP_F32)
        for (int64_t i = 0; i < n; i++)
            row[i] = smp_window_key(row[i]);
}

/* A row of float results, keys of the kind ORDERED, stored. */
static __attribute__((unused)) void window_store_float(const stencil_walk *walk, const stencil_tile *tile, int64_t y,
                                                       float *row)
{
    const window_walk *w = walk->context;
    const int floats = walk->io->in.format == SMP_F32;
    if (w->kind == SMP_WINDOW_ORDERED && floats)
        for (int64_t i = 0; i < tile->lanes; i++)
            row[i] = smp_window_turn(row[i]);
    stencil_store(walk->io, tile, y, row, w->kind == SMP_WINDOW_ORDERED && !floats);
}

/* The same for rows of integers, which stay as they are. Pixels from - .. to - 1 exist in the row. */
#define WINDOW_INTEGERS_(T)                                                                                            \
    static __attribute__((unused)) void window_make_##T(const stencil_walk *walk, const stencil_tile *tile, int64_t y, \
                                                        float *row)                                                    \
    {                                                                                                                  \
        const window_walk *w = walk->context;                                                                          \
        const smp_view *in = &walk->io->in;                                                                            \
        const int64_t a = tile->x0 - w->g->size / 2, b = tile->x0 + tile->pixels + w->g->size / 2;                     \
        const int64_t inside = smp_border(y, in->height, w->g->edge), channels = in->channels;                         \
        const T *from = inside < 0 ? NULL : (const T *)smp_row(in, inside), outside = (T)w->outside;                   \
        const int64_t lo = !from ? b : a < 0 ? 0 : a, hi = !from || b < in->width ? b : in->width;                     \
        T *to = (T *)(void *)row;                                                                                      \
        stencil_prefetch_in(in, tile, y + 16);                                                                         \
        if (from)                                                                                                      \
            memcpy(to + (lo - a) * channels, from + lo * channels, (size_t)((hi - lo) * channels) * sizeof(T));        \
        for (int64_t x = a < lo ? a : hi; x < b; x = x + 1 == lo ? hi : x + 1) {                                       \
            const int64_t at = smp_border(x, in->width, w->g->edge);                                                   \
            for (int64_t c = 0; c < channels; c++)                                                                     \
                to[(x - a) * channels + c] = from && at >= 0 ? from[at * channels + c] : outside;                      \
        }                                                                                                              \
    }                                                                                                                  \
    static __attribute__((unused)) void window_store_##T(const stencil_walk *walk, const stencil_tile *tile,           \
                                                         int64_t y, T *row)                                            \
    {                                                                                                                  \
        memcpy((T *)smp_row(&walk->io->out, y) + tile->x0 * walk->io->out.channels, row,                               \
               (size_t)tile->samples * sizeof(T));                                                                     \
    }
WINDOW_INTEGERS_(uint8_t)
WINDOW_INTEGERS_(uint16_t)

/* Results of n samples side by side; the windows' first samples lie at `a`. size is a constant of the call. */
#define WINDOW_ROW_(T)                                                                                                 \
    SMP_INLINE void window_row_##T(T *restrict to, const T *restrict a, int64_t pitch, int64_t step, int64_t n,        \
                                   const int size, T (*formula)(const T *, int, const void *), const void *params)     \
    {                                                                                                                  \
        for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {                                                           \
            T w[SMP_WINDOW_AREA];                                                                                      \
            SMP_WINDOW_UNROLL                                                                                          \
            for (int j = 0; j < size; j++)                                                                             \
                SMP_WINDOW_UNROLL                                                                                      \
            for (int i = 0; i < size; i++)                                                                             \
                w[j * size + i] = a[j * pitch + i * step + x];                                                         \
            to[x] = formula(w, size, params);                                                                          \
        }                                                                                                              \
    }
WINDOW_ROW_(float)
WINDOW_ROW_(uint16_t)
WINDOW_ROW_(uint8_t)

#define WINDOW_CASE_(size, T, formula)                                                                                 \
    case size:                                                                                                         \
        window_row_##T(row, a, pitch, channels, tile->lanes, size, formula##_##T, w->g);                               \
        break;
#define WINDOW_NAIVE_(size, kind, formula)                                                                             \
    case size:                                                                                                         \
        window_naive(io, g, kind, size, formula##_float, y0, y1);                                                      \
        break;
#define WINDOW_EMIT_(name, T, formula, SIZES)                                                                          \
    static void name##_emit_##T(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows)           \
    {                                                                                                                  \
        const window_walk *w = walk->context;                                                                          \
        const int64_t pitch = walk->pitch * (int64_t)(sizeof(float) / sizeof(T)), channels = walk->io->in.channels;    \
        const int64_t middle = w->g->size / 2 * (pitch + channels);                                                    \
        T *row = (T *)(void *)w->row;                                                                                  \
        for (int64_t i = 0; i < rows; i++) {                                                                           \
            const T *a = (const T *)(const void *)(walk->window + i * walk->pitch);                                    \
            switch (w->g->size) {                                                                                      \
                SIZES(WINDOW_CASE_, T, formula)                                                                        \
            }                                                                                                          \
            if (walk->io->in.alpha && !w->g->alpha)                                                                    \
                for (int64_t x = channels - 1; x < tile->samples; x += channels)                                       \
                    row[x] = a[middle + x];                                                                            \
            stencil_prefetch_out(&walk->io->out, tile, y + i + 8);                                                     \
            window_store_##T(walk, tile, y + i, row);                                                                  \
        }                                                                                                              \
    }

typedef void window_make(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row);
typedef void window_emit(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows);

static __attribute__((unused)) void window_tiled(const smp_io *io, const smp_window *g, void *scratch, int kind,
                                                 window_make *make, window_emit *emit, int64_t y0, int64_t y1)
{
    const int64_t pitch = smp_window_pitch(g, io->in.channels), step = smp_stencil_step(g->size - 1);
    window_walk context = {.g = g,
                           .kind = kind,
                           .outside = smp_window_outside(g, io->in.white, kind),
                           .row = (float *)scratch + smp_stencil_window(g->size - 1, step, pitch)};
    STENCIL_RUN(.up = g->size / 2, .down = g->size / 2, .step = step, .pitch = pitch, .window = scratch);
}

/* The kernels NAME_naive and NAME_tiled of a formula. SIZES(X, ...) is X(3, __VA_ARGS__) for each size there is. */
#define SMP_WINDOW_CPU(name, formula, SIZES)                                                                           \
    WINDOW_EMIT_(name, float, formula, SIZES)                                                                          \
    SMP_CPU_KERNEL(name##_naive)                                                                                       \
    {                                                                                                                  \
        const smp_window *g = params;                                                                                  \
        switch (g->size) {                                                                                             \
            SIZES(WINDOW_NAIVE_, SMP_WINDOW_VALUES, formula)                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    SMP_CPU_KERNEL(name##_tiled)                                                                                       \
    {                                                                                                                  \
        window_tiled(io, params, scratch, SMP_WINDOW_VALUES, window_make_float, name##_emit_float, y0, y1);            \
    }
#define SMP_WINDOW_CPU_ORDERED(name, formula, SIZES)                                                                   \
    WINDOW_EMIT_(name, float, formula, SIZES)                                                                          \
    WINDOW_EMIT_(name, uint16_t, formula, SIZES)                                                                       \
    WINDOW_EMIT_(name, uint8_t, formula, SIZES)                                                                        \
    SMP_CPU_KERNEL(name##_naive)                                                                                       \
    {                                                                                                                  \
        const smp_window *g = params;                                                                                  \
        switch (g->size) {                                                                                             \
            SIZES(WINDOW_NAIVE_, SMP_WINDOW_ORDERED, formula)                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    SMP_CPU_KERNEL(name##_tiled)                                                                                       \
    {                                                                                                                  \
        const int format = io->in.format == io->out.format ? io->in.format : SMP_F32;                                  \
        window_tiled(io, params, scratch, SMP_WINDOW_ORDERED,                                                          \
                     format == SMP_U8    ? window_make_uint8_t                                                         \
                     : format == SMP_U16 ? window_make_uint16_t                                                        \
                                         : window_make_float,                                                          \
                     format == SMP_U8    ? name##_emit_uint8_t                                                         \
                     : format == SMP_U16 ? name##_emit_uint16_t                                                        \
                                         : name##_emit_float,                                                          \
                     y0, y1);                                                                                          \
    }
#endif
