/* Running one file, or a picture in memory: opens reader, writers and streams round a runner. See run.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "io/files/in_place.h"
#include "io/meta/orientation.h"
#include "run/cache.h"
#include "run/file_source.h"
#include "run/prepass.h"
#include "run/run.h"
#include "run/run_internal.h"
#include "run/strips/runner.h"
#include "run/strips/step.h"

void smp_run_blame(const smp_run_request *request, const smp_plan *plan, int failed, smp_code code, smp_error *err)
{
    if (!code || failed <= 0 || plan->steps[failed].job == SMP_JOB_SOURCE || !err || code == SMP_E_INTERRUPTED ||
        code == SMP_E_TERMINATED)
        return;
    int node = plan->steps[failed].node, line = 0, column = 0;
    if (code == SMP_E_DECODE || code == SMP_E_KILLED) { /* the pipeline is right, and the input holds nothing for it */
        smp_at(err, "%s", strcmp(request->input, "-") ? request->input : "standard input");
        return;
    }
    if (node < 0 || !request->diags)
        return;
    smp_span span = request->program->nodes[node].span;
    smp_diags_locate(request->diags, span, &line, &column);
    smp_at(err, "%s:%d:%d", request->diags->sources[span.source].name, line, column);
}

void smp_run_locate(const smp_run_request *request, smp_run_report *report)
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

/* Whether what a file's coded scan becomes is for elsewhere. */
static bool goes_elsewhere(const smp_run_request *request, const smp_media *media)
{
    return request->elsewhere && media->scan.shape.kind != SMP_KIND_NONE;
}

/* The plan for a file: the cache's, or a new one, which the cache then owns. *entry is null without a cache, and for
 * one that is given away. */
static smp_code find_plan(const smp_run_request *request, const smp_media *media, smp_cached_plan **entry,
                          smp_plan **plan, smp_error *err)
{
    *entry = request->cache && !goes_elsewhere(request, media) ? smp_cache_find(request->cache, media, request->output)
                                                               : NULL;
    if (*entry && request->program->draws) /* each file has a plan of its own */
        smp_cache_drop_plan(*entry);
    *plan = *entry ? (*entry)->plan : NULL;
    smp_code code = *plan ? SMP_OK : smp_run_plan(request, media, plan, err);
    if (*entry)
        (*entry)->plan = *plan;
    return code;
}

smp_code smp_run_write_options(const smp_run_request *request, smp_run_report *report, smp_write_options *options,
                               smp_error *err)
{
    const smp_program *program = request->program;
    size_t count = 0, files = 0;
    while (request->stack && request->stack[files])
        files++;
    const char **inputs = smp_alloc_array(files + program->file_count + 2, sizeof *inputs);
    *options = request->write;
    options->output.inputs = inputs;
    SMP_NEED(inputs, "outputs", program->file_count, err);
    inputs[count++] = request->input;
    for (size_t i = 0; i < files; i++)
        inputs[count++] = request->stack[i];
    for (size_t i = 0; i < program->file_count; i++)
        inputs[count++] = program->files[i].path;
    options->output.seconds = &report->output_seconds;
    if (request->device->host_memory) /* --threads holds for compressing too */
        options->threads = request->device->info.units;
    return SMP_OK;
}

