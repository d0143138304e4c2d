/* Ways round decoding a whole picture: at a smaller size, where it is scaled down anyway and --fast-decode allows it;
 * and not at all, where no stage changes it and the output has the input's format. */
#include "run/shortcuts.h"

#include <string.h>

#include "base/alloc.h"
#include "pipe/diag.h"
#include "run/run_internal.h"

/* ------------------------------------------------------------------------------------------------ smaller */

/* Whether a smaller copy of the input would do: every step that reads the picture in its own size converts or turns it,
 * or scales it, and none is scaled up. */
static bool may_shrink(const smp_plan *plan)
{
    bool *whole = smp_alloc_array(plan->step_count, sizeof *whole), good = whole != NULL, scaled = false;
    for (size_t i = 0; good && i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->job == SMP_JOB_SOURCE) {
            whole[i] = !step->path;
            continue;
        }
        if (!whole[step->input] && !(step->second >= 0 && whole[step->second]))
            continue;
        const bool scales = step->stage && step->stage->rescales && !step->part_count;
        whole[i] = !scales;
        scaled |= scales;
        good = scales ? step->out.width <= step->in.width && step->out.height <= step->in.height
                      : step->job == SMP_JOB_STAGE && smp_run_is_form(step, true);
    }
    for (size_t i = 0; good && i < plan->sink_count; i++)
        good = !whole[plan->sinks[i].step];
    smp_free(whole);
    return good && scaled;
}

/* Whether a plan for a smaller input gives outputs of the same size, and scales nothing up to that end. */
static bool gives_the_same(const smp_plan *whole, const smp_plan *small)
{
    bool same = whole->sink_count == small->sink_count;
    for (size_t i = 0; same && i < whole->sink_count; i++)
        same = whole->sinks[i].shape.width == small->sinks[i].shape.width &&
               whole->sinks[i].shape.height == small->sinks[i].shape.height;
    for (size_t i = 0; same && i < small->step_count; i++) {
        const smp_step *step = &small->steps[i];
        same = !step->stage || !step->stage->rescales ||
               (step->out.width <= step->in.width && step->out.height <= step->in.height);
    }
    return same;
}

int smp_run_shrink(const smp_run_request *request, const smp_media *media)
{
    enum { MOST = 8 };
    smp_diags unsaid = {0}; /* the plan that is run says what is to be said */
    smp_error none = {.code = SMP_OK};
    smp_run_request quiet = *request;
    smp_plan *whole = NULL;
    int found = 0;
    quiet.diags = &unsaid;
    quiet.cache = NULL;
    const bool tries = request->limits.fast_decode && media->shrinks && strcmp(request->input, "-") != 0 &&
                       !smp_run_plan(&quiet, media, &whole, &none) && may_shrink(whole);
    for (int by = MOST; tries && by > 1 && !found; by /= 2) {
        smp_media small = *media;
        smp_plan *plan = NULL;
        small.shape.width = (media->shape.width + by - 1) / by;
        small.shape.height = (media->shape.height + by - 1) / by;
        if (!smp_run_plan(&quiet, &small, &plan, &none) && gives_the_same(whole, plan))
            found = by;
        smp_plan_free(plan);
    }
    smp_plan_free(whole);
    smp_diags_free(&unsaid);
    return found;
}

/* ------------------------------------------------------------------------------------------------ not at all */

bool smp_run_copies(const smp_run_request *request, const smp_plan *plan, const smp_media *media)
{
    const smp_write_options *write = &request->write;
    return media->copies && plan->step_count == 1 && plan->sink_count == 1 && plan->sinks[0].save < 0 &&
           strcmp(request->input, "-") != 0 && smp_writer_is(request->output, write->format, media->file_format) &&
           !write->quality && !write->jpeg_quality && !write->jpeg_progressive &&
           write->jpeg_sampling == SMP_JPEG_AUTO && !write->lossless;
}

smp_code smp_run_copy(const smp_run_request *request, const smp_plan *plan, const smp_media *media,
                      smp_run_report *report, smp_error *err)
{
    smp_write_options options;
    smp_writer *writer = NULL;
    smp_code code = smp_run_write_options(request, report, &options, err);
    options.coded = &media->coded;
    if (!code)
        code =
            smp_run_open_output(plan, &plan->sinks[0], request->output, &media->meta, &options, report, &writer, err);
    smp_free((void *)(uintptr_t)options.inputs);
    if (code)
        return code;
    smp_notes_add(&report->output_notes, smp_writer_notes(writer));
    return smp_writer_commit(writer, err);
}
