/* invert on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  row by row, one loop a format so that the compiler vectorises it; alpha is put back afterwards.
 * A point stage moves every byte twice and computes almost nothing: memory bandwidth is its bound. */
#include "invert.h"

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
                smp_store(smp_row(&io->out, y), x * channels + c, io->out.format, v);
            }
}

/* One row from one format to another; formats are constants after inlining. */
SMP_INLINE void invert_row(void *restrict out, int out_format, const void *restrict in, int in_format, int64_t n,
                           float white)
{
    for (int64_t i = 0; i < n; i++)
        smp_store(out, i, out_format, smp_invert(smp_load(in, i, in_format), white));
}

SMP_CPU_KERNEL(invert_tiled)
{
    (void)params, (void)scratch;
    const smp_view *in = &io->in, *out = &io->out;
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