/* Runs the plan between reader and writers, on threads of their own. Endpoints and streams live only here. */
static smp_code stream_through(const smp_run_request *request, smp_plan *plan, smp_reader *reader,
                               smp_run_output *outputs, smp_run_report *report, smp_error *err)
{
    int64_t strip_rows = smp_strip_rows(plan, request->device, request->strip_rows);
    smp_endpoint source = {0};
    smp_endpoint *sinks = smp_alloc_array(plan->sink_count, sizeof *sinks);
    int failed = SMP_STEP_NONE;
    const smp_media *media = smp_reader_media(reader);
    const bool live = smp_run_is_live(plan, media);
    smp_code code = sinks ? SMP_OK : smp_fail_memory(err, "outputs", plan->sink_count * sizeof *sinks);
    if (!code)
        code = (live ? smp_source_slots : smp_source_stream)(reader, plan, 0, request->device, strip_rows,
                                                             &source.stream, err);
    for (size_t i = 0; !code && i < plan->sink_count; i++) {
        code = smp_stream_write(outputs[i].writer, &plan->sinks[i].rows, strip_rows, request->device,
                                live ? source.stream : NULL, &outputs[i].stream, err);
        sinks[i].stream = outputs[i].stream;
    }
    if (!code) {
        smp_runner_setup setup = {
            .plan = plan,
            .device = request->device,
            .variant = request->variant,
            .read = &request->read,
            .strip_rows = request->strip_rows,
            .source = &source,
            .sinks = sinks,
            .live = live,
            .open = live && media->open_end ? plan : NULL,
            .notes = &report->output_notes,
            .progress = request->progress,
            .progress_context = request->progress_context,
            .partials = request->partials,
        };
        code = smp_runner_run(&setup, report, &failed, err);
        smp_run_blame(request, plan, failed, code, err);
    }
    smp_error late = {0};
    for (size_t i = 0; i < plan->sink_count; i++) {
        smp_code ended = smp_stream_close(outputs[i].stream, code != SMP_OK, &report->write_seconds, &late);
        if (!code && ended) {
            code = ended;
            if (err)
                *err = late;
        }
    }
    smp_stream_close(source.stream, true, &report->read_seconds, NULL); /* a trimmed sound is not read to its end */
    smp_free(sinks);
    return code;
}

/* A picture in memory of the process that decodes it (reader null: it is written), or else in a buffer of the cache. */
static smp_code buffer_view(smp_run_cache *cache, size_t index, smp_reader *reader, const smp_shape *shape,
                            smp_view *view, smp_error *err)
{
    size_t bytes;
    SMP_NEED(smp_run_view(shape, view, &bytes), "a picture or a sound", UINT64_MAX, err);
    if (reader && (view->data = smp_reader_shared(reader, bytes + SMP_ALIGN)))
        return SMP_OK;
    return smp_cache_buffer(cache, index, bytes, &view->data, err);
}

/* Whether a picture is so small that threads to overlap decoding, computing and encoding cost more than they save. */
static bool is_small(const smp_plan *plan)
{
    enum { SMALL = 4 << 20 }; /* bytes: of the input, and of all outputs together */
    int64_t in = 0, out = 0;
    const smp_shape *shape = &plan->steps[0].out;
    bool fits = smp_mul_i64(smp_row_stride(shape, shape->format), shape->height, &in) && in <= SMALL;
    for (size_t i = 0; fits && i < plan->sink_count; i++) {
        int64_t bytes;
        shape = &plan->sinks[i].rows;
        fits = smp_mul_i64(smp_row_stride(shape, shape->format), shape->height, &bytes) && bytes <= SMALL;
        out += fits ? bytes : 0;
    }
    return fits && out <= SMALL;
}

/* Reads, runs and writes a whole small picture in this thread, in buffers of the cache. */
static smp_code pass_through(const smp_run_request *request, smp_cached_plan *entry, smp_reader *reader,
                             smp_run_output *outputs, smp_run_report *report, smp_error *err)
{
    const smp_plan *plan = entry->plan;
    smp_endpoint source = {0}, *sinks = smp_alloc_array(plan->sink_count, sizeof *sinks);
    int failed = SMP_STEP_NONE;
    smp_code code = sinks ? SMP_OK : smp_fail_memory(err, "outputs", plan->sink_count * sizeof *sinks);
    code = code ? code : buffer_view(request->cache, 0, reader, &plan->steps[0].out, &source.view, err);
    for (size_t i = 0; !code && i < plan->sink_count; i++)
        code = buffer_view(request->cache, i + 1, NULL, &plan->sinks[i].rows, &sinks[i].view, err);
    double start = smp_now();
    int64_t rows = 0;
    code = code ? code : smp_rows_needed(plan, 0, &rows, err);
    request->cache->whole = !code && rows == plan->steps[0].out.height;
    if (!code && rows > 0)
        code = smp_reader_rows(reader, source.view.data, source.view.stride, rows, err);
    report->read_seconds += smp_now() - start;
    smp_runner_setup setup = {
        .plan = plan,
        .device = request->device,
        .read = &request->read,
        .variant = request->variant,
        .strip_rows = request->strip_rows,
        .source = &source,
        .sinks = sinks,
        .progress = request->progress,
        .progress_context = request->progress_context,
        .partials = request->partials,
    };
    if (!code && !entry->runner)
        code = smp_runner_open(&setup, &entry->runner, err);
    if (!code) {
        code = smp_runner_go(entry->runner, &setup, report, &failed, err);
        if (code)
            smp_cache_drop_runner(entry);
        smp_run_blame(request, plan, failed, code, err);
    }
    start = smp_now();
    for (size_t i = 0; !code && i < plan->sink_count; i++)
        code = smp_writer_rows(outputs[i].writer, sinks[i].view.data, sinks[i].view.stride, sinks[i].view.height, err);
    report->write_seconds += smp_now() - start;
    smp_free(sinks);
    return code;
}

