/* Running one file, or a picture in memory: opens reader, writers and streams round a runner. See exec.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "exec/exec.h"
#include "exec/runner.h"

typedef struct output { /* one sink's file */
    char *path;         /* owned; null for the main output */
    smp_writer *writer;
    smp_stream *stream;
} output;

static smp_code accepts(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    (void)context;
    return smp_writer_shape(path, shape, out, err);
}

/* Where a failure while running happened: the stage's place in the pipe text. */
static smp_code blame_step(const smp_run_request *request, const smp_plan *plan, int step, smp_code code, smp_error *err)
{
    if (!code || step < 0 || !err || code == SMP_E_INTERRUPTED || code == SMP_E_TERMINATED)
        return code;
    int node = plan->steps[step].node, line = 0, column = 0;
    if (node < 0 || !request->diags)
        return code;
    smp_span span = request->program->nodes[node].span;
    smp_diags_locate(request->diags, span, &line, &column);
    smp_at(err, "%s:%d:%d", request->diags->sources[span.source].name, line, column);
    return code;
}

static void locate_steps(const smp_run_request *request, smp_run_report *report)
{
    for (size_t i = 0; i < report->step_count; i++) {
        int node = report->steps[i].node, column;
        if (node < 0)
            continue;
        const smp_node *from = &request->program->nodes[node];
        if (request->diags)
            smp_diags_locate(request->diags, from->span, &report->steps[i].line, &column);
        if (from->name)
            snprintf(report->steps[i].name, sizeof report->steps[i].name, "%s", from->name);
    }
}

static smp_code make_plan(const smp_run_request *request, const smp_media *media, smp_plan **plan, smp_error *err)
{
    smp_plan_request ask = {
        .program = request->program,
        .input = media->shape,
        .orientation = media->orientation,
        .output = request->output,
        .accepts = accepts,
        .plain_storage = request->plain_storage,
    };
    return smp_plan_make(&ask, request->diags, plan, err);
}

/* `save` writes beside the main output: the paths in a pipeline are relative to the output's folder. */
static smp_code save_path(const char *beside, const char *name, char **out, smp_error *err)
{
    const char *slash = strcmp(beside, "-") ? strrchr(beside, '/') : NULL;
    *out = slash ? smp_asprintf("%.*s/%s", (int)(slash - beside), beside, name) : smp_strdup(name);
    return *out ? SMP_OK : smp_fail_memory(err, "a path", strlen(name));
}

/* Two outputs with one name would overwrite each other. */
static smp_code check_distinct(const smp_run_request *request, const smp_plan *plan, const output *outputs, smp_error *err)
{
    for (size_t i = 0; i < plan->sink_count; i++)
        for (size_t k = 0; k < i; k++) {
            const char *a = outputs[i].path ? outputs[i].path : request->output;
            const char *b = outputs[k].path ? outputs[k].path : request->output;
            if (!strcmp(a, b))
                return smp_fail(err, SMP_E_USAGE, "two outputs have the same name: %s", a);
        }
    return SMP_OK;
}

static smp_code open_outputs(const smp_run_request *request, const smp_plan *plan, const smp_media *media, output *outputs,
                             smp_error *err)
{
    const char *inputs[] = {request->input, NULL};
    smp_write_options options = request->write;
    options.inputs = inputs;
    if (request->device->host_memory) /* --threads holds for compressing too */
        options.threads = request->device->info.units;
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < plan->sink_count; i++)
        if (plan->sinks[i].save >= 0)
            code = save_path(request->output, plan->sinks[i].path, &outputs[i].path, err);
    if (!code)
        code = check_distinct(request, plan, outputs, err);
    for (size_t i = 0; !code && i < plan->sink_count; i++) {
        const char *path = outputs[i].path ? outputs[i].path : request->output;
        code = smp_writer_open(path, &plan->sinks[i].shape, options.strip ? NULL : &media->meta, &options, &outputs[i].writer, err);
    }
    return code;
}

/* Rows that the reader decodes at a time: about 1 MB, so that it runs ahead in small steps. */
static int64_t source_slot(const smp_shape *shape, int64_t strip_rows)
{
    enum { SLOT_BYTES = 1 << 20 };
    int64_t row = shape->width * shape->channels * smp_sample_size((int)shape->format);
    return smp_max_i64(1, smp_min_i64(strip_rows, smp_max_i64(1, SLOT_BYTES / row)));
}

