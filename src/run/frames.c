/* Many pictures of one input through one plan: a thread reads the next picture, the calling thread computes this one, a
 * thread writes the last one. Plan, memory and outputs are kept from picture to picture. See run.h. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "io/meta/orientation.h"
#include "run/run_internal.h"
#include "run/strips/ring.h"
#include "run/strips/runner.h"

enum { SLOTS = 3 }; /* one is filled, one emptied, one ready */

typedef struct side { /* pictures between two threads */
    smp_ring ring;
    smp_view *views[SLOTS]; /* of the input: one; of outputs: one a sink */
    void *memory[SLOTS];    /* owned; null: the reader's */
    uint32_t delay[SLOTS];  /* smp_reader_delay */
    pthread_t thread;
    bool runs;
    double busy; /* seconds that its thread worked */
    smp_error error;
} side;

typedef struct frames {
    const smp_run_request *request;
    smp_run_report *report;
    smp_reader *reader;
    smp_plan *plan;
    smp_run_output *outputs;
    smp_write_options options;
    side in, out;
    int64_t written;
} frames;

/* ------------------------------------------------------------------------------------------------ numbered names */

/* Finds "%03d" in a name, and its length; width: 0 for "%d". Null: there is none. */
static const char *find_number(const char *path, size_t *length, int *width)
{
    const char *slash = strrchr(path, '/');
    for (const char *at = slash ? slash : path; (at = strchr(at, '%')); at++) {
        const bool padded = at[1] == '0' && at[2] >= '1' && at[2] <= '9';
        if (at[padded ? 3 : 1] != 'd')
            continue;
        *length = padded ? 4 : 2;
        *width = padded ? at[2] - '0' : 0;
        return at;
    }
    return NULL;
}

/* Whether a name has a number in it. */
static bool is_numbered(const char *path)
{
    size_t length;
    int width;
    return find_number(path, &length, &width) != NULL;
}

/* The name of a number, from smp_alloc. */
static smp_code name_of(const char *path, int64_t number, char **out, smp_error *err)
{
    size_t length = 0;
    int width = 0;
    const char *at = find_number(path, &length, &width);
    *out = at ? smp_asprintf("%.*s%0*lld%s", (int)(at - path), path, width, (long long)number, at + length)
              : smp_strdup(path);
    return *out ? SMP_OK : smp_fail_memory(err, "a path", strlen(path));
}

/* ------------------------------------------------------------------------------------------------ reading */

