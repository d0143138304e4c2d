/* to_format: to another storage or full scale; the planner inserts it where a file needs one. */
#include "stages/shared/samples/format_change.h"
#include "stages/stage.h"

static const char *const formats[] = {"u8", "u16", "f32", NULL}; /* as smp_format */

static const smp_param table[] = {
    {"format", offsetof(smp_convert_params, format), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, NULL, "u8, u16 or f32", formats,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const smp_convert_params *p = params;
    smp_convert_plan((smp_format)p->format, in, work);
    return SMP_OK;
}

const smp_stage smp_stage_to_format = {
    .name = "to_format",
    .help = "store samples in another format",
    .about = "out = in * (white_out / white_in) in code values, white being 255, 65535 or 1: 8 to 16 bits is v * 257, "
             "16 to 8 bits (v * 255 + 32895) >> 16, to float v / white, from float v * white rounded to nearest even "
             "and clamped. Where the output has no alpha channel the last channel is dropped.",
    .example = "to_format u8",
    SMP_PLANNED(SMP_BOTH, SMP_POINT, table, smp_convert_params, smp_convert_variants),
    .traits = SMP_TRAIT_INTERNAL,
    .role = SMP_ROLE_CONVERT,
};
