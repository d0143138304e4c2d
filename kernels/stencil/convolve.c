/* convolve and correlate on the CPU.
 *   naive  tap after tap for every sample: the definition.
 *   tiled  one walk over column tiles: a window of f32 rows in cache, four output rows at a time, so that each loaded
 *          vector serves four sums. The taps of a kernel row run in groups of up to CONVOLVE_GROUP, unrolled for
 *          constant counts. */
#include "stencil/convolve.h"

#include "lib/constants.h"

SMP_CPU_KERNEL(convolve_naive)
{
    const smp_convolve *kernel = params;
    const float *k = smp_convolve_kernel(kernel, io->table),
                outside = smp_outside(kernel->edge, kernel->fill, io->in.white);
    const int channels = io->in.channels, kept = kernel->keep_alpha && io->in.alpha ? channels - 1 : -1;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float s = smp_convolve_first(kernel, io->in.white);
                for (int j = 0; j < kernel->rows; j++)
                    for (int i = 0; i < kernel->cols; i++)
                        s = smp_convolve_tap(
                            s, k[j * kernel->cols + i],
                            smp_at_border(&io->in, x - kernel->left + i, y - kernel->up + j, c, kernel->edge, outside));
                if (c == kept)
                    s = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                stencil_put(io, y, x * channels + c, s);
            }
}

enum { CONVOLVE_GROUP = 8 };

/* Adds `count` taps of one window row to the sums of output rows first..last (of four). Output row q uses kernel row k
 * - q * cols. count, first, last (and mostly step) are constants after inlining. */
SMP_INLINE void convolve_group(float *restrict o, const float *in, int64_t step, const float *k, int64_t cols,
                               int64_t lanes, int count, int first, int last)
{
    float k0[CONVOLVE_GROUP] = {0}, k1[CONVOLVE_GROUP] = {0}, k2[CONVOLVE_GROUP] = {0}, k3[CONVOLVE_GROUP] = {0};
    for (int i = 0; i < count; i++) {
        if (first <= 0)
            k0[i] = k[i];
        if (first <= 1 && last >= 1)
            k1[i] = k[i - cols];
        if (first <= 2 && last >= 2)
            k2[i] = k[i - 2 * cols];
        if (last >= 3)
            k3[i] = k[i - 3 * cols];
    }
    float *restrict o0 = o, *restrict o1 = o + STENCIL_PITCH, *restrict o2 = o + 2 * STENCIL_PITCH,
                    *restrict o3 = o + 3 * STENCIL_PITCH;
    for (int64_t x = 0; x < (lanes & -STENCIL_LANES); x++) {
        float s0 = first <= 0 ? o0[x] : 0.f, s1 = first <= 1 && last >= 1 ? o1[x] : 0.f;
        float s2 = first <= 2 && last >= 2 ? o2[x] : 0.f, s3 = last >= 3 ? o3[x] : 0.f;
#pragma GCC unroll 8
        for (int i = 0; i < count; i++) {
            const float v = in[x + i * step];
            if (first <= 0)
                s0 = smp_convolve_tap(s0, k0[i], v);
            if (first <= 1 && last >= 1)
                s1 = smp_convolve_tap(s1, k1[i], v);
            if (first <= 2 && last >= 2)
                s2 = smp_convolve_tap(s2, k2[i], v);
            if (last >= 3)
                s3 = smp_convolve_tap(s3, k3[i], v);
        }
        if (first <= 0)
            o0[x] = s0;
        if (first <= 1 && last >= 1)
            o1[x] = s1;
        if (first <= 2 && last >= 2)
            o2[x] = s2;
        if (last >= 3)
            o3[x] = s3;
    }
}

/* Adds all taps of one window row. */
SMP_INLINE void convolve_row(float *restrict o, const float *in, int64_t step, const float *k, int64_t cols,
                             int64_t lanes, int first, int last)
{
    for (int64_t i = 0; i < cols; i += CONVOLVE_GROUP, in += CONVOLVE_GROUP * step, k += CONVOLVE_GROUP)
        SMP_BY_COUNT(cols - i < CONVOLVE_GROUP ? cols - i : CONVOLVE_GROUP,
                     convolve_group(o, in, step, k, cols, lanes, N, first, last))
}

