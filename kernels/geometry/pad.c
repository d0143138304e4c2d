/* pad on CPUs.
 *   naive  pixel by pixel (gather.h).
 *   tiled  the picture's part of a row is one copy, and borders of its own pixels come from the row just made. Rows
 * that lie end to end, and are not widened, go in one copy: sound. Where the format changes, as gather.h. */
#include "geometry/pad.h"
#include "lib/pixel_size.h"

SMP_GATHER_FILL_CPU(pad, smp_pad_source, smp_pad_fill)

/* Pixels x .. end-1 of an output row, whose part of the picture is there, from that part. */
SMP_INLINE void pad_side_as(const smp_io *io, const smp_pad *p, char *row, int64_t x, int64_t end, size_t size)
{
    for (; x < end; x++) {
        const int64_t from = p->left + smp_border(x - p->left, io->in.width, p->edge);
        memcpy(row + (size_t)x * size, row + (size_t)from * size, size);
    }
}

static void pad_side(const smp_io *io, const smp_pad *p, char *row, int64_t x, int64_t end, size_t size)
{
    if (x >= end)
        return;
    if (p->edge == SMP_ZERO || p->edge == SMP_CONSTANT) {
        gather_filled(io, p, smp_pad_fill, row + (size_t)x * size, end - x);
        return;
    }
    SMP_BY_PIXEL_SIZE(size, pad_side_as(io, p, row, x, end, N))
}

/* Output rows y0 .. y1-1, whose format is the input's. */
static void pad_rows_alike(const smp_io *io, const smp_pad *p, int64_t y0, int64_t y1)
{
    const size_t size = (size_t)(io->out.channels * smp_sample_size(io->out.format));
    for (int64_t y = y0; y < y1; y++) {
        const int64_t from = smp_border(y - p->top, io->in.height, p->edge), right = p->left + io->in.width;
        char *row = smp_row(&io->out, y);
        if (from < 0) {
            gather_filled(io, p, smp_pad_fill, row, io->out.width);
            continue;
        }
        memcpy(row + (size_t)p->left * size, smp_row(&io->in, from), (size_t)io->in.width * size);
        pad_side(io, p, row, 0, p->left, size);
        pad_side(io, p, row, right, io->out.width, size);
    }
}

SMP_CPU_KERNEL(pad_rows)
{
    const smp_pad *p = params;
    const int64_t bytes = io->out.width * io->out.channels * smp_sample_size(io->out.format);
    int64_t first = p->top > y0 ? p->top : y0, end = p->top + io->in.height < y1 ? p->top + io->in.height : y1;
    if (io->in.format != io->out.format) {
        gather_tiled(io, params, smp_pad_source, smp_pad_fill, y0, y1);
        return;
    }
    if (io->in.width != io->out.width || io->in.stride != bytes || io->out.stride != bytes || first >= end)
        first = end = y1; /* no row goes in one copy */
    pad_rows_alike(io, p, y0, first);
    if (first < end)
        memcpy(smp_row(&io->out, first), smp_row(&io->in, first - p->top), (size_t)((end - first) * bytes));
    pad_rows_alike(io, p, end, y1);
}
