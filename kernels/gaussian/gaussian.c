/* gaussian on the CPU.
 *   naive  two launches: gaussian_rows into an f32 picture, gaussian_columns out of it. The definition, sample by
 *          sample.
 *   tiled  one walk over column tiles. Rows pass through a window that stays in cache: the row pass on the way in, the
 *          column pass for several output rows at once on the way out. Only the output is written to memory.
 * Both do 2(2r+1) operations a sample and pass; beyond a few taps arithmetic is the limit, not memory. */
#include "gaussian/gaussian.h"

#include "gaussian/gaussian_cpu.h"

SMP_CPU_KERNEL(gaussian_rows)
{
    const smp_gaussian *g = params;
    const float *a = smp_gaussian_across(g, io->table);
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++)
                stencil_put(io, y, x * channels + c, smp_gaussian_row(&io->in, g, a, x, y, c));
}

SMP_CPU_KERNEL(gaussian_columns)
{
    const smp_gaussian *g = params;
    const float *w = smp_gaussian_weights(g, io->table);
    const float outside = smp_gaussian_outside(g, smp_outside(g->edge, g->fill, io->in.white));
    const int channels = io->in.channels, r = g->radius;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float s = smp_gaussian_first(w[r], smp_at_border(&io->in, x, y - r, c, g->edge, outside));
                for (int i = 1 - r; i <= r; i++)
                    s = smp_gaussian_tap(s, w[i < 0 ? -i : i], smp_at_border(&io->in, x, y + i, c, g->edge, outside));
                stencil_put(io, y, x * channels + c, s);
            }
}

static void emit(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows)
{
    const gaussian_walk *g = walk->context;
    const int inside = walk->io->in.format != SMP_F32; /* integer samples stay inside 0..white */
    const int64_t most = gaussian_at_once(g->g->radius);
    for (int64_t i = 0; i < rows; i += most) {
        SMP_PASTE(gaussian_down, SMP_ISA)(g->rows, walk->window + i * STENCIL_PITCH, g->w, tile->lanes, g->g->radius);
        for (int64_t j = 0; j < most && i + j < rows; j++) {
            stencil_prefetch_out(&walk->io->out, tile, y + i + j + 8);
            stencil_store(walk->io, tile, y + i + j, g->rows + j * STENCIL_PITCH, inside);
        }
    }
}

SMP_CPU_KERNEL(gaussian_tiled)
{
    gaussian_walk context;
    stencil_walk walk = gaussian_walk_over(io, params, scratch, &context);
    walk.emit = emit;
    stencil_run(&walk, y0, y1);
}
