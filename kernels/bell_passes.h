/* The two passes of a Gaussian over a CPU tile, for gaussian and the stages that build on a blur. Included by kernel
 * files only. Loops over taps are unrolled for constant counts, so that the compiler keeps sums in registers and
 * vectorises over samples; wider filters run several such groups of taps, in the order that the definition gives. */
#ifndef SMP_KERNELS_BELL_PASSES_H
#define SMP_KERNELS_BELL_PASSES_H

#include "bell.h"

enum { BELL_GROUP = 8 }; /* pairs of taps (row pass) in one unrolled loop; the column pass takes twice as many */

#define BELL_BY_COUNT(count, CALL)                                                                                     \
    switch (count) {                                                                                                   \
    case 1:                                                                                                            \
        CALL(1);                                                                                                       \
        break;                                                                                                         \
    case 2:                                                                                                            \
        CALL(2);                                                                                                       \
        break;                                                                                                         \
    case 3:                                                                                                            \
        CALL(3);                                                                                                       \
        break;                                                                                                         \
    case 4:                                                                                                            \
        CALL(4);                                                                                                       \
        break;                                                                                                         \
    case 5:                                                                                                            \
        CALL(5);                                                                                                       \
        break;                                                                                                         \
    case 6:                                                                                                            \
        CALL(6);                                                                                                       \
        break;                                                                                                         \
    case 7:                                                                                                            \
        CALL(7);                                                                                                       \
        break;                                                                                                         \
    case 8:                                                                                                            \
        CALL(8);                                                                                                       \
        break;                                                                                                         \
    default:                                                                                                           \
        break;                                                                                                         \
    }

/* Row pass, taps 0..r; r and (mostly) step are constants after inlining. in: the middle sample of the first output. */
SMP_INLINE void bell_row_first(float *restrict m, const float *in, int64_t step, const float *w, int64_t n, int r)
{
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s = smp_bell_first(w[0], in[x]);
#pragma GCC unroll 8
        for (int k = 1; k <= r; k++)
            s = smp_bell_pair(s, w[k], in[x - k * step], in[x + k * step]);
        m[x] = s;
    }
}

/* Row pass, `count` more pairs; the nearest is at distance `from` samples from the middle. */
SMP_INLINE void bell_row_more(float *restrict m, const float *in, int64_t from, int64_t step, const float *w, int64_t n,
                              int count)
{
    const float *left = in - from, *right = in + from;
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s = m[x];
#pragma GCC unroll 8
        for (int k = 0; k < count; k++)
            s = smp_bell_pair(s, w[k], left[x - k * step], right[x + k * step]);
        m[x] = s;
    }
}

SMP_INLINE void bell_row_step(float *restrict m, const float *in, int64_t step, const float *w, int64_t n, int r)
{
#define CALL(R) bell_row_first(m, in, step, w, n, R)
    BELL_BY_COUNT(r < BELL_GROUP ? r : BELL_GROUP, CALL)
#undef CALL
    for (int k = BELL_GROUP + 1; k <= r; k += BELL_GROUP) {
        int count = r - k + 1 < BELL_GROUP ? r - k + 1 : BELL_GROUP;
#define CALL(COUNT) bell_row_more(m, in, k *step, step, w + k, n, COUNT)
        BELL_BY_COUNT(count, CALL)
#undef CALL
    }
}

/* The row pass: n samples (a multiple of STENCIL_LANES) from a line with r * channels samples before and after. */
static __attribute__((unused)) void bell_across(float *restrict m, const float *in, int channels, const float *w,
                                                int64_t n, int r)
{
    switch (channels) {
    case 1:
        bell_row_step(m, in, 1, w, n, r);
        break;
    case 3:
        bell_row_step(m, in, 3, w, n, r);
        break;
    case 4:
        bell_row_step(m, in, 4, w, n, r);
        break;
    default:
        bell_row_step(m, in, channels, w, n, r);
        break;
    }
}

/* Column pass for four output rows at once, so that each loaded row serves four sums. m: the top tap of the first
 * output row; o: four rows. All 2r+1 taps; r is a constant after inlining. */
SMP_INLINE void bell_column_all(float *restrict o, const float *m, const float *w, int64_t n, int r)
{
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma GCC unroll 20
        for (int j = 0; j < 2 * r + 4; j++) {
            const float v = m[x + j * STENCIL_PITCH];
            const int i1 = j - 1, i2 = j - 2, i3 = j - 3;
            if (j == 0)
                s0 = smp_bell_first(w[r], v);
            else if (j <= 2 * r)
                s0 = smp_bell_tap(s0, w[j < r ? r - j : j - r], v);
            if (i1 == 0)
                s1 = smp_bell_first(w[r], v);
            else if (i1 > 0 && i1 <= 2 * r)
                s1 = smp_bell_tap(s1, w[i1 < r ? r - i1 : i1 - r], v);
            if (i2 == 0)
                s2 = smp_bell_first(w[r], v);
            else if (i2 > 0 && i2 <= 2 * r)
                s2 = smp_bell_tap(s2, w[i2 < r ? r - i2 : i2 - r], v);
            if (i3 == 0)
                s3 = smp_bell_first(w[r], v);
            else if (i3 > 0)
                s3 = smp_bell_tap(s3, w[i3 < r ? r - i3 : i3 - r], v);
        }
        o[x] = s0;
        o[x + STENCIL_PITCH] = s1;
        o[x + 2 * STENCIL_PITCH] = s2;
        o[x + 3 * STENCIL_PITCH] = s3;
    }
}

