/* pad on CPUs: gather.h has the loops. Rows that lie end to end, and are not widened, go in one copy: sound. */
#include "geometry/pad.h"

SMP_GATHER_FILL_CPU(pad, smp_pad_source, smp_pad_fill)

SMP_CPU_KERNEL(pad_rows)
{
    const smp_pad *p = params;
    const int64_t bytes = io->out.width * io->out.channels * smp_sample_size(io->out.format);
    int64_t first = p->top > y0 ? p->top : y0, end = p->top + io->in.height < y1 ? p->top + io->in.height : y1;
    (void)scratch;
    if (io->in.format != io->out.format || io->in.width != io->out.width || io->in.stride != bytes ||
        io->out.stride != bytes || first >= end)
        first = end = y1; /* no row goes this way */
    gather_tiled(io, params, smp_pad_source, smp_pad_fill, y0, first);
    if (first < end)
        memcpy(smp_row(&io->out, first), smp_row(&io->in, first - p->top), (size_t)((end - first) * bytes));
    gather_tiled(io, params, smp_pad_source, smp_pad_fill, end, y1);
}
