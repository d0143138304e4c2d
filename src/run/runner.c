/* The run of a plan: see runner.h. All memory is taken before the first strip; strips allocate nothing. */
#include "run/runner.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "run/file_source.h"
#include "run/schedule.h"
#include "run/step.h"

typedef struct lane {           /* what one step owns while it runs */
    smp_step_run run;           /* device null for the source */
    void *memory;               /* device: window or frame of its output */
    int64_t stride, base, rows; /* bytes; first row present; rows that fit */
    int64_t done;               /* rows computed so far */
    smp_file_source file;       /* of a source that the program names */
    int direct;                 /* the sink whose port takes this step's rows where they are computed, or -1 */
    bool borrowed;              /* memory is the port's: a sink's, or a source's strip */
} lane;

struct smp_runner {
    const smp_runner_setup *setup;
    const smp_plan *plan;
    smp_device *device;
    lane *lanes;
    smp_rows *rows;
    int64_t strip_rows, strips_done, strips_all;
    double upload_seconds, download_seconds;
};

/* ---------------------------------------------------------------------------------------------- memory */

static smp_code device_alloc(smp_runner *r, int64_t rows, int64_t stride, void **out, smp_error *err)
{
    size_t bytes;
    if (!smp_mul_size((size_t)rows, (size_t)stride, &bytes))
        return smp_fail_memory(err, "a picture", UINT64_MAX);
    return r->device->ops->alloc(r->device, bytes, out, err);
}

static bool reads_by_strips(const smp_runner *r, int index)
{
    const smp_step *step = &r->plan->steps[index];
    return step->job == SMP_JOB_SOURCE && (step->path || r->setup->source->stream) &&
           smp_source_by_strips(r->plan, index, r->device);
}

static smp_code prepare_lane(smp_runner *r, int index, const smp_window *window, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    lane *l = &r->lanes[index];
    smp_code code = SMP_OK;
    l->direct = r->device->host_memory ? smp_zero_copy_sink(r->plan, index) : -1;
    l->borrowed = l->direct >= 0 || reads_by_strips(r, index);
    if (window->rows > 0 && !l->borrowed) {
        l->stride = smp_row_stride(&step->out, step->storage);
        l->rows = window->rows;
        code = device_alloc(r, l->rows, l->stride, &l->memory, err);
    }
    if (code || step->job == SMP_JOB_SOURCE)
        return code;
    code = smp_step_open(&l->run, r->device, step, NULL, smp_step_variant(step, r->setup->variant), err);
    l->run.wants_partial = r->setup->partials;
    return code;
}

static smp_code begin_lane(smp_runner *r, int index, smp_error *err)
{
    lane *l = &r->lanes[index];
    const smp_step *step = &r->plan->steps[index];
    l->base = l->done = 0;
    if (step->path) {
        smp_code code = smp_file_source_open(step, r->setup->limits, &l->file, err);
        return code ? code
                    : smp_source_stream(l->file.reader, r->plan, index, r->device, r->strip_rows, &l->file.stream, err);
    }
    return step->job == SMP_JOB_SOURCE ? SMP_OK : smp_step_again(&l->run, err);
}

/* Scratch pictures need the strip's input rows, known from the schedule: at most strip + reach, or the whole input. */
static smp_code prepare_scratch(smp_runner *r, int index, int64_t most_rows, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    if (step->job == SMP_JOB_SOURCE)
        return SMP_OK;
    const smp_step *input = &r->plan->steps[step->input];
    int64_t height = input->out.height;
    int64_t rows = step->whole_input ? height : smp_min_i64(height, most_rows + step->reach_up + step->reach_down);
    return smp_step_scratch(&r->lanes[index].run, input->storage, rows, err);
}

static smp_code prepare(smp_runner *r, smp_error *err)
{
    size_t count = r->plan->step_count;
    r->lanes = smp_alloc_array(count, sizeof *r->lanes);
    r->rows = smp_alloc_array(count, sizeof *r->rows);
    smp_window *windows = smp_alloc_array(count, sizeof *windows);
    int64_t *most = smp_alloc_array(count, sizeof *most);
    smp_code code =
        r->lanes && r->rows && windows && most ? SMP_OK : smp_fail_memory(err, "a run", count * sizeof *r->lanes);
    if (!code)
        code = smp_plan_windows(r->plan, r->strip_rows, windows, err);
    for (size_t i = 0; !code && i < count; i++)
        code = prepare_lane(r, (int)i, &windows[i], err);
    for (int phase = 0; !code && phase < r->plan->phases; phase++) {
        int64_t strips = smp_strip_count(r->plan, phase, r->strip_rows);
        r->strips_all += strips;
        for (int64_t k = 0; k < strips; k++) {
            smp_strip_needs(r->plan, phase, r->strip_rows, k, r->rows);
            for (size_t i = 0; i < count; i++)
                most[i] = smp_max_i64(most[i], r->rows[i].to - r->rows[i].from);
        }
    }
    for (size_t i = 0; !code && i < count; i++)
        code = prepare_scratch(r, (int)i, most[i], err);
    smp_free(windows);
    smp_free(most);
    return code;
}

