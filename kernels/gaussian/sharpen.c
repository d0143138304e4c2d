/* sharpen on the CPU.
 *   naive  a ring of 2r+1 rows after the row pass; column pass and mask sample by sample: the definition.
 *   tiled  the blur's walk over column tiles; the mask is applied to its rows before they are stored. */
#include "gaussian/sharpen.h"

#include "gaussian/gaussian_cpu.h"

SMP_CPU_KERNEL(sharpen_naive)
{
    const smp_sharpen *s = params;
    const smp_gaussian *g = &s->blur;
    const float *w = smp_gaussian_weights(g, io->table), threshold = s->threshold * io->in.white;
    const int channels = io->in.channels, r = g->radius;
    const int64_t samples = io->in.width * channels, taps = 2 * (int64_t)r + 1;
    float *ring = scratch; /* the row pass of row y is ring row (y + r) % taps */
    for (int64_t y = y0; y < y1; y++) {
        for (int64_t row = y == y0 ? y - r : y + r; row <= y + r; row++)
            for (int64_t x = 0; x < io->in.width; x++)
                for (int c = 0; c < channels; c++)
                    ring[(row + r) % taps * samples + x * channels + c] =
                        smp_gaussian_row(&io->in, g, smp_gaussian_across(g, io->table), x, row, c);
        for (int64_t i = 0; i < samples; i++) {
            float blurred = smp_gaussian_first(w[r], ring[y % taps * samples + i]);
            for (int k = 1 - r; k <= r; k++)
                blurred = smp_gaussian_tap(blurred, w[k < 0 ? -k : k], ring[(y + k + r) % taps * samples + i]);
            float v = smp_load(smp_row(&io->in, y), i, io->in.format);
            stencil_put(io, y, i, smp_sharpen_mask(v, blurred, s->amount, threshold));
        }
    }
}

static void emit(const stencil_walk *walk, const stencil_tile *tile, int64_t y, int64_t rows)
{
    const gaussian_walk *g = walk->context;
    const smp_io *io = walk->io;
    const smp_sharpen *s = (const smp_sharpen *)(const void *)g->g; /* the blur is its first field */
    const float amount = s->amount, threshold = s->threshold * io->in.white;
    const int64_t most = gaussian_at_once(g->g->radius);
    for (int64_t i = 0; i < rows; i += most) {
        SMP_PASTE(gaussian_down, SMP_ISA)(g->rows, walk->window + i * STENCIL_PITCH, g->w, tile->lanes, g->g->radius);
        for (int64_t j = 0; j < most && i + j < rows; j++) {
            float *restrict o = g->rows + j * STENCIL_PITCH;
            const float *restrict v = g->line;
            stencil_load(g->line, &io->in, y + i + j, tile, 0, 0, SMP_CLAMP, 0);
            for (int64_t x = 0; x < tile->lanes; x++)
                o[x] = smp_sharpen_mask(v[x], o[x], amount, threshold);
            stencil_prefetch_out(&io->out, tile, y + i + j + 8);
            stencil_store(io, tile, y + i + j, o, 0);
        }
    }
}

SMP_CPU_KERNEL(sharpen_tiled)
{
    const smp_sharpen *s = params;
    gaussian_walk context;
    stencil_walk walk = gaussian_walk_over(io, &s->blur, scratch, &context);
    walk.emit = emit;
    stencil_run(&walk, y0, y1);
}