/* A sound without end would fill the disk. */
static smp_code refuse_endless(const smp_run_request *request, smp_error *err)
{
    struct stat status;
    const bool standard = !strcmp(request->output, "-");
    if ((standard ? fstat(STDOUT_FILENO, &status) : stat(request->output, &status)) == 0 && !S_ISREG(status.st_mode))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "the sound never ends, and would fill the disk");
    return smp_hint(err, "give it a length, as in length=10s, or write to a pipe");
}

smp_code smp_run_open_input(const smp_run_request *request, const smp_read_options *how, smp_reader **reader,
                            smp_error *err)
{
    const smp_program *program = request->program;
    if (request->stack)
        return smp_reader_open_stack(request->stack, how, reader, err);
    if (!program->origin)
        return smp_reader_open(request->input, how, reader, err);
    SMP_TRY(smp_reader_open_made(program->origin, program->made_params, request->input, how, reader, err));
    return smp_reader_media(*reader)->open_end && request->output ? refuse_endless(request, err) : SMP_OK;
}

/* A file that is replaced: of several pictures or sounds one would be left, and a name may say another format. */
static smp_code check_in_place(const smp_run_request *request, smp_reader *reader, smp_error *err)
{
    const smp_media *media = smp_reader_media(reader);
    const smp_notes *notes = smp_reader_notes(reader);
    bool more = media->pages > 1;
    if (!request->write.output.in_place)
        return SMP_OK;
    for (int i = 0; i < notes->count; i++)
        more |= strstr(notes->items[i], SMP_FIRST_ALONE) || strstr(notes->items[i], SMP_SOUND_ALONE);
    if (!smp_name_of_format(request->output, media->file_format))
        return smp_fail(err, SMP_E_WRITE, "its content is %s, and by its name it would become %s", media->file_format,
                        smp_writer_format(request->output, NULL)),
               smp_hint(err, "rename it, or write -o DIR; it is left as it is");
    if (!more || request->write.output.in_place->backup)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "it holds %s would be left",
             media->shape.kind == SMP_AUDIO ? "more than a sound, which alone" : "several pictures, and one");
    return smp_hint(err, "write -o DIR, or --backup .orig, which keeps all of them");
}

/* Opens the input. What will be read again is kept first: *start is where it begins. */
static smp_code open_input(const smp_run_request *request, smp_reader **reader, int64_t *start, smp_error *err)
{
    *start = -1;
    if (!strcmp(request->input, "-") && smp_program_has_prepass(request->program))
        SMP_TRY(smp_prepass_keep_stdin(&request->read.limits, start, err));
    SMP_TRY(smp_run_open_input(request, &request->read, reader, err));
    return check_in_place(request, *reader, err);
}

static smp_code open_again(const smp_run_request *request, smp_reader **reader, int64_t start, smp_error *err)
{
    const smp_shape before = smp_reader_media(*reader)->shape;
    smp_reader_close(*reader);
    *reader = NULL;
    smp_code code = start >= 0 ? smp_prepass_rewind(start, err) : SMP_OK;
    code = code ? code : smp_run_open_input(request, &request->read, reader, err);
    if (!code && memcmp(&before, &smp_reader_media(*reader)->shape, sizeof before) != 0) {
        code = smp_fail(err, SMP_E_READ, "the file was changed while it was in use");
        smp_at(err, "%s", request->input);
    }
    return code;
}

