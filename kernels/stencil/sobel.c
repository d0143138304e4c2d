/* sobel and laplacian on the CPU.
 *   naive  nine samples for every result: the definition.
 *   tiled  one walk over column tiles: three rows in cache, first down the columns into a line, then across it. A dozen
 *          operations a sample, close to memory bandwidth. u8 into u8: sobel_u8.c. */
#include "stencil/sobel.h"

SMP_CPU_KERNEL(sobel_naive)
{
    const smp_sobel *g = params;
    const float outside = smp_outside(g->edge, g->fill, io->in.white);
    const int channels = io->in.channels, alpha = io->in.alpha ? channels - 1 : -1;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float p[9];
                for (int i = 0; i < 9; i++)
                    p[i] = smp_at_border(&io->in, x - 1 + i % 3, y - 1 + i / 3, c, g->edge, outside);
                stencil_put(io, y, x * channels + c, c == alpha ? p[4] : smp_sobel_at(p, g->output));
            }
}

typedef struct sobel_walk {
    const smp_sobel *g;
    float outside;
    float *line[2], *row;
} sobel_walk;

static void make(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row)
{
    const sobel_walk *w = walk->context;
    const smp_view *in = &walk->io->in;
    stencil_prefetch_in(in, tile, y + 16);
    if (!stencil_load(row, in, y, tile, 1, 1, w->g->edge, w->outside))
        stencil_fill(row, w->outside, tile->lanes + 2 * in->channels);
}

/* a: the row above, from the column left of the first result; lines hold the same columns at the same places. */
SMP_INLINE void sobel_row(float *restrict o, float *restrict smooth, float *restrict slope, const float *restrict a,
                          int64_t step, int64_t lanes, int output)
{
    const int64_t n = lanes + 2 * step;
    const float *b = a + SMP_SOBEL_PITCH, *c = b + SMP_SOBEL_PITCH;
    for (int64_t x = 0; x < n; x++) {
        if (output != SMP_SOBEL_Y)
            smooth[x] = smp_sobel_smooth(a[x], b[x], c[x]);
        if (output != SMP_SOBEL_X)
            slope[x] = smp_sobel_slope(a[x], c[x]);
    }
    for (int64_t x = 0; x < (lanes & -STENCIL_LANES); x++) {
        const float dx = smp_sobel_x(smooth[x], smooth[x + 2 * step]);
        const float dy = smp_sobel_y(slope[x], slope[x + step], slope[x + 2 * step]);
        o[x] = output == SMP_SOBEL_X ? dx : output == SMP_SOBEL_Y ? dy : smp_sobel_magnitude(dx, dy);
    }
}

SMP_INLINE void laplace_row(float *restrict o, float *restrict column, const float *restrict a, int64_t step,
                            int64_t lanes, int output)
{
    const float *b = a + SMP_SOBEL_PITCH, *c = b + SMP_SOBEL_PITCH;
    if (output == SMP_LAPLACE_8)
        for (int64_t x = 0; x < lanes + 2 * step; x++)
            column[x] = smp_laplace_column(a[x], b[x], c[x]);
    for (int64_t x = 0; x < (lanes & -STENCIL_LANES); x++)
        o[x] = output == SMP_LAPLACE_4 ? smp_laplace_4(a[x + step], c[x + step], b[x], b[x + 2 * step], b[x + step])
                                       : smp_laplace_8(column[x], column[x + step], column[x + 2 * step], b[x + step]);
}

SMP_INLINE void derivative_row(const sobel_walk *w, const float *a, int64_t step, int64_t lanes)
{
    switch (w->g->output) {
    case SMP_SOBEL_X:
        sobel_row(w->row, w->line[0], w->line[1], a, step, lanes, SMP_SOBEL_X);
        break;
    case SMP_SOBEL_Y:
        sobel_row(w->row, w->line[0], w->line[1], a, step, lanes, SMP_SOBEL_Y);
        break;
    case SMP_SOBEL_MAGNITUDE:
        sobel_row(w->row, w->line[0], w->line[1], a, step, lanes, SMP_SOBEL_MAGNITUDE);
        break;
    case SMP_LAPLACE_4:
        laplace_row(w->row, w->line[0], a, step, lanes, SMP_LAPLACE_4);
        break;
    default:
        laplace_row(w->row, w->line[0], a, step, lanes, SMP_LAPLACE_8);
        break;
    }
}

static void emit(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows)
{
    const sobel_walk *w = walk->context;
    const int64_t channels = walk->io->in.channels;
    for (int64_t i = 0; i < rows; i++) {
        const float *a = walk->window + i * SMP_SOBEL_PITCH;
        derivative_row(w, a, channels, tile->lanes);
        if (walk->io->in.alpha)
            for (int64_t x = channels - 1; x < tile->samples; x += channels)
                w->row[x] = a[SMP_SOBEL_PITCH + channels + x];
        stencil_prefetch_out(&walk->io->out, tile, y + i + 8);
        stencil_store(walk->io, tile, y + i, w->row, 0);
    }
}

SMP_CPU_KERNEL(sobel_tiled)
{
    const smp_sobel *g = params;
    if (SMP_PASTE(sobel_bytes, SMP_ISA)(io, g, scratch, y0, y1))
        return;
    float *lines = (float *)scratch + smp_stencil_window(2, smp_stencil_step(2), SMP_SOBEL_PITCH);
    sobel_walk context = {.g = g,
                          .outside = smp_outside(g->edge, g->fill, io->in.white),
                          .line = {lines, lines + SMP_SOBEL_PITCH},
                          .row = lines + 2 * SMP_SOBEL_PITCH};
    STENCIL_RUN(.up = 1, .down = 1, .step = smp_stencil_step(2), .pitch = SMP_SOBEL_PITCH, .window = scratch);
}
