/* invert on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  row by row, one loop a format so that the compiler vectorises it; alpha is put back afterwards. Only floats
 * that become integers can clip: they go in blocks, so that clipped samples are counted. A point stage moves every byte
 * twice and computes almost nothing: memory bandwidth is its bound. */
#include "elementwise/invert.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(invert_naive)
{
    (void)params, (void)scratch;
    int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                if (!(io->in.alpha && c == channels - 1))
                    v = smp_invert(v, io->in.white);
                smp_put(io, smp_row(&io->out, y), x * channels + c, v);
            }
}

/* One row from one format to another; formats are constants after inlining. */
SMP_INLINE void invert_row(void *restrict out, int out_format, const void *restrict in, int in_format, int64_t n,
                           float white)
{
    for (int64_t i = 0; i < n; i++)
        smp_store(out, i, out_format, smp_invert(smp_load(in, i, in_format), white));
}

SMP_INLINE void invert_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                             int64_t pixels)
{
    (void)params;
    const int64_t n = pixels * io->in.channels;
    const float white = io->in.white;
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_invert(from[i], white);
    if (io->in.alpha)
        for (int64_t i = io->in.channels - 1; i < n; i += io->in.channels)
            to[i] = from[i];
}

SMP_CPU_KERNEL(invert_tiled)
{
    (void)scratch;
    const smp_view *in = &io->in, *out = &io->out;
    if (in->format == SMP_F32 && out->format != SMP_F32) {
        smp_point_rows(io, params, y0, y1, invert_block);
        return;
    }
    int64_t n = in->width * in->channels;
    for (int64_t y = y0; y < y1; y++) {
        void *to = smp_row(out, y);
        const void *from = smp_row(in, y);
        SMP_BY_FORMATS(out->format, in->format, invert_row, to, from, n, in->white);
        if (in->alpha)
            for (int64_t i = in->channels - 1; i < n; i += in->channels)
                smp_store(to, i, out->format, smp_load(from, i, in->format));
    }
}
