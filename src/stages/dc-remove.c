/* dc-remove: subtracts every channel's mean. */
#include "stages/shared/reduce/reduction_chunks.h"
#include "stages/shared/sound/gain_offset.h"

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_gain_offset_plan(1, work);
    work->values.clips = true;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = smp_chunk_bytes(in);
    return SMP_OK;
}

static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    for (int c = 0; c < in->channels; c++) {
        const smp_stats_chunk all = smp_chunks_fold(result, in, c);
        const double mean = all.count > 0 ? all.sum / (double)all.count : 0;
        smp_gain_offset_set(work, c, 1, -mean);
        SMP_TRY(smp_measurements_add(measurements, "dc", c, mean, err));
    }
    return SMP_OK;
}

const smp_stage smp_stage_dc_remove = {
    .name = "dc-remove",
    .help = "remove a constant offset: subtract every channel's mean",
    .about = "Measures the whole sound first. For an offset that drifts, see highpass.",
    .example = "dc-remove",
    .domain = SMP_AUDIO,
    .access = SMP_ADJUST,
    .plan = plan,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_chunk_variants),
    .variants = smp_gain_offset_variants,
    SMP_ALSO({"dcshift dc_remove dcblock", "dc-remove"}),
};