/* Column pass, 2 * half more taps (a constant) with weights w[0], w[1], ... */
SMP_INLINE void bell_column_more(float *restrict o, const float *m, const float *w, int64_t n, int half)
{
    const int count = 2 * half;
    for (int64_t x = 0; x < (n & -STENCIL_LANES); x++) {
        float s0 = o[x], s1 = o[x + STENCIL_PITCH], s2 = o[x + 2 * STENCIL_PITCH], s3 = o[x + 3 * STENCIL_PITCH];
#pragma GCC unroll 20
        for (int j = 0; j < count + 3; j++) {
            const float v = m[x + j * STENCIL_PITCH];
            if (j < count)
                s0 = smp_bell_tap(s0, w[j], v);
            if (j >= 1 && j < count + 1)
                s1 = smp_bell_tap(s1, w[j - 1], v);
            if (j >= 2 && j < count + 2)
                s2 = smp_bell_tap(s2, w[j - 2], v);
            if (j >= 3)
                s3 = smp_bell_tap(s3, w[j - 3], v);
        }
        o[x] = s0;
        o[x + STENCIL_PITCH] = s1;
        o[x + 2 * STENCIL_PITCH] = s2;
        o[x + 3 * STENCIL_PITCH] = s3;
    }
}

/* The column pass: four rows of n samples into o (pitch STENCIL_PITCH); m: the window row of the first top tap. */
static __attribute__((unused)) void bell_down(float *restrict o, const float *m, const float *w, int64_t n, int r)
{
    if (r <= BELL_GROUP) {
#define CALL(R) bell_column_all(o, m, w, n, R)
        BELL_BY_COUNT(r, CALL)
#undef CALL
        return;
    }
    for (int row = 0; row < 4; row++)
        for (int64_t x = 0; x < n; x++)
            o[x + row * STENCIL_PITCH] = smp_bell_first(w[r], m[x + row * STENCIL_PITCH]);
    for (int i = 1; i <= 2 * r; i += 2 * BELL_GROUP) {
        int half = r - i / 2 < BELL_GROUP ? r - i / 2 : BELL_GROUP;
        float taps[2 * BELL_GROUP];
        for (int k = 0; k < 2 * half; k++)
            taps[k] = w[i + k < r ? r - i - k : i + k - r];
#define CALL(HALF) bell_column_more(o, m + i * STENCIL_PITCH, taps, n, HALF)
        BELL_BY_COUNT(half, CALL)
#undef CALL
    }
}

/* What the tiled walks of a blur carry. */
typedef struct bell_walk {
    const smp_bell *g;
    const float *w;
    float outside;
    float *line; /* smp_stencil_line() floats */
    float *rows; /* four rows of STENCIL_PITCH floats */
} bell_walk;

/* A window row: loaded, then filtered along the row. */
static __attribute__((unused)) void bell_make(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row)
{
    const bell_walk *g = walk->context;
    const smp_view *in = &walk->io->in;
    const int r = g->g->radius;
    stencil_prefetch_in(in, tile, y + 16);
    if (stencil_load(g->line, in, y, tile, r, r, g->g->edge, g->outside))
        bell_across(row, g->line + (int64_t)r * in->channels, in->channels, g->w, tile->lanes, r);
    else
        stencil_fill(row, g->outside, tile->lanes);
}

/* Sets up context and walk over `scratch`, which smp_bell_scratch() measured. */
SMP_INLINE stencil_walk bell_walk_over(const smp_io *io, const smp_bell *g, void *scratch, bell_walk *context)
{
    const int64_t reach = 2 * (int64_t)g->radius, step = smp_stencil_step(reach);
    float *window = scratch;
    *context = (bell_walk){.g = g,
                           .w = smp_bell_weights(g, io->table),
                           .outside = smp_outside(g->edge, g->fill, io->in.white),
                           .rows = window + smp_stencil_window(reach, step, STENCIL_PITCH)};
    context->line = context->rows + 4 * STENCIL_PITCH;
    return (stencil_walk){.io = io,
                          .up = g->radius,
                          .down = g->radius,
                          .step = step,
                          .pitch = STENCIL_PITCH,
                          .window = window,
                          .context = context,
                          .make = bell_make};
}

#endif
