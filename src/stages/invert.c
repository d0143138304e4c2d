/* invert: the negative of a picture. */
#include "elementwise/invert.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)params, (void)by, (void)err;
    work->exactness = SMP_INTEGER;
    work->ops = 1;
    work->op = (smp_sample_op){.kind = SMP_SAMPLE_OP_NEGATIVE, .white = smp_white(in->format)};
    return SMP_OK;
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "sample by sample",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(invert_naive), "invert_naive", NULL}}},
    {.name = "tiled",
     .help = "vectorised rows",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(invert_tiled), "invert_tiled", smp_geometry_tables}}},
    {0},
};

const smp_stage smp_stage_invert = {
    .name = "invert",
    .help = "negative: full scale minus every sample",
    .about = "out = white - in on every channel but alpha; white is 255, 65535 or 1.",
    .example = "invert",
    .domain = SMP_IMAGE, /* of a sound, it would be the sound around 1 */
    .access = SMP_POINT,
    .keeps_alpha = true,
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"negate", "invert"}, {"negative", "invert"}, {0}},
};
