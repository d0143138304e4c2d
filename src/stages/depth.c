/* depth: how many bits a sample of the result has. */
#include "stages/shared/samples/format_change.h"
#include "stages/stage.h"

typedef struct depth_params {
    int depth;
} depth_params;

static const char *const depths[] = {"8bit", "16bit", "float", NULL}; /* as smp_format */

static const smp_param table[] = {
    {"depth", offsetof(depth_params, depth), SMP_T_ENUM, SMP_UNIT_BIT, 0, 0, NULL,
     "8bit (0..255), 16bit (0..65535) or float (0..1)", depths, SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const depth_params *p = params;
    smp_convert_plan((smp_format)p->depth, in, work);
    work->effect.none = work->effect.already = (smp_format)p->depth == in->format;
    return SMP_OK;
}

const smp_stage smp_stage_depth = {
    .name = "depth",
    .help = "bits of a sample: 8bit, 16bit or float",
    .about =
        "Changes what full scale is: 255, 65535 or 1. 8 to 16 bits is v * 257, 16 to 8 bits the nearest of v / 257. "
        "Rounding happens once, at the end of the pipeline: `depth 8bit` before other stages does not make them "
        "work on fewer levels.",
    .example = "depth 16bit",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, depth_params, smp_convert_variants),
    SMP_ALSO({"bitdepth bits format", "depth 8bit"}, {"cast", "depth float"}),
};
