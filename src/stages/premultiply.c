/* premultiply: colour times alpha; the planner inserts it before stages that mix pixels. */
#include "elementwise/alpha.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)params, (void)by, (void)err;
    work->nothing = !in->alpha;
    work->ops = 2;
    return SMP_OK;
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "sample by sample",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(premultiply_naive),
                   .cuda = "premultiply_naive",
                   .geometry = smp_geometry_pixels}}},
    {.name = "tiled",
     .help = "vectorised blocks of pixels",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(premultiply_tiled),
                   .cuda = "premultiply_tiled",
                   .geometry = smp_geometry_pixel_tiles}}},
    {0},
};

const smp_stage smp_stage_premultiply = {
    .name = "premultiply",
    .help = "multiply colour by alpha",
    .about =
        "colour = colour * alpha / white; alpha stays. Mixing neighbours then weighs each colour by how much of it "
        "is seen, and hidden colour cannot bleed out (Porter and Duff, Compositing Digital Images, 1984).",
    .example = "premultiply",
    .domain = SMP_IMAGE,
    .internal = true,
    .role = SMP_ROLE_PREMULTIPLY,
    .access = SMP_POINT,
    .keeps_alpha = true,
    .plan = plan,
    .variants = variants,
};