/* Runs the plan between reader and writers; ports and streams live only here. */
static smp_code stream_through(const smp_run_request *request, const smp_plan *plan, smp_reader *reader, output *outputs,
                               smp_run_report *report, smp_error *err)
{
    int64_t strip_rows = smp_strip_rows(plan, request->device, request->strip_rows);
    smp_port source = {0};
    smp_port *sinks = smp_alloc_array(plan->sink_count, sizeof *sinks);
    int failed = SMP_STEP_NONE;
    smp_code code = sinks ? SMP_OK : smp_fail_memory(err, "outputs", plan->sink_count * sizeof *sinks);
    if (!code)
        code = smp_stream_read(reader, source_slot(&plan->steps[0].out, strip_rows), &source.stream, err);
    for (size_t i = 0; !code && i < plan->sink_count; i++) {
        code = smp_stream_write(outputs[i].writer, &plan->sinks[i].shape, strip_rows, &outputs[i].stream, err);
        sinks[i].stream = outputs[i].stream;
    }
    if (!code) {
        smp_runner_setup setup = {
            .plan = plan,
            .device = request->device,
            .variant = request->variant,
            .strip_rows = request->strip_rows,
            .source = &source,
            .sinks = sinks,
            .progress = request->progress,
            .progress_context = request->progress_context,
        };
        code = smp_runner_run(&setup, report, &failed, err);
        if (failed > 0 && plan->steps[failed].job != SMP_JOB_SOURCE)
            blame_step(request, plan, failed, code, err);
    }
    smp_error late = {0};
    smp_stream_close(source.stream, code != SMP_OK, &report->read_seconds, &late);
    for (size_t i = 0; i < plan->sink_count; i++) {
        smp_code ended = smp_stream_close(outputs[i].stream, code != SMP_OK, &report->write_seconds, &late);
        if (!code && ended) {
            code = ended;
            if (err)
                *err = late;
        }
    }
    smp_free(sinks);
    return code;
}

static smp_code commit_all(const smp_plan *plan, output *outputs, smp_run_report *report, smp_error *err)
{
    smp_code code = SMP_OK;
    double start = smp_now();
    for (size_t i = plan->sink_count; !code && i-- > 0;) { /* the main output, [0], last: it says that all is done */
        code = smp_writer_commit(outputs[i].writer, err);
        outputs[i].writer = NULL;
    }
    report->write_seconds += smp_now() - start;
    return code;
}

smp_code smp_run_file(const smp_run_request *request, smp_run_report *report, smp_error *err)
{
    *report = (smp_run_report){.input = request->input, .output = request->output};
    double start = smp_now();
    smp_reader *reader = NULL;
    smp_plan *plan = NULL;
    output *outputs = NULL;
    size_t output_count = 0;
    struct stat info;
    smp_error local = {0};
    if (!err)
        err = &local;
    smp_alloc_limit(request->limits.max_memory);
    report->device = request->device->info;
    report->threads = request->device->info.units;

    smp_code code = smp_reader_open(request->input, &request->limits, &reader, err);
    if (code)
        goto done;
    const smp_media *media = smp_reader_media(reader);
    report->input_bytes = strcmp(request->input, "-") && !stat(request->input, &info) ? (uint64_t)info.st_size : 0;
    smp_shape_text(&media->shape, media->shape.format, report->shape_in, sizeof report->shape_in);
    report->read_seconds = smp_now() - start;
    if ((code = make_plan(request, media, &plan, err)))
        goto done;
    outputs = smp_alloc_array(plan->sink_count, sizeof *outputs);
    if (!outputs) {
        code = smp_fail_memory(err, "outputs", plan->sink_count * sizeof *outputs);
        goto done;
    }
    output_count = plan->sink_count;
    if (output_count)
        smp_shape_text(&plan->sinks[0].shape, plan->sinks[0].shape.format, report->shape_out, sizeof report->shape_out);
    if ((code = open_outputs(request, plan, media, outputs, err)))
        goto done;
    code = stream_through(request, plan, reader, outputs, report, err);
    locate_steps(request, report);
    if (!code)
        code = commit_all(plan, outputs, report, err);

done:
    for (size_t i = 0; i < output_count; i++) {
        smp_writer_abort(outputs[i].writer);
        smp_free(outputs[i].path);
    }
    smp_free(outputs);
    smp_plan_free(plan);
    smp_reader_close(reader);
    report->status = code;
    if (code)
        snprintf(report->error, sizeof report->error, "%s", err->message);
    report->peak_bytes = smp_alloc_peak();
    report->wall_seconds = smp_now() - start;
    return code;
}

smp_code smp_plan_file(const smp_run_request *request, smp_plan **out, smp_error *err)
{
    smp_reader *reader;
    *out = NULL;
    smp_code code = smp_reader_open(request->input, &request->limits, &reader, err);
    if (!code)
        code = make_plan(request, smp_reader_media(reader), out, err);
    smp_reader_close(reader);
    return code;
}

smp_code smp_run_memory(const smp_plan *plan, smp_device *device, const char *variant, int64_t strip_rows, const smp_view *in,
                        const smp_view *out, smp_run_report *report, smp_error *err)
{
    *report = (smp_run_report){.device = device->info, .threads = device->info.units};
    double start = smp_now();
    smp_port source = {.view = *in}, sink = {0};
    int failed;
    if (plan->sink_count > 1)
        return smp_fail(err, SMP_E_PROCESS, "a run in memory has one output, the plan has %zu", plan->sink_count);
    if (plan->sink_count)
        sink.view = *out;
    smp_runner_setup setup = {.plan = plan, .device = device, .variant = variant, .strip_rows = strip_rows, .source = &source, .sinks = &sink};
    smp_code code = smp_runner_run(&setup, report, &failed, err);
    report->status = code;
    report->wall_seconds = smp_now() - start;
    return code;
}
