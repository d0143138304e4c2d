/* Outputs that are sounds: tags that say how loud the input is (ReplayGain) are wrong of a sound that was changed. */
#include <math.h>

#include "base/alloc.h"
#include "run/run_internal.h"

/* Whether steps between the input and an output may have made a sound louder or softer, or another one. */
static bool changes_level(const smp_plan *plan, const smp_sink *sink)
{
    const smp_step *step = &plan->steps[sink->step];
    for (; step->job != SMP_JOB_SOURCE; step = &plan->steps[step->input]) {
        const bool keeps = step->work.values.exactness == SMP_MOVE ||
                           (step->stage && smp_stage_is(step->stage, SMP_TRAIT_SAME_LEVEL)) ||
                           smp_run_is_form(step, false) || (step->job == SMP_JOB_REDUCE && !step->part_count);
        if (!keeps || step->second >= 0)
            return true;
    }
    return step->file != NULL;
}

/* Whether they may have moved what is where in it. A rate alone moves nothing: its frames are rounded to whole ones. */
static bool changes_times(const smp_plan *plan, const smp_sink *sink)
{
    const smp_step *step = &plan->steps[sink->step];
    for (; step->job != SMP_JOB_SOURCE; step = &plan->steps[step->input])
        if (step->work.values.exactness == SMP_MOVE ||
            fabs((double)step->in.height * step->out.rate - (double)step->out.height * step->in.rate) >= step->in.rate)
            return true;
    return step->file != NULL;
}

smp_code smp_run_open_sound(const smp_plan *plan, const smp_sink *sink, const char *path, const smp_meta *meta,
                            const smp_write_options *options, smp_run_report *report, smp_writer **writer,
                            smp_error *err)
{
    smp_meta changed;
    const bool level = changes_level(plan, sink), times = changes_times(plan, sink);
    if (!level && !times)
        return smp_writer_open(path, &sink->shape, meta, options, writer, err);
    SMP_NEED(smp_meta_copy(&changed, meta), "metadata", sizeof changed, err);
    const size_t dropped = level ? smp_meta_drop_levels(&changed) : 0,
                 moved = times ? smp_meta_drop_times(&changed) : 0;
    if (dropped && !options->strip)
        smp_note(&report->output_notes,
                 "%zu tag%s of its loudness (ReplayGain, R 128) %s left out: stages changed its samples", dropped,
                 dropped == 1 ? "" : "s", dropped == 1 ? "is" : "are");
    if (moved && !options->strip)
        smp_note(&report->output_notes,
                 "what its tags say about times (chapters, timed lyrics) is left out: stages moved its samples");
    const smp_code code = smp_writer_open(path, &sink->shape, &changed, options, writer, err);
    smp_meta_free(&changed);
    return code;
}