/* Runs prepasses, until one is complete: *plan, which *owned then says is the caller's. */
static smp_code run_prepasses(const smp_run_request *request, smp_reader **reader, int64_t start, smp_plan **plan,
                              bool *owned, smp_prepasses *prepasses, smp_error *err)
{
    smp_code code = SMP_OK;
    while (!code && (*plan)->prepass >= 0) {
        smp_run_report report = {.input = request->input};
        smp_plan *next = NULL;
        code = stream_through(request, *plan, *reader, NULL, &report, err);
        smp_run_locate(request, &report);
        code = code ? code : smp_prepasses_take(prepasses, *plan, &report, err);
        smp_run_report_free(&report);
        code = code ? code : open_again(request, reader, start, err);
        code = code ? code : smp_run_make_plan(request, smp_reader_media(*reader), prepasses, &next, err);
        if (code)
            break;
        if (*owned)
            smp_plan_free(*plan);
        *plan = next;
        *owned = true;
    }
    return code;
}

bool smp_run_is_replaceable(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
}

static bool outputs_are_files(const smp_run_request *request)
{
    bool files = !request->output || smp_run_is_replaceable(request->output);
    for (size_t i = 0; i < request->program->save_count; i++)
        files &= smp_run_is_replaceable(request->program->saves[i].path);
    return files;
}

static smp_code fail_leftover(const smp_run_request *request, int bytes, bool files, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "%d byte%s at the end of the input %s not a whole frame", bytes, bytes == 1 ? "" : "s",
             bytes == 1 ? "is" : "are");
    smp_hint(err, "%s: the input is truncated%s",
             files ? "nothing was written" : "the frames in front of them were written",
             request->read.raw.given ? ", or --raw is wrong" : "");
    return smp_at(err, "%s", strcmp(request->input, "-") ? request->input : "standard input");
}

/* One reading of a file. Passes fill it in, from the top down. */
typedef struct one_run {
    const smp_run_request *request;
    smp_run_report *report;
    double start;       /* smp_now() */
    bool scanned;       /* the device was to decode or code a file */
    bool done;          /* nothing is left to do */
    bool refused;       /* it was not taken elsewhere, and is to be read anew */
    smp_reader *reader; /* another one after passes that read anew */
    int64_t again;      /* where the input begins when it is read again */
    smp_plan *plan;
    smp_cached_plan *entry; /* of the cache, with that plan */
    bool owned;             /* the plan is this run's */
    smp_prepasses prepasses;
    smp_run_output *outputs;
    size_t output_count;
} one_run;

static smp_code open_file(one_run *r, smp_error *err)
{
    const smp_run_request *request = r->request;
    smp_run_report *report = r->report;
    struct stat info;
    smp_alloc_limit(request->read.limits.max_memory);
    report->device = request->device->info;
    report->threads = request->device->info.units;
    SMP_TRY(open_input(request, &r->reader, &r->again, err));
    const smp_media *media = smp_reader_media(r->reader);
    r->scanned = media->scan.shape.kind != SMP_KIND_NONE;
    report->input_bytes = strcmp(request->input, "-") && !stat(request->input, &info) ? (uint64_t)info.st_size : 0;
    report->read_seconds = smp_now() - r->start;
    return SMP_OK;
}

static smp_code plan_input(one_run *r, smp_error *err)
{
    SMP_TRY(smp_run_settle(r->request, &r->reader, r->report, err));
    SMP_TRY(smp_run_shrink(r->request, &r->reader, err));
    const smp_media *media = smp_reader_media(r->reader);
    r->report->shape = smp_orientation_shape(media);
    smp_shape_text(&media->shape, media->shape.format, r->report->shape_in, sizeof r->report->shape_in);
    smp_code code = find_plan(r->request, media, &r->entry, &r->plan, err);
    r->owned = !r->entry;
    if (!code && r->plan->prepass >= 0) {
        code = run_prepasses(r->request, &r->reader, r->again, &r->plan, &r->owned, &r->prepasses, err);
        r->entry = NULL; /* what was found holds for this input alone */
    }
    if (!code && r->plan->drawn)
        SMP_NEED(r->report->drawn = smp_strdup(r->plan->drawn), "a text", 0, err);
    return code;
}

