/* Sounds that come through a pipe while somebody makes them: whether their length must be known first. */
#include <stdio.h>

#include "base/text/diag.h"
#include "pipe/plan/plan.h"
#include "run/run_internal.h"

/* Whether all outputs can be written before the sound's length is known. */
static bool outputs_may_be_open(const smp_run_request *request)
{
    bool open = smp_writer_open_ended(request->output, request->write.format);
    for (size_t i = 0; i < request->program->save_count; i++)
        open = open && smp_writer_open_ended(request->program->saves[i].path, request->write.format);
    return open;
}

/* Whether every step computes the same whatever the length. */
static bool streams(const smp_run_request *request, const smp_media *media)
{
    smp_diags unsaid = {0}; /* the plan that is run says what is to be said */
    smp_error none = {.code = SMP_OK};
    smp_run_request quiet = *request;
    smp_media half = *media;
    smp_plan *shorter = NULL, *longer = NULL;
    quiet.diags = &unsaid;
    half.shape.height /= 2;
    const bool same = outputs_may_be_open(request) && !smp_run_plan(&quiet, media, &longer, &none) &&
                      !smp_run_plan(&quiet, &half, &shorter, &none) && longer->prepass < 0 && shorter->prepass < 0 &&
                      smp_plans_agree(shorter, longer);
    smp_plan_free(shorter);
    smp_plan_free(longer);
    smp_diags_free(&unsaid);
    return same;
}

smp_code smp_run_settle(const smp_run_request *request, smp_reader **reader, smp_run_report *report, smp_error *err)
{
    const smp_media *media = smp_reader_media(*reader);
    if (!media->open_end || streams(request, media))
        return SMP_OK;
    snprintf(report->device_note, sizeof report->device_note,
             "the sound was read to its end first, since a stage or the output needs its length");
    return smp_reader_settle(reader, err);
}

bool smp_run_may_be_live(const smp_run_request *request)
{
    return request->output && !request->cache && !request->read.frames && !request->read.no_verify &&
           !smp_program_has_prepass(request->program);
}

bool smp_run_is_live(const smp_plan *plan, const smp_media *media)
{
    return media->live && plan->phases == 1;
}
