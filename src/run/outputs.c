/* The files of a run's sinks: opened before the first row, put in place behind the last. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "run/run_internal.h"

/* Adds to a failure which line of the pipeline saves the file. */
static void blame_save(const smp_run_request *request, const smp_sink *sink, smp_error *err)
{
    int line, column;
    char hint[sizeof err->hint];
    if (sink->save < 0 || !request->diags || !err)
        return;
    const smp_span span = request->program->saves[sink->save].span;
    smp_diags_locate(request->diags, span, &line, &column);
    memcpy(hint, err->hint, sizeof hint);
    smp_hint(err, "%.200s%sline %d of %.60s saves it", hint, hint[0] ? "; " : "", line,
             request->diags->sources[span.source].name);
}

smp_code smp_run_open_outputs(const smp_run_request *request, const smp_plan *plan, const smp_media *media,
                              smp_run_output *outputs, smp_run_report *report, smp_error *err)
{
    smp_write_options options;
    smp_code code = smp_run_write_options(request, report, &options, err);
    options.sound.live = smp_run_is_live(plan, media);
    options.sound.open_end = media->open_end;
    code = code ? code : smp_run_name_outputs(request, plan, outputs, err);
    for (size_t i = 0; !code && i < plan->sink_count; i++) {
        const char *path = outputs[i].path ? outputs[i].path : request->output;
        options.output.beneath = outputs[i].beneath.name ? &outputs[i].beneath : NULL;
        code =
            smp_run_open_output(plan, &plan->sinks[i], path, &media->meta, &options, report, &outputs[i].writer, err);
        if (code)
            blame_save(request, &plan->sinks[i], err);
    }
    smp_free((void *)(uintptr_t)options.output.inputs);
    return code;
}

/* A disk takes some milliseconds for each file that it is asked to make safe, or as long for all of them. */
static smp_code sync_together(const smp_run_request *request, const smp_run_output *outputs, size_t count,
                              smp_error *err)
{
    enum { MANY = 16 };
    if (count < MANY || request->write.output.lazy_sync)
        return SMP_OK;
    smp_writer **writers = smp_alloc_array(count, sizeof *writers);
    SMP_NEED(writers, "outputs", count * sizeof *writers, err);
    for (size_t i = 0; i < count; i++)
        writers[i] = outputs[i].writer;
    smp_code code = smp_writers_sync(writers, count, err);
    smp_free(writers);
    return code;
}

smp_code smp_run_commit(const smp_run_request *request, const smp_plan *plan, smp_run_output *outputs,
                        smp_run_report *report, smp_error *err)
{
    double start = smp_now();
    smp_code code = sync_together(request, outputs, plan->sink_count, err);
    for (size_t i = plan->sink_count; !code && i-- > 0;) { /* [0], the main output, last: then all are complete */
        if ((code = smp_writer_finish(outputs[i].writer, err)))
            break;
        report->output_clipped += smp_writer_clipped(outputs[i].writer);
        smp_notes_add(&report->output_notes, smp_writer_notes(outputs[i].writer));
        code = smp_writer_commit(outputs[i].writer, err);
        outputs[i].writer = NULL;
    }
    report->write_seconds += smp_now() - start;
    return code;
}