smp_code smp_run_rows(smp_reader *reader, const smp_plan *plan, void **rows, size_t *bytes, smp_error *err)
{
    smp_view view;
    *rows = NULL;
    SMP_NEED(smp_run_view(&plan->steps[0].out, &view, bytes), "a coded picture", UINT64_MAX, err);
    SMP_NEED(*rows = smp_alloc_raw(*bytes), "a coded picture", *bytes, err);
    void *shared = smp_reader_shared(reader, *bytes + SMP_ALIGN);
    const smp_code code = smp_reader_rows(reader, shared ? shared : *rows, view.stride, view.height, err);
    if (!code && shared)
        memcpy(*rows, shared, *bytes);
    if (code) {
        smp_free(*rows);
        *rows = NULL;
    }
    return code;
}

static smp_code hand_over(one_run *r, smp_error *err)
{
    const smp_run_elsewhere *elsewhere = r->request->elsewhere;
    if (!goes_elsewhere(r->request, smp_reader_media(r->reader)))
        return SMP_OK;
    SMP_TRY(elsewhere->take(elsewhere->context, r->request->output, r->plan, r->reader, &r->done, err));
    if (r->done)
        r->plan = NULL;
    r->refused = !r->done;
    return SMP_OK;
}

static smp_code copy_coded(one_run *r, smp_error *err)
{
    return smp_run_copy(r->request, r->plan, &r->reader, r->report, &r->done, err);
}

static void describe_output(one_run *r)
{
    if (!r->output_count)
        return;
    const smp_shape *shape = &r->plan->sinks[0].shape;
    smp_shape_text(shape, shape->format, r->report->shape_out, sizeof r->report->shape_out);
}

static smp_code begin_outputs(one_run *r, smp_error *err)
{
    const smp_plan *plan = r->plan;
    const smp_media *media = smp_reader_media(r->reader);
    r->outputs = smp_alloc_array(plan->sink_count, sizeof *r->outputs);
    SMP_NEED(r->outputs, "outputs", plan->sink_count * sizeof *r->outputs, err);
    r->output_count = plan->sink_count;
    for (size_t i = 0; i < plan->sink_count; i++)
        r->scanned |= plan->sinks[i].coded;
    smp_run_note_coder(r->request, media, plan, r->report);
    describe_output(r);
    return smp_run_open_outputs(r->request, plan, media, r->outputs, r->report, err);
}

static smp_code run_the_plan(one_run *r, smp_error *err)
{
    if (r->request->cache)
        r->request->cache->whole = false;
    smp_code code = r->entry && is_small(r->plan)
                        ? pass_through(r->request, r->entry, r->reader, r->outputs, r->report, err)
                        : stream_through(r->request, r->plan, r->reader, r->outputs, r->report, err);
    smp_run_locate(r->request, r->report);
    if (smp_reader_media(r->reader)->open_end) { /* now its length is known */
        r->report->shape.height = r->plan->steps[0].out.height;
        smp_shape_text(&r->report->shape, smp_reader_media(r->reader)->shape.format, r->report->shape_in,
                       sizeof r->report->shape_in);
        describe_output(r);
    }
    if (!code && r->report->undecided)
        code = smp_fail(err, SMP_E_DECODE, "the coded scan is in doubt");
    return code ? code : smp_prepasses_report(&r->prepasses, r->report, err);
}

/* A leftover fails the run: before files are in their places, or behind a stream, of which what is whole was written.
 */
static smp_code commit_outputs(one_run *r, smp_error *err)
{
    const int leftover = smp_reader_media(r->reader)->leftover;
    SMP_TRY(check_in_place(r->request, r->reader, err)); /* that more follows, a file may say at its end */
    const bool files = outputs_are_files(r->request);
    if (leftover && files)
        return fail_leftover(r->request, leftover, files, err);
    r->scanned = false; /* from here on outputs may be in their places */
    SMP_TRY(smp_run_commit(r->request, r->plan, r->outputs, r->report, err));
    return !leftover ? SMP_OK : fail_leftover(r->request, leftover, files, err);
}

