/* join on CPUs.
 *   naive  pixel by pixel.
 *   tiled  a run at a time: of the same format and channels it is one copy. */
#include "geometry/join.h"

#include <string.h>

#include "lib/elementwise.h"

SMP_CPU_KERNEL(join_naive)
{
    const smp_join *p = params;
    const int channels = io->out.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++) {
            const smp_join_source at = smp_join_source_of(io, p, x, y);
            for (int c = 0; c < channels; c++)
                smp_put(io, smp_row(&io->out, y), x * channels + c, smp_join_sample(io, p, &at, 0, c, io->in.format));
        }
}

/* n pixels of a run to `to`, through blocks of floats. */
static void join_block(const smp_io *io, const smp_join *p, const smp_join_source *at, char *to, int64_t n)
{
    const int channels = io->out.channels;
    const int64_t block = SMP_BLOCK / channels, size = channels * smp_sample_size(io->out.format);
    float made[SMP_BLOCK] __attribute__((aligned(64)));
    for (int64_t x = 0; x < n; x += block) {
        const int64_t some = n - x < block ? n - x : block;
        for (int64_t i = 0; i < some; i++)
            for (int c = 0; c < channels; c++)
                made[i * channels + c] = smp_join_sample(io, p, at, x + i, c, io->in.format);
        smp_store_row(to + x * size, io->out.format, made, some * channels, io->clipped);
    }
}

SMP_CPU_KERNEL(join_tiled)
{
    const smp_join *p = params;
    const smp_view *by = &io->second;
    const int64_t size = io->out.channels * smp_sample_size(io->out.format);
    const int alike = by->format == io->out.format && by->channels == io->out.channels && p->scale == 1.f &&
                      by->alpha == io->in.alpha;
    for (int64_t y = y0; y < y1; y++) {
        char *to = smp_row(&io->out, y);
        for (int64_t x = 0, run; x < io->out.width; x += run, to += run * size) {
            const smp_join_source at = smp_join_source_of(io, p, x, y);
            run = at.run;
            if (at.from == 1 && io->in.format == io->out.format)
                memcpy(to, (const char *)smp_row(&io->in, at.y) + at.x * size, (size_t)(run * size));
            else if (at.from == 2 && alike)
                memcpy(to, (const char *)smp_row(by, at.y) + at.x * size, (size_t)(run * size));
            else
                join_block(io, p, &at, to, run);
        }
    }
}
