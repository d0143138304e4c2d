/* trim on the CPU.
 *   naive  sample by sample.
 *   tiled  packed rows in one copy. */
#include <string.h>

#include "audio/trim.h"
#include "lib/elementwise.h"

static void naive_rows(const smp_io *io, int64_t shift, int64_t y0, int64_t y1)
{
    const smp_io moved = smp_trim_io(io, shift);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->out.width * io->out.channels; i++)
            ((float *)smp_row(&io->out, y))[i] = ((const float *)smp_row(&moved.in, y))[i];
}

static void tiled_rows(const smp_io *io, int64_t shift, int64_t y0, int64_t y1)
{
    const smp_io moved = smp_trim_io(io, shift);
    const int64_t rows = smp_joined_rows(&moved, y0, y1);
    const size_t bytes = (size_t)(io->out.width * io->out.channels * rows) * sizeof(float);
    for (int64_t y = y0; y < y1; y += rows)
        memcpy(smp_row(&io->out, y), smp_row(&moved.in, y), bytes);
}

SMP_INLINE void each_span(const smp_io *io, const smp_trim *p, int64_t y0, int64_t y1,
                          void (*rows)(const smp_io *io, int64_t shift, int64_t y0, int64_t y1))
{
    const smp_row_span *spans = io->table;
    if (!p->spans) {
        rows(io, p->start, y0, y1);
        return;
    }
    for (int32_t k = smp_row_span_of(spans, p->spans, y0); y0 < y1; k++) {
        const int64_t end = k + 1 < p->spans && spans[k + 1].at < y1 ? spans[k + 1].at : y1;
        rows(io, spans[k].from - spans[k].at, y0, end);
        y0 = end;
    }
}

SMP_CPU_KERNEL(trim_naive)
{
    each_span(io, params, y0, y1, naive_rows);
}

SMP_CPU_KERNEL(trim_tiled)
{
    each_span(io, params, y0, y1, tiled_rows);
}
