/* What the stages that change the format share: one pair of kernels, which the views tell what to do. */
#include "stages/shared/format_change.h"
#include "elementwise/convert.h"
#include "stages/shared/launch_shapes.h"

static void geometry_tiled(const smp_io *io, const void *params, smp_grid *grid)
{
    if (io->in.channels == io->out.channels)
        smp_geometry_packs(io, params, grid);
    else
        smp_geometry_pixel_tiles(io, params, grid);
}

const smp_variant smp_convert_variants[] = {
    {.name = "naive",
     .help = "sample by sample",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(convert_naive),
                   .cuda = "convert_naive",
                   .geometry = smp_geometry_pixels}}},
    {.name = "tiled",
     .help = "vectorised rows, integer arithmetic between integer formats",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(convert_tiled),
                   .cuda = "convert_tiled",
                   .geometry = geometry_tiled}}},
    {0},
};

void smp_convert_plan(smp_format format, const smp_shape *in, smp_node_plan *work)
{
    work->out.format = format;
    /* Fewer bits round; to float and back is arithmetic. */
    bool exact = format == in->format || (in->format == SMP_U8 && format == SMP_U16);
    work->exactness = exact ? SMP_INTEGER : SMP_REAL;
    work->ops = 1;
    work->op = (smp_sample_op){
        .kind = SMP_SAMPLE_OP_CONVERT, .with_alpha = 1, .white = smp_white(in->format), .a = smp_white(format)};
}
