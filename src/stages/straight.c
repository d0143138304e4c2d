/* straight: premultiplied colour divided by alpha; the planner inserts it after stages that mix pixels. */
#include "elementwise/alpha.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)params, (void)by, (void)err;
    work->nothing = !in->alpha;
    work->clips = true; /* colour above alpha */
    work->ops = 2;
    return SMP_OK;
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "sample by sample",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(straight_naive),
                   .cuda = "straight_naive",
                   .geometry = smp_geometry_pixels}}},
    {.name = "tiled",
     .help = "vectorised blocks of pixels",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(straight_tiled),
                   .cuda = "straight_tiled",
                   .geometry = smp_geometry_pixel_tiles}}},
    {0},
};

const smp_stage smp_stage_straight = {
    .name = "straight",
    .help = "divide colour by alpha",
    .about =
        "colour = colour * white / alpha, 0 where alpha is 0; alpha stays. Undoes premultiply: 8- and 16-bit colour "
        "comes back exactly where alpha is above 0.",
    .example = "straight",
    .domain = SMP_IMAGE,
    .internal = true,
    .role = SMP_ROLE_STRAIGHT,
    .access = SMP_POINT,
    .keeps_alpha = true,
    .plan = plan,
    .variants = variants,
};