typedef struct convolve_walk {
    const smp_convolve *kernel;
    const float *k;
    float outside;
    float *rows; /* four output rows of STENCIL_PITCH floats */
} convolve_walk;

static void make(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row)
{
    const convolve_walk *w = walk->context;
    const smp_view *in = &walk->io->in;
    stencil_prefetch_in(in, tile, y + 16);
    if (!stencil_load(row, in, y, tile, w->kernel->left, smp_convolve_right(w->kernel), w->kernel->edge, w->outside))
        stencil_fill(row, w->outside, tile->lanes + (int64_t)(w->kernel->cols - 1) * in->channels);
}

/* Four output rows from window row `top` on. */
static void four_rows(const stencil_walk *walk, const float *top, int64_t lanes)
{
    const convolve_walk *w = walk->context;
    const int64_t cols = w->kernel->cols, step = walk->io->in.channels;
    const int rows = w->kernel->rows;
    float *o = w->rows;
    stencil_fill(o, smp_convolve_first(w->kernel, walk->io->in.white), 4 * STENCIL_PITCH);
    for (int j = 0; j < rows + 3; j++, top += walk->pitch) {
        const float *k = w->k + j * cols;
        const int first = j < rows ? 0 : j - rows + 1, last = j < 3 ? j : 3;
        if (first == 0 && last == 3)
            convolve_row(o, top, step, k, cols, lanes, 0, 3);
        else if (first == 0 && last == 2)
            convolve_row(o, top, step, k, cols, lanes, 0, 2);
        else if (first == 1 && last == 3)
            convolve_row(o, top, step, k, cols, lanes, 1, 3);
        else if (first == 0 && last == 1)
            convolve_row(o, top, step, k, cols, lanes, 0, 1);
        else if (first == 2 && last == 3)
            convolve_row(o, top, step, k, cols, lanes, 2, 3);
        else
            for (int q = first; q <= last; q++)
                convolve_row(o + q * STENCIL_PITCH, top, step, k - q * cols, cols, lanes, 0, 0);
    }
}

static void emit(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows)
{
    const convolve_walk *w = walk->context;
    const int channels = walk->io->in.channels, kept = w->kernel->keep_alpha && walk->io->in.alpha;
    const int inside = w->kernel->inside && walk->io->in.format != SMP_F32;
    for (int64_t i = 0; i < rows; i += 4) {
        const float *top = walk->window + i * walk->pitch;
        four_rows(walk, top, tile->lanes);
        for (int64_t j = 0; j < 4 && i + j < rows; j++) {
            float *o = w->rows + j * STENCIL_PITCH;
            const float *middle = top + (j + w->kernel->up) * walk->pitch + w->kernel->left * channels;
            if (kept)
                for (int64_t x = channels - 1; x < tile->samples; x += channels)
                    o[x] = middle[x];
            stencil_prefetch_out(&walk->io->out, tile, y + i + j + 8);
            stencil_store(walk->io, tile, y + i + j, o, inside);
        }
    }
}

SMP_CPU_KERNEL(convolve_tiled)
{
    const smp_convolve *kernel = params;
    const int64_t reach = kernel->rows - 1, step = smp_stencil_step(reach),
                  pitch = smp_convolve_pitch(kernel, io->in.channels);
    float *window = scratch;
    convolve_walk context = {.kernel = kernel,
                             .k = smp_convolve_kernel(kernel, io->table),
                             .outside = smp_outside(kernel->edge, kernel->fill, io->in.white),
                             .rows = window + smp_stencil_window(reach, step, pitch)};
    STENCIL_RUN(.up = kernel->up, .down = smp_convolve_down(kernel), .step = step, .pitch = pitch, .window = window);
}