static void release(smp_runner *r)
{
    for (size_t i = 0; r->lanes && i < r->plan->step_count; i++) {
        lane *l = &r->lanes[i];
        if (!l->borrowed && l->memory)
            r->device->ops->free(r->device, l->memory);
        smp_step_close(&l->run);
    }
    smp_free(r->lanes);
    smp_free(r->rows);
    r->lanes = NULL;
    r->rows = NULL;
    r->strips_all = 0;
}

/* Takes all memory. When a device has too little, windows of smaller strips may fit; frames do not depend on them. */
static smp_code prepare_what_fits(smp_runner *r, smp_error *err)
{
    smp_code code = prepare(r, err);
    while (code == SMP_E_DEVICE_MEMORY && r->strip_rows > r->plan->row_multiple) {
        release(r);
        r->strip_rows = (r->strip_rows / 2 + r->plan->row_multiple - 1) / r->plan->row_multiple * r->plan->row_multiple;
        code = prepare(r, err);
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------- one strip */

/* Rows first .. first+count-1 of a step's output. */
static smp_view view_of(const smp_runner *r, int index, int64_t first, int64_t count)
{
    const smp_step *step = &r->plan->steps[index];
    const lane *l = &r->lanes[index];
    return smp_view_of(&step->out, step->storage, l->memory, l->stride, l->base, first, count);
}

/* Makes room for rows up to `to`: rows before `keep` are given up, the others move to the window's start. */
static smp_code make_room(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    lane *l = &r->lanes[index];
    const smp_step *step = &r->plan->steps[index];
    if (l->borrowed || !l->memory || need->to - l->base <= l->rows)
        return SMP_OK;
    smp_code code = SMP_OK;
    if (l->done > need->keep)
        code = r->device->ops->copy(r->device, l->memory, (char *)l->memory + (need->keep - l->base) * l->stride,
                                    l->stride, smp_row_bytes(&step->out, step->storage), l->done - need->keep, err);
    l->base = need->keep;
    return code;
}

static smp_code skip_rows(smp_endpoint *port, int64_t count, smp_error *err)
{
    const void *rows;
    port->at += count;
    for (int64_t n; port->stream && count > 0; count -= n) {
        smp_code code = smp_stream_take(port->stream, count, &rows, &n, err);
        if (code)
            return code;
        smp_stream_took(port->stream, n);
    }
    return SMP_OK;
}

static smp_code fill_from_source(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    lane *l = &r->lanes[index];
    smp_endpoint file = {.stream = l->file.stream}, *port = step->path ? &file : r->setup->source;
    if (l->borrowed) {
        l->base = need->keep;
        l->stride = smp_stream_stride(port->stream);
        return smp_stream_strip(port->stream, &l->memory, err);
    }
    smp_code skipped = skip_rows(port, need->from - l->done, err); /* what nothing reads */
    if (skipped)
        return skipped;
    for (int64_t y = need->from; y < need->to;) {
        const void *rows;
        int64_t count, stride;
        if (port->stream) {
            smp_code code = smp_stream_take(port->stream, need->to - y, &rows, &count, err);
            if (code)
                return code;
            stride = smp_stream_stride(port->stream);
        } else {
            rows = smp_row(&port->view, port->at);
            count = need->to - y;
            stride = port->view.stride;
        }
        double start = smp_now();
        smp_code code = r->device->ops->copy_in(r->device, (char *)l->memory + (y - l->base) * l->stride, l->stride,
                                                rows, stride, smp_row_bytes(&step->out, step->storage), count, err);
        r->upload_seconds += smp_now() - start;
        if (code)
            return code;
        if (port->stream)
            smp_stream_took(port->stream, count);
        port->at += count;
        y += count;
    }
    return SMP_OK;
}

/* Points a direct step's output at its sink's own rows; they are all there, since slots are as high as strips. */
static smp_code aim_at_sink(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    lane *l = &r->lanes[index];
    smp_endpoint *port = &r->setup->sinks[l->direct];
    int64_t count = need->to - need->from;
    if (port->stream) {
        smp_code code = smp_stream_room(port->stream, count, count, &l->memory, &count, err);
        if (code)
            return code;
        if (count < need->to - need->from)
            return smp_fail(err, SMP_E_PROCESS, "a strip of %lld rows does not fit its slot",
                            (long long)(need->to - need->from));
        l->stride = smp_stream_stride(port->stream);
    } else {
        l->memory = smp_row(&port->view, port->at);
        l->stride = port->view.stride;
    }
    l->base = need->from;
    return SMP_OK;
}

static smp_code send_to_sink(smp_runner *r, const smp_sink *sink, smp_endpoint *port, const smp_rows *done,
                             smp_error *err)
{
    const smp_step *step = &r->plan->steps[sink->step];
    for (int64_t y = done->from; y < done->to;) {
        void *rows;
        int64_t count, stride;
        if (port->stream) {
            smp_code code = smp_stream_room(port->stream, done->to - y, 1, &rows, &count, err);
            if (code)
                return code;
            stride = smp_stream_stride(port->stream);
        } else {
            rows = smp_row(&port->view, port->at);
            count = done->to - y;
            stride = port->view.stride;
        }
        smp_view from = view_of(r, sink->step, y, count);
        double start = smp_now();
        smp_code code = r->device->ops->copy_out(r->device, rows, stride, from.data, from.stride,
                                                 smp_row_bytes(&step->out, step->storage), count, err);
        r->download_seconds += smp_now() - start;
        if (code)
            return code;
        if (port->stream)
            smp_stream_put(port->stream, count);
        port->at += count;
        y += count;
    }
    return SMP_OK;
}

static smp_code compute(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    smp_view in, out, by = {0};
    int64_t first, count;
    if (step->job == SMP_JOB_REDUCE) {
        in = out = view_of(r, step->input, need->from, need->to - need->from);
    } else {
        smp_step_reads(step, r->plan->steps[step->input].out.height, need->from, need->to, &first, &count);
        in = view_of(r, step->input, first, count);
        out = view_of(r, index, need->from, need->to - need->from);
    }
    if (step->by >= 0) {
        smp_step_reads(step, r->plan->steps[step->by].out.height, need->from, need->to, &first, &count);
        by = view_of(r, step->by, first, count);
    }
    return smp_step_launch(&r->lanes[index].run, &in, &out, &by, err);
}

static smp_code run_strip(smp_runner *r, int phase, int64_t k, int *failed, smp_error *err)
{
    const smp_plan *plan = r->plan;
    smp_code code = SMP_OK;
    smp_strip_needs(plan, phase, r->strip_rows, k, r->rows);
    for (int i = 0; i < (int)plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        const smp_rows *need = &r->rows[i];
        if (step->phase != phase || need->from == need->to)
            continue;
        lane *l = &r->lanes[i];
        *failed = i;
        code = l->direct >= 0 ? aim_at_sink(r, i, need, err) : make_room(r, i, need, err);
        if (code)
            return code;
        code = step->job == SMP_JOB_SOURCE ? fill_from_source(r, i, need, err) : compute(r, i, need, err);
        if (code)
            return code;
        l->done = need->to;
        if (l->direct >= 0) {
            smp_endpoint *port = &r->setup->sinks[l->direct];
            port->at += need->to - need->from;
            if (port->stream)
                smp_stream_put(port->stream, need->to - need->from);
        }
        for (size_t s = 0; s < plan->sink_count; s++)
            if (plan->sinks[s].step == i && (int)s != l->direct &&
                (code = send_to_sink(r, &plan->sinks[s], &r->setup->sinks[s], need, err)))
                return code;
    }
    *failed = SMP_STEP_NONE;
    r->strips_done++;
    return r->setup->progress ? r->setup->progress(r->setup->progress_context, r->strips_done, r->strips_all) : SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- results */

/* Brings a finished reduction home, and gives the step that waits for it its table. */
static smp_code finish_reduction(smp_runner *r, int index, smp_error *err)
{
    smp_step_run *run = &r->lanes[index].run, *target = run;
    for (size_t i = 0; i < r->plan->step_count; i++)
        if (r->plan->steps[i].reduced_by == index)
            target = &r->lanes[i].run;
    return smp_step_finish(run, target, err);
}

static smp_code fill_report(smp_runner *r, smp_run_report *report, smp_error *err)
{
    const smp_plan *plan = r->plan;
    report->steps = smp_alloc_array(plan->step_count, sizeof *report->steps);
    if (!report->steps)
        return smp_fail_memory(err, "the report", plan->step_count * sizeof *report->steps);
    int64_t highest = 0; /* a picture lower than a strip is one of its own height */
    for (size_t i = 0; i < plan->step_count; i++)
        highest = smp_max_i64(highest, plan->steps[i].out.height);
    report->strip_rows = smp_min_i64(r->strip_rows, highest);
    report->strips = r->strips_done;
    report->device_seconds = 0;
    if (!r->device->host_memory) { /* the CPU copies within its own memory */
        report->upload_seconds = r->upload_seconds;
        report->download_seconds = r->download_seconds;
    }
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        smp_step_run *run = &r->lanes[i].run;
        if (step->job == SMP_JOB_SOURCE)
            continue;
        smp_step_report *to = &report->steps[report->step_count++];
        snprintf(to->label, sizeof to->label, "%s", step->label);
        snprintf(to->variant, sizeof to->variant, "%s", (run->ran ? run->ran : run->variant)->name);
        smp_shape_text(&step->out, step->storage, to->type, sizeof to->type);
        to->node = step->node;
        to->seconds = run->cost.seconds;
        to->pixels = (uint64_t)step->out.width * (uint64_t)step->out.height;
        to->samples = to->pixels * (uint64_t)step->out.channels;
        to->bytes = smp_step_bytes(plan, step);
        to->ops = run->work.ops * (double)to->pixels * step->out.channels;
        to->counts_clipping = run->clipped != NULL;
        smp_code code = smp_step_clipped(run, &to->clipped, err);
        if (code)
            return code;
        to->findings = run->findings;
        run->findings = (smp_findings){0};
        to->stage = step->stage;
        to->in = step->in;
        to->partial = run->partial;
        run->partial = NULL;
        report->device_seconds += to->seconds;
    }
    return SMP_OK;
}

int64_t smp_strip_rows(const smp_plan *plan, const smp_device *device, int64_t wanted)
{
    enum { STRIP_BYTES = 1 << 20, CUDA_STRIP_BYTES = 64 << 20, MOST_BYTES = 256 << 20 };
    int64_t widest = 1, reach = 0, bytes = device && !device->host_memory ? CUDA_STRIP_BYTES : STRIP_BYTES;
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        widest = smp_max_i64(widest, smp_row_bytes(&step->out, step->out.format));
        reach += step->reach_up + step->reach_down;
    }
    int64_t rows = wanted > 0 ? wanted : smp_max_i64(1, bytes / widest);
    if (wanted <= 0) { /* halo rows are computed again by every thread: keep them a small part of a strip */
        int64_t units = device && device->host_memory ? smp_max_i64(1, device->info.units) : 1;
        rows = smp_max_i64(rows, smp_min_i64(3 * reach * units, smp_max_i64(1, MOST_BYTES / widest)));
        rows = (rows + 7) / 8 * 8;
    }
    return (rows + plan->row_multiple - 1) / plan->row_multiple * plan->row_multiple;
}

smp_code smp_runner_open(const smp_runner_setup *setup, smp_runner **out, smp_error *err)
{
    smp_runner *r = *out = smp_alloc(sizeof *r);
    if (!r)
        return smp_fail_memory(err, "a run", sizeof *r);
    *r = (smp_runner){.setup = setup, .plan = setup->plan, .device = setup->device};
    r->strip_rows = smp_strip_rows(setup->plan, setup->device, setup->strip_rows);
    smp_code code = prepare_what_fits(r, err);
    if (code) {
        smp_runner_close(r);
        *out = NULL;
    }
    return code;
}

void smp_runner_close(smp_runner *r)
{
    if (r)
        release(r);
    smp_free(r);
}

static smp_code run_phase(smp_runner *r, int phase, int *failed_step, smp_error *err)
{
    smp_code code = SMP_OK;
    int64_t strips = smp_strip_count(r->plan, phase, r->strip_rows);
    for (int64_t k = 0; !code && k < strips; k++)
        code = run_strip(r, phase, k, failed_step, err);
    if (!code)
        code = r->device->ops->sync(r->device, err);
    for (size_t i = 0; !code && i < r->plan->step_count; i++)
        if (r->plan->steps[i].phase == phase && r->plan->steps[i].job == SMP_JOB_REDUCE) {
            *failed_step = (int)i;
            code = finish_reduction(r, (int)i, err);
        }
    if (!code)
        *failed_step = SMP_STEP_NONE;
    return code;
}

smp_code smp_runner_go(smp_runner *r, const smp_runner_setup *setup, smp_run_report *report, int *failed_step,
                       smp_error *err)
{
    smp_code code = SMP_OK;
    r->setup = setup;
    r->strips_done = 0;
    r->upload_seconds = r->download_seconds = 0;
    *failed_step = SMP_STEP_NONE;
    for (size_t i = 0; !code && i < r->plan->step_count; i++)
        code = begin_lane(r, (int)i, err);
    for (int phase = 0; !code && phase < r->plan->phases; phase++)
        code = run_phase(r, phase, failed_step, err);
    for (size_t i = 0; i < r->plan->step_count; i++)
        smp_file_source_close(&r->lanes[i].file);
    return code ? code : fill_report(r, report, err);
}

smp_code smp_runner_run(const smp_runner_setup *setup, smp_run_report *report, int *failed_step, smp_error *err)
{
    smp_runner *r;
    *failed_step = SMP_STEP_NONE;
    smp_code code = smp_runner_open(setup, &r, err);
    if (!code)
        code = smp_runner_go(r, setup, report, failed_step, err);
    smp_runner_close(r);
    return code;
}
