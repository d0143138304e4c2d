/* What the stages that apply a tone curve share: one pair of kernels, told by its parameters which curve. */
#include <string.h>

#include "base/alloc.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/tone.h"

const smp_variant smp_tone_variants[] = {
    {.name = "naive",
     .help = "sample by sample, always computed",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(tone_curve_naive), .cuda = "tone_curve_naive"}}},
    {.name = "tiled",
     .help = "8-bit samples by table, others computed in vectorised blocks",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(tone_curve_tiled),
                   .cuda = "tone_curve_tiled",
                   .geometry = smp_geometry_tables}}},
    {0},
};

smp_code smp_tone_plan(smp_tone_curve curve, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    memcpy(work->kernel, &curve, sizeof curve);
    work->kernel_size = sizeof curve;
    work->ops = 45;
    work->op = (smp_sample_op){
        .kind = SMP_SAMPLE_OP_CURVE, .what = curve.kind, .white = smp_white(in->format), .a = curve.exponent};
    if (in->format != SMP_U8)
        return SMP_OK;
    float *table = smp_alloc_array(SMP_TONE_CURVE_TABLE, sizeof *table);
    if (!table)
        return smp_fail_memory(err, "a table", SMP_TONE_CURVE_TABLE * sizeof *table);
    for (int i = 0; i < SMP_TONE_CURVE_TABLE; i++)
        table[i] = smp_tone_curve_value(curve.kind, curve.exponent, (float)i, smp_white(SMP_U8));
    work->table = table;
    work->table_size = SMP_TONE_CURVE_TABLE * sizeof *table;
    return SMP_OK;
}