static void *read_all(void *context)
{
    frames *f = context;
    side *in = &f->in;
    bool more = true;
    smp_code code = SMP_OK;
    while (!code && more && smp_ring_wait_free(&in->ring)) {
        const smp_view *view = in->views[in->ring.made % SLOTS];
        const double start = smp_now();
        if (in->ring.made)
            code = smp_reader_next(f->reader, &more, &in->error);
        if (!code && more)
            code = smp_reader_rows(f->reader, view->data, view->stride, view->height, &in->error);
        in->delay[in->ring.made % SLOTS] = smp_reader_delay(f->reader);
        in->busy += smp_now() - start;
        if (!code && more)
            smp_ring_made(&in->ring);
    }
    smp_ring_end(&in->ring, false);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ writing */

static const char *path_of(const frames *f, size_t sink)
{
    return f->outputs[sink].path ? f->outputs[sink].path : f->request->output;
}

static smp_code commit(frames *f, size_t sink, smp_error *err)
{
    smp_run_output *output = &f->outputs[sink];
    smp_code code = smp_writer_finish(output->writer, err); /* may write the last pictures, and note what they lose */
    smp_notes_add(&f->report->output_notes, smp_writer_notes(output->writer));
    if (code)
        smp_writer_abort(output->writer);
    else
        code = smp_writer_commit(output->writer, err);
    output->writer = NULL;
    return code;
}

static smp_code open_writer(frames *f, size_t sink, smp_error *err)
{
    char *path, *name = NULL;
    const smp_beneath *within = &f->outputs[sink].beneath;
    smp_write_options options = f->options;
    smp_code code = name_of(path_of(f, sink), f->written + 1, &path, err);
    if (!code && within->name)
        code = name_of(within->name, f->written + 1, &name, err);
    const smp_beneath beneath = {within->folder, name};
    options.output.beneath = name ? &beneath : NULL;
    if (!code)
        code = smp_run_open_output(f->plan, &f->plan->sinks[sink], path, &smp_reader_media(f->reader)->meta, &options,
                                   f->report, &f->outputs[sink].writer, err);
    smp_free_all(path, name);
    return code;
}

static smp_code write_picture(frames *f, size_t sink, const smp_view *view, smp_error *err)
{
    smp_run_output *output = &f->outputs[sink];
    SMP_TRY(!output->writer ? open_writer(f, sink, err) : f->written ? smp_writer_next(output->writer, err) : SMP_OK);
    smp_writer_delay(output->writer, f->out.delay[f->out.ring.used % SLOTS]);
    SMP_TRY(smp_writer_rows(output->writer, view->data, view->stride, view->height, err));
    return is_numbered(path_of(f, sink)) ? commit(f, sink, err) : SMP_OK;
}

static void *write_all(void *context)
{
    frames *f = context;
    side *out = &f->out;
    smp_code code = SMP_OK;
    while (!code && smp_ring_wait_filled(&out->ring)) {
        const double start = smp_now();
        for (size_t i = f->plan->sink_count; !code && i-- > 0;)
            code = write_picture(f, i, &out->views[out->ring.used % SLOTS][i], &out->error);
        out->busy += smp_now() - start;
        f->written += code ? 0 : 1;
        if (!code)
            smp_ring_used(&out->ring);
    }
    if (code)
        smp_ring_end(&out->ring, true);
    return NULL;
}

/* A name for every picture, or a file that holds all. The first files are opened before any work. */
static smp_code open_outputs(frames *f, smp_error *err)
{
    const smp_run_request *request = f->request;
    smp_code code = smp_run_name_outputs(request, f->plan, f->outputs, err);
    for (size_t i = 0; !code && i < f->plan->sink_count; i++) {
        const char *path = path_of(f, i);
        if (!is_numbered(path) && !smp_writer_streams(path, request->write.format)) {
            smp_fail(err, SMP_E_USAGE, "this file holds one picture, and --frames makes many");
            smp_hint(
                err,
                "give a number a place in its name, as in frame-%%04d.png, or write .gif, .webp, .apng, .y4m or .raw");
            code = smp_at(err, "%s", path);
        } else
            code = open_writer(f, i, err);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ memory */

static smp_code take_views(side *of, const smp_shape *const *shapes, size_t count, smp_reader *reader, smp_error *err)
{
    size_t all = 0;
    for (int s = 0; s < SLOTS; s++) {
        of->views[s] = smp_alloc_array(count ? count : 1, sizeof *of->views[s]);
        SMP_NEED(of->views[s], "pictures", count * sizeof *of->views[s], err);
        size_t size = 0;
        for (size_t i = 0; i < count; i++) {
            size_t bytes;
            SMP_NEED(smp_run_view(shapes[i], &of->views[s][i], &bytes) && smp_add_size(bytes, 2 * SMP_ALIGN, &bytes) &&
                         smp_add_size(size, bytes & ~(size_t)(SMP_ALIGN - 1), &size),
                     "pictures", UINT64_MAX, err);
        }
        all = size;
    }
    unsigned char *shared =
        reader && smp_mul_size(all, SLOTS, &(size_t){0}) ? smp_reader_shared(reader, all * SLOTS) : NULL;
    for (int s = 0; s < SLOTS; s++) {
        unsigned char *at = shared ? shared + (size_t)s * all : (of->memory[s] = smp_alloc_raw(all ? all : 1));
        SMP_NEED(at, "pictures", all, err);
        for (size_t i = 0; i < count; i++) {
            smp_view *view = &of->views[s][i];
            view->data = at;
            at += ((size_t)view->stride * (size_t)view->height + 2 * SMP_ALIGN) & ~(size_t)(SMP_ALIGN - 1);
        }
    }
    return SMP_OK;
}

static smp_code take_memory(frames *f, smp_error *err)
{
    const smp_shape *in = &f->plan->steps[0].out;
    const smp_shape **shapes = smp_alloc_array(f->plan->sink_count + 1, sizeof *shapes);
    SMP_NEED(shapes, "outputs", f->plan->sink_count, err);
    for (size_t i = 0; i < f->plan->sink_count; i++)
        shapes[i] = &f->plan->sinks[i].shape;
    smp_code code = take_views(&f->in, &in, 1, f->reader, err);
    code = code ? code : take_views(&f->out, shapes, f->plan->sink_count, NULL, err);
    smp_free(shapes);
    return code;
}

static void free_side(side *of)
{
    for (int s = 0; s < SLOTS; s++)
        smp_free_all(of->views[s], of->memory[s]);
    smp_ring_close(&of->ring);
}

static smp_code start(side *of, void *(*run)(void *), frames *f, smp_error *err)
{
    of->runs = pthread_create(&of->thread, NULL, run, f) == 0;
    return of->runs ? SMP_OK : smp_fail(err, SMP_E_PROCESS, "cannot start a thread");
}

/* ------------------------------------------------------------------------------------------------ computing */

/* Adds what a picture cost to the sums. Measurements stay each picture's own. */
static void add_report(smp_run_report *sum, smp_run_report *one)
{
    sum->strip_rows = one->strip_rows;
    sum->strips += one->strips;
    sum->device_seconds += one->device_seconds;
    sum->upload_seconds += one->upload_seconds;
    sum->download_seconds += one->download_seconds;
    if (!sum->steps) {
        for (size_t i = 0; i < one->step_count; i++)
            smp_measurements_free(&one->steps[i].measurements);
        sum->steps = one->steps;
        sum->step_count = one->step_count;
        one->steps = NULL;
        one->step_count = 0;
        return;
    }
    for (size_t i = 0; i < sum->step_count && i < one->step_count; i++) {
        smp_step_report *to = &sum->steps[i];
        const smp_step_report *from = &one->steps[i];
        to->seconds += from->seconds;
        to->result_seconds += from->result_seconds;
        to->bytes += from->bytes;
        to->pixels += from->pixels;
        to->ops += from->ops;
        to->clipped += from->clipped;
        to->samples += from->samples;
    }
}

static smp_code compute(frames *f, smp_runner **runner, smp_run_each *each, void *context, smp_error *err)
{
    const smp_run_request *request = f->request;
    side *in = &f->in, *out = &f->out;
    smp_endpoint source = {0}, *sinks = smp_alloc_array(f->plan->sink_count + 1, sizeof *sinks);
    smp_runner_setup setup = {.plan = f->plan,
                              .device = request->device,
                              .variant = request->variant,
                              .read = &request->read,
                              .strip_rows = request->strip_rows,
                              .source = &source,
                              .sinks = sinks,
                              .partials = request->partials};
    smp_code code = sinks ? SMP_OK : smp_fail_memory(err, "outputs", f->plan->sink_count);
    code = code ? code : smp_runner_open(&setup, runner, err);
    const int64_t all = smp_reader_media(f->reader)->pages;
    for (int64_t number = 1; !code && smp_ring_wait_filled(&in->ring); number++) {
        if (!smp_ring_wait_free(&out->ring))
            break;
        int failed = SMP_STEP_NONE;
        smp_run_report one = {.input = request->input, .output = request->output, .shape = f->report->shape};
        source = (smp_endpoint){.view = *in->views[in->ring.used % SLOTS]};
        for (size_t i = 0; i < f->plan->sink_count; i++)
            sinks[i] = (smp_endpoint){.view = out->views[out->ring.made % SLOTS][i]};
        code = smp_runner_go(*runner, &setup, &one, &failed, err);
        smp_run_blame(request, f->plan, failed, code, err);
        smp_run_locate(request, &one);
        if (!code) {
            out->delay[out->ring.made % SLOTS] = in->delay[in->ring.used % SLOTS];
            smp_ring_used(&in->ring);
            smp_ring_made(&out->ring);
            if (each)
                each(context, number, &one);
            add_report(f->report, &one);
        }
        smp_run_report_free(&one);
        if (!code && request->progress && all > 0)
            code = request->progress(request->progress_context, number, all);
    }
    smp_free(sinks);
    return code;
}

static smp_code run_threads(frames *f, smp_run_each *each, void *context, smp_error *err)
{
    smp_runner *runner = NULL;
    smp_code code = start(&f->in, read_all, f, err);
    code = code ? code : start(&f->out, write_all, f, err);
    code = code ? code : compute(f, &runner, each, context, err);
    smp_ring_end(&f->in.ring, true);
    smp_ring_end(&f->out.ring, code != SMP_OK);
    if (f->out.runs)
        pthread_join(f->out.thread, NULL);
    if (f->in.runs) /* it may wait for a pipe, whose other end is ours to close when the writer failed */
        pthread_join(f->in.thread, NULL);
    smp_runner_close(runner);
    f->report->read_seconds += f->in.busy;
    f->report->write_seconds += f->out.busy;
    if (!code && f->out.error.code) {
        code = f->out.error.code;
        *err = f->out.error;
    }
    return code;
}

/* Keeps what is whole, also if the input ended in the middle of a picture. */
static smp_code finish(frames *f, smp_error *err)
{
    smp_code code = SMP_OK;
    const double start = smp_now();
    for (size_t i = f->plan->sink_count; f->written && !code && i-- > 0;)
        if (f->outputs[i].writer)
            code = commit(f, i, err);
    f->report->write_seconds += smp_now() - start;
    if (!code && f->in.error.code) {
        code = f->in.error.code;
        *err = f->in.error;
    }
    return code;
}

static smp_code open_and_plan(frames *f, smp_error *err)
{
    const smp_run_request *request = f->request;
    smp_run_report *report = f->report;
    SMP_TRY(smp_reader_open(request->input, &request->read, &f->reader, err));
    smp_code code = SMP_OK;
    const smp_media *media = smp_reader_media(f->reader);
    smp_shape_text(&media->shape, media->shape.format, report->shape_in, sizeof report->shape_in);
    report->shape = smp_orientation_shape(media);
    if ((code = smp_run_plan(request, media, &f->plan, err)))
        return code;
    if (f->plan->prepass >= 0) { /* each frame would come out in a size of its own */
        smp_fail(err, SMP_E_USAGE, "a stage that measures its input to find the output's size takes no frames");
        return smp_hint(err, "run it on files without --frames");
    }
    return SMP_OK;
}

static smp_code begin_outputs(frames *f, smp_error *err)
{
    f->outputs = smp_alloc_array(f->plan->sink_count + 1, sizeof *f->outputs);
    SMP_NEED(f->outputs, "outputs", f->plan->sink_count, err);
    if (f->plan->sink_count)
        smp_shape_text(&f->plan->sinks[0].shape, f->plan->sinks[0].shape.format, f->report->shape_out,
                       sizeof f->report->shape_out);
    SMP_TRY(smp_run_write_options(f->request, f->report, &f->options, err));
    return open_outputs(f, err);
}

static void close_all(frames *f)
{
    smp_run_outputs_close(f->outputs, f->outputs ? f->plan->sink_count : 0);
    smp_free((void *)(uintptr_t)f->options.output.inputs);
    smp_plan_free(f->plan);
    if (f->reader) {
        f->report->input_seconds = smp_reader_input_seconds(f->reader);
        f->report->input_notes = *smp_reader_notes(f->reader);
    }
    free_side(&f->in);
    free_side(&f->out);
    smp_reader_close(f->reader);
}

smp_code smp_run_frames(const smp_run_request *request, smp_run_each *each, void *context, smp_run_report *report,
                        smp_error *err)
{
    *report = (smp_run_report){.input = request->input, .output = request->output};
    frames f = {.request = request, .report = report};
    const double begin = smp_now();
    smp_error local = {0};
    if (!err)
        err = &local;
    smp_ring_open(&f.in.ring, SLOTS);
    smp_ring_open(&f.out.ring, SLOTS);
    smp_alloc_limit(request->read.limits.max_memory);
    report->device = request->device->info;
    report->threads = request->device->info.units;
    smp_code code = open_and_plan(&f, err);
    code = code ? code : begin_outputs(&f, err);
    code = code ? code : take_memory(&f, err);
    code = code ? code : run_threads(&f, each, context, err);
    code = code ? code : finish(&f, err);
    close_all(&f);
    report->status = code;
    if (code && f.written && !request->write.book)
        smp_hint(err, "the %lld picture%s in front of it %s written", (long long)f.written, f.written == 1 ? "" : "s",
                 f.written == 1 ? "was" : "were");
    if (code)
        snprintf(report->error, sizeof report->error, "%s", err->message);
    report->peak_bytes = smp_alloc_peak();
    report->wall_seconds = smp_now() - begin;
    return code;
}