static void close_all(one_run *r)
{
    smp_run_outputs_close(r->outputs, r->output_count);
    smp_prepasses_free(&r->prepasses);
    if (r->owned)
        smp_plan_free(r->plan);
    if (r->reader) {
        r->report->input_seconds = smp_reader_input_seconds(r->reader);
        r->report->input_notes = *smp_reader_notes(r->reader);
    }
    smp_reader_close(r->reader);
}

/* *run is filled in, and closed. */
static smp_code run_once(const smp_run_request *request, smp_run_report *report, one_run *run, smp_error *err)
{
    static smp_code (*const passes[])(one_run *, smp_error *) = {open_file,     plan_input,   hand_over,     copy_coded,
                                                                 begin_outputs, run_the_plan, commit_outputs};
    smp_code code = SMP_OK;
    *run = (one_run){.request = request, .report = report, .start = smp_now(), .owned = true};
    *report = (smp_run_report){.input = request->input, .output = request->output};
    for (size_t i = 0; !code && !run->done && !run->refused && i < sizeof passes / sizeof *passes; i++)
        code = passes[i](run, err);
    close_all(run);
    report->status = code;
    if (code)
        snprintf(report->error, sizeof report->error, "%s", err->message);
    report->peak_bytes = smp_alloc_peak();
    report->wall_seconds = smp_now() - run->start;
    return code;
}

/* Whether the device may decode the input and code outputs. Not where the input is read twice, or not as it is; nor
 * where an output cannot be begun anew after a doubt. */
static bool may_scan(const smp_run_request *request)
{
    return outputs_are_files(request) && !request->device->host_memory && strcmp(request->input, "-") != 0 &&
           request->program->node_count > 0 && !request->plain_storage && !request->fast_decode &&
           !request->read.raw.given && !smp_program_has_prepass(request->program);
}

smp_code smp_run_file(const smp_run_request *request, smp_run_report *report, smp_error *err)
{
    smp_error local = {0};
    smp_run_request asked = *request;
    one_run run;
    if (!err)
        err = &local;
    asked.read.want.whole = request->cache && request->cache->whole;
    asked.read.want.live = smp_run_may_be_live(request);
    asked.read.want.scan_from = may_scan(request) ? request->gpu_jpeg : 0;
    if (request->elsewhere && request->elsewhere->wants(request->elsewhere->context, request->output)) {
        asked.read.want.scan_from = 1;
        asked.read.want.whole = true; /* one message for a file */
    }
    smp_code code = run_once(&asked, report, &run, err);
    const bool again = report->undecided || code == SMP_E_DECODE || code == SMP_E_KILLED || code == SMP_E_PROCESS ||
                       code == SMP_E_MEMORY || code == SMP_E_DEVICE_MEMORY;
    if (!run.refused && (!code || !run.scanned || !again))
        return code;
    /* Any doubt: the usual reader judges the file, and words the error. The cache may have the plan that failed. */
    if (code)
        asked.cache = NULL;
    smp_run_report_free(report);
    *err = (smp_error){0};
    asked.read.want.scan_from = 0;
    asked.elsewhere = NULL;
    return run_once(&asked, report, &run, err);
}

smp_code smp_plan_file(const smp_run_request *request, smp_plan **out, smp_error *err)
{
    smp_reader *reader = NULL;
    smp_prepasses prepasses = {.count = 0};
    int64_t again;
    bool owned = true;
    *out = NULL;
    smp_code code = open_input(request, &reader, &again, err);
    code = code ? code : smp_run_make_plan(request, smp_reader_media(reader), &prepasses, out, err);
    code = code ? code : run_prepasses(request, &reader, again, out, &owned, &prepasses, err);
    if (code) {
        smp_plan_free(*out);
        *out = NULL;
    }
    smp_prepasses_free(&prepasses);
    smp_reader_close(reader);
    return code;
}
