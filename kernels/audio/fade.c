/* fade on the CPU.
 *   naive  frame by frame: the definition.
 *   tiled  frames between the fades, mostly all of them, as one long row. */
#include "audio/fade.h"
#include "lib/elementwise.h"

SMP_INLINE void fade_frames(const smp_io *io, const smp_fade *p, int64_t y0, int64_t y1)
{
    for (int64_t y = y0; y < y1; y++) {
        const float factor = smp_fade_factor(p, y, io->in.height);
        for (int64_t i = 0; i < io->in.width * io->in.channels; i++)
            smp_put(io, smp_row(&io->out, y), i, smp_fade_sample(smp_load(smp_row(&io->in, y), i, SMP_F32), factor));
    }
}

SMP_CPU_KERNEL(fade_naive)
{
    fade_frames(io, params, y0, y1);
}

SMP_CPU_KERNEL(fade_tiled)
{
    const smp_fade *p = params;
    const int64_t height = io->in.height, last = height - p->out;
    const int64_t a = p->in < y0 ? y0 : p->in < y1 ? p->in : y1, b = last < a ? a : last < y1 ? last : y1;
    fade_frames(io, p, y0, a);
    const int64_t rows = smp_joined_rows(io, a, b), n = io->in.width * io->in.channels * rows;
    for (int64_t y = a; y < b; y += rows) {
        const float *restrict from = smp_row(&io->in, y);
        float *restrict to = smp_row(&io->out, y);
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_fade_sample(from[i], 1.f);
    }
    fade_frames(io, p, b, y1);
}
