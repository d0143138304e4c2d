/* What the stages that apply a tone curve share: one pair of kernels, told by its parameters which curve. */
#include <string.h>

#include "base/alloc.h"
#include "stages/geometry.h"
#include "stages/tone.h"

const smp_variant smp_tone_variants[] = {
    {.name = "naive",
     .help = "sample by sample, always computed",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(curve_naive), .cuda = "curve_naive"}}},
    {.name = "tiled",
     .help = "8-bit samples by table, others computed in vectorised blocks",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(curve_tiled),
                   .cuda = "curve_tiled",
                   .geometry = smp_geometry_tables}}},
    {0},
};

smp_code smp_tone_plan(smp_curve curve, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    memcpy(work->kernel, &curve, sizeof curve);
    work->kernel_size = sizeof curve;
    work->ops = 45;
    work->map = (smp_map_op){
        .kind = SMP_MAP_CURVE, .what = curve.kind, .white = smp_white(in->format), .a = curve.exponent};
    if (in->format != SMP_U8)
        return SMP_OK;
    float *table = smp_alloc_array(SMP_CURVE_TABLE, sizeof *table);
    if (!table)
        return smp_fail_memory(err, "a table", SMP_CURVE_TABLE * sizeof *table);
    for (int i = 0; i < SMP_CURVE_TABLE; i++)
        table[i] = smp_curve_value(curve.kind, curve.exponent, (float)i, smp_white(SMP_U8));
    work->table = table;
    work->table_size = SMP_CURVE_TABLE * sizeof *table;
    return SMP_OK;
}
