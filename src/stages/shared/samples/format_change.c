/* Shared by stages that change the format: one pair of kernels, which convert between the formats of their views. */
#include "stages/shared/samples/format_change.h"
#include "stages/shared/samples/elementwise.h"

static void geometry_tiled(const smp_io *io, const void *params, smp_grid *grid)
{
    if (io->in.channels == io->out.channels)
        smp_geometry_packs(io, params, grid);
    else
        smp_geometry_pixel_tiles(io, params, grid);
}

SMP_TWO_VARIANTS(convert, "vectorised rows, integer arithmetic between integer formats", smp_geometry_pixels,
                 geometry_tiled);

void smp_convert_plan(smp_format format, const smp_shape *in, smp_node_plan *work)
{
    work->out.format = format;
    /* Fewer bits round; to float and back is arithmetic. */
    bool exact = format == in->format || (in->format == SMP_U8 && format == SMP_U16);
    work->values.exactness = exact ? SMP_INTEGER : SMP_REAL;
    work->ops = 1;
    work->values.op = SMP_SAMPLE_OP(convert, smp_white(in->format), smp_white(format));
    work->values.op.with_alpha = 1;
}
