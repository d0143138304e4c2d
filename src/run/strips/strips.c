/* The run of a plan: see runner.h. All memory is allocated before the first strip; strips allocate nothing. */
#include "run/strips/runner.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "media/jpeg_params.h"
#include "run/file_source.h"
#include "run/strips/runner_internal.h"

/* ---------------------------------------------------------------------------------------------- memory */

static smp_code device_alloc(smp_runner *r, int64_t rows, int64_t stride, void **out, smp_error *err)
{
    size_t bytes;
    SMP_NEED(smp_mul_size((size_t)rows, (size_t)stride, &bytes), "a picture or a sound", UINT64_MAX, err);
    return r->device->ops->alloc(r->device, bytes, out, err);
}

static bool reads_by_strips(const smp_runner *r, int index)
{
    const smp_step *step = &r->plan->steps[index];
    return step->job == SMP_JOB_SOURCE && (step->file || r->setup->source->stream) &&
           smp_source_by_strips(r->plan, index, r->device);
}

static smp_code prepare_state(smp_runner *r, int index, const smp_window *window, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    smp_step_state *state = &r->states[index];
    smp_code code = SMP_OK;
    state->zero_copy_sink = r->device->host_memory ? smp_zero_copy_sink(r->plan, index) : -1;
    state->borrowed = state->zero_copy_sink >= 0 || reads_by_strips(r, index);
    if (window->rows > 0 && !state->borrowed) {
        state->stride = smp_row_stride(&step->out, step->storage);
        state->rows = window->rows;
        state->borrowed = window->frame_of >= 0 && window->frame_of != index;
        if (state->borrowed)
            state->memory = r->states[window->frame_of].memory;
        else
            code = device_alloc(r, state->rows, state->stride, &state->memory, err);
    }
    if (code || step->job == SMP_JOB_SOURCE)
        return code;
    code = smp_step_open(&state->run, r->device, step, NULL, smp_step_variant(step, r->setup->variant), err);
    state->run.wants_partial = r->setup->partials;
    return code;
}

static smp_code begin_state(smp_runner *r, int index, smp_error *err)
{
    smp_step_state *state = &r->states[index];
    const smp_step *step = &r->plan->steps[index];
    state->base = state->done = 0;
    if (state->staging)
        SMP_TRY(smp_staging_begin(r->device, state->staging, err));
    if (step->file) {
        SMP_TRY(smp_file_source_open(step, r->setup->read, &state->file, err));
        return (r->setup->live ? smp_source_slots : smp_source_stream)(state->file.reader, r->plan, index, r->device,
                                                                       r->strip_rows, &state->file.stream, err);
    }
    return step->job == SMP_JOB_SOURCE ? SMP_OK : smp_step_again(&state->run, err);
}

/* Scratch pictures have the rows of the strip's input: at most strip + reach, or the whole input. Only the schedule
 * knows the highest strip. */
static smp_code prepare_scratch(smp_runner *r, int index, int64_t most_rows, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    if (step->job == SMP_JOB_SOURCE)
        return SMP_OK;
    const smp_step *input = &r->plan->steps[step->input];
    int64_t height = input->out.height;
    int64_t rows = step->whole_input ? height : smp_row_map_most(&step->reads, height, most_rows);
    return smp_step_scratch(&r->states[index].run, input->storage, rows, err);
}

/* Docks for what a step sends in strips of most_rows. Pinned memory alone is worth them. */
static smp_code prepare_stagings(smp_runner *r, int index, int64_t most_rows, smp_error *err)
{
    const smp_plan *plan = r->plan;
    const smp_step *step = &plan->steps[index];
    smp_step_state *state = &r->states[index];
    const int64_t row_bytes = smp_row_bytes(&step->out, step->storage);
    if (r->device->host_memory || !state->memory || smp_strip_count(plan, step->phase, r->strip_rows) < 2)
        return SMP_OK;
    if (step->job == SMP_JOB_SOURCE && !step->frame && (step->file || r->setup->source->stream))
        SMP_TRY(smp_staging_open(r->device, 1, most_rows, state->stride, row_bytes, &state->staging, err));
    for (size_t i = 0; i < plan->sink_count; i++)
        if (plan->sinks[i].step == index && !plan->sinks[i].coded && r->setup->sinks[i].stream)
            SMP_TRY(smp_staging_open(r->device, 2, most_rows, state->stride, row_bytes, &r->stagings[i], err));
    return SMP_OK;
}

static smp_code prepare(smp_runner *r, smp_error *err)
{
    size_t count = r->plan->step_count;
    r->stagings = smp_alloc_array(r->plan->sink_count + 1, sizeof *r->stagings);
    r->states = smp_alloc_array(count, sizeof *r->states);
    r->rows = smp_alloc_array(count, sizeof *r->rows);
    smp_window *windows = smp_alloc_array(count, sizeof *windows);
    int64_t *most = smp_alloc_array(count, sizeof *most);
    smp_code code = r->states && r->rows && r->stagings && windows && most
                        ? SMP_OK
                        : smp_fail_memory(err, "a run", count * sizeof *r->states);
    code = code ? code : smp_plan_windows(r->plan, r->strip_rows, windows, err);
    for (size_t i = 0; !code && i < count; i++)
        code = prepare_state(r, (int)i, &windows[i], err);
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
    for (size_t i = 0; !code && i < count; i++)
        code = prepare_stagings(r, (int)i, most[i], err);
    smp_free_all(windows, most);
    return code;
}

static void release(smp_runner *r)
{
    if (r->states) /* after a failure launches may be in work, whose times go into the states */
        (void)r->device->ops->sync(r->device, NULL);
    for (size_t i = 0; r->states && i < r->plan->step_count; i++) {
        smp_step_state *state = &r->states[i];
        if (!state->borrowed && state->memory)
            r->device->ops->free(r->device, state->memory);
        smp_staging_close(r->device, state->staging);
        smp_step_close(&state->run);
    }
    for (size_t i = 0; r->stagings && i < r->plan->sink_count; i++)
        smp_staging_close(r->device, r->stagings[i]);
    smp_free(r->stagings);
    r->stagings = NULL;
    smp_free_all(r->states, r->rows);
    r->states = NULL;
    r->rows = NULL;
    r->strips_all = 0;
}

/* Allocates everything. When the device has too little memory, the windows of smaller strips may fit; frames do not
 * depend on them. */
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
    const smp_step_state *state = &r->states[index];
    return smp_view_of(&step->out, step->storage, state->memory, state->stride, state->base, first, count);
}

/* Makes room for rows up to `to`. Rows before `keep` are dropped, the others move to the window's start. */
static smp_code make_room(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    smp_step_state *state = &r->states[index];
    const smp_step *step = &r->plan->steps[index];
    if (state->borrowed || !state->memory || need->to - state->base <= state->rows)
        return SMP_OK;
    smp_code code = SMP_OK;
    if (state->done > need->keep)
        code = r->device->ops->copy(r->device, state->memory, state->stride,
                                    (char *)state->memory + (need->keep - state->base) * state->stride, state->stride,
                                    smp_row_bytes(&step->out, step->storage), state->done - need->keep, err);
    state->base = need->keep;
    return code;
}

/* Towards sinks, of what stops over: as smp_staging_give has it. */
static smp_code give(smp_runner *r, int wait, smp_error *err)
{
    for (size_t i = 0; i < r->plan->sink_count; i++)
        if (r->stagings[i])
            SMP_TRY(smp_staging_give(&r->transfer, r->stagings[i], &r->setup->sinks[i], wait, err));
    return SMP_OK;
}

smp_code smp_runner_fill(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    smp_step_state *state = &r->states[index];
    smp_endpoint file = {.stream = state->file.stream}, *endpoint = step->file ? &file : r->setup->source;
    if (state->borrowed) {
        state->base = need->keep;
        state->stride = smp_stream_stride(endpoint->stream);
        return smp_stream_strip(endpoint->stream, &state->memory, err);
    }
    smp_code skipped = smp_transfer_skip(endpoint, need->from - state->done, err); /* rows that no step reads */
    if (skipped)
        return skipped;
    const bool stop_over = state->staging && smp_stream_is_pinned(endpoint->stream);
    smp_staging_buffer *buffer = stop_over ? &state->staging->buffers[0] : NULL;
    char *first = buffer ? buffer->memory : (char *)state->memory + (need->from - state->base) * state->stride;
    for (int64_t y = need->from; y < need->to;) {
        const void *rows;
        int64_t count, stride;
        if (endpoint->stream) {
            SMP_TRY(smp_stream_take(endpoint->stream, need->to - y, &rows, &count, err));
            stride = smp_stream_stride(endpoint->stream);
        } else {
            rows = smp_row(&endpoint->view, endpoint->at);
            count = need->to - y;
            stride = endpoint->view.stride;
        }
        SMP_TRY(smp_transfer_move(&r->transfer, endpoint,
                                  &(smp_rows_sent){.up = true,
                                                   .to = first + (y - need->from) * state->stride,
                                                   .to_stride = state->stride,
                                                   .from = rows,
                                                   .from_stride = stride,
                                                   .row_bytes = smp_row_bytes(&step->out, step->storage),
                                                   .rows = count,
                                                   .after = buffer ? buffer->emptied : NULL},
                                  false, err));
        smp_code code = SMP_OK;
        if (endpoint->stream)
            smp_stream_took(endpoint->stream, count);
        endpoint->at += count;
        y += count;
        if ((code = give(r, 0, err)))
            return code;
    }
    return buffer ? smp_staging_land(r->device, state->staging,
                                     (char *)state->memory + (need->from - state->base) * state->stride,
                                     need->to - need->from, err)
                  : SMP_OK;
}

/* Zero copy: points a step's output at the next rows of its sink. A slot is as high as a strip, so they all fit. */
static smp_code borrow_sink_rows(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    smp_step_state *state = &r->states[index];
    smp_endpoint *endpoint = &r->setup->sinks[state->zero_copy_sink];
    int64_t count = need->to - need->from;
    if (endpoint->stream) {
        SMP_TRY(smp_stream_room(endpoint->stream, count, count, &state->memory, &count, err));
        if (count < need->to - need->from)
            return smp_fail(err, SMP_E_PROCESS, "a strip of %lld rows does not fit its slot",
                            (long long)(need->to - need->from));
        state->stride = smp_stream_stride(endpoint->stream);
    } else {
        state->memory = smp_row(&endpoint->view, endpoint->at);
        state->stride = endpoint->view.stride;
    }
    state->base = need->from;
    return SMP_OK;
}

/* Queues new rows behind those computed before, which are sent now: otherwise the writer might wait for them. */
static smp_code stop_over(smp_runner *r, int sink_step, smp_staging *staging, smp_endpoint *endpoint,
                          const smp_rows *done, smp_error *err)
{
    const int64_t rows = done->to - done->from;
    const smp_view from = view_of(r, sink_step, done->from, rows);
    SMP_TRY(smp_staging_take(r->device, staging, from.data, done->from, rows, err));
    return smp_staging_give(&r->transfer, staging, endpoint, 1, err);
}

smp_code smp_runner_send(smp_runner *r, size_t index, const smp_rows *done, smp_error *err)
{
    const smp_sink *sink = &r->plan->sinks[index];
    smp_endpoint *endpoint = &r->setup->sinks[index];
    const smp_step *step = &r->plan->steps[sink->step];
    int64_t end = done->to;
    if (r->stagings[index] && smp_stream_is_pinned(endpoint->stream))
        return stop_over(r, sink->step, r->stagings[index], endpoint, done, err);
    int64_t (*filled_rows)(const void *first, const smp_shape *out) = sink->coded ? smp_jpeg_scan_row_count : NULL;
    if (filled_rows && done->from > 0)
        end = smp_min_i64(end, endpoint->last);
    for (int64_t y = done->from; y < end;) {
        void *rows;
        int64_t count, stride;
        const bool head = filled_rows && y == 0; /* says how many rows there are */
        if (endpoint->stream) {
            SMP_TRY(smp_stream_room(endpoint->stream, head ? 1 : end - y, 1, &rows, &count, err));
            stride = smp_stream_stride(endpoint->stream);
        } else {
            rows = smp_row(&endpoint->view, endpoint->at);
            count = head ? 1 : end - y;
            stride = endpoint->view.stride;
        }
        smp_view from = view_of(r, sink->step, y, count);
        SMP_TRY(smp_transfer_move(&r->transfer, endpoint,
                                  &(smp_rows_sent){.to = rows,
                                                   .to_stride = stride,
                                                   .from = from.data,
                                                   .from_stride = from.stride,
                                                   .row_bytes = smp_row_bytes(&step->out, step->storage),
                                                   .rows = count},
                                  head, err));
        if (head) {
            endpoint->last = filled_rows(rows, &sink->rows);
            end = smp_min_i64(end, endpoint->last);
        }
        if (endpoint->stream)
            smp_stream_put(endpoint->stream, count);
        endpoint->at += count;
        y += count;
    }
    return SMP_OK;
}

smp_code smp_runner_compute(smp_runner *r, int index, const smp_rows *need, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    smp_view in, out, second = {0};
    int64_t first, count;
    smp_step_reads(step, r->plan->steps[step->input].out.height, need->from, need->to, &first, &count);
    in = view_of(r, step->input, first, count);
    out = view_of(r, step->job == SMP_JOB_REDUCE ? step->input : index, need->from, need->to - need->from);
    if (step->second >= 0) {
        smp_step_reads_second(step, r->plan->steps[step->second].out.height, need->from, need->to, &first, &count);
        second = view_of(r, step->second, first, count);
    }
    return smp_step_launch(&r->states[index].run, &in, &out, &second, err);
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
        smp_step_state *state = &r->states[i];
        *failed = i;
        SMP_TRY(state->zero_copy_sink >= 0 ? borrow_sink_rows(r, i, need, err) : make_room(r, i, need, err));
        code = step->job == SMP_JOB_SOURCE ? smp_runner_fill(r, i, need, err) : smp_runner_compute(r, i, need, err);
        if (code)
            return code;
        state->done = need->to;
        if (state->zero_copy_sink >= 0) {
            smp_endpoint *endpoint = &r->setup->sinks[state->zero_copy_sink];
            endpoint->at += need->to - need->from;
            if (endpoint->stream)
                smp_stream_put(endpoint->stream, need->to - need->from);
        }
        for (size_t s = 0; s < plan->sink_count; s++)
            if (plan->sinks[s].step == i && (int)s != state->zero_copy_sink &&
                (code = smp_runner_send(r, s, need, err)))
                return code;
    }
    *failed = SMP_STEP_NONE;
    r->strips_done++;
    return r->setup->progress ? r->setup->progress(r->setup->progress_context, r->strips_done, r->strips_all) : SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- results */

/* Copies a finished reduction to the host. The step that waits for it gets its table. */
static smp_code finish_reduction(smp_runner *r, int index, smp_error *err)
{
    smp_step_run *run = &r->states[index].run, *target = run;
    for (size_t i = 0; i < r->plan->step_count; i++)
        if (r->plan->steps[i].reduced_by == index)
            target = &r->states[i].run;
    smp_code code = smp_step_finish(run, target, err);
    if (code || !target->work.reduction.outside[0] || r->setup->any_range)
        return code;
    smp_fail(err, SMP_E_PROCESS, "%s", target->work.reduction.outside);
    if (r->plan->steps[index].out.kind == SMP_AUDIO) /* some are infinite */
        return smp_hint(err, "mend the file first, or measure it without percentiles: `stats`");
    return smp_hint(err,
                    "in front of it 'levels' clamps samples to full scale, 'subtract' and 'divide' bring them there");
}

static smp_code fill_report(smp_runner *r, smp_run_report *report, smp_error *err)
{
    const smp_plan *plan = r->plan;
    report->steps = smp_alloc_array(plan->step_count, sizeof *report->steps);
    SMP_NEED(report->steps, "the report", plan->step_count * sizeof *report->steps, err);
    int64_t highest = 0; /* a picture lower than a strip is one strip of its own height */
    for (size_t i = 0; i < plan->step_count; i++)
        highest = smp_max_i64(highest, plan->steps[i].out.height);
    report->strip_rows = smp_min_i64(r->strip_rows, highest);
    report->strips = r->strips_done;
    report->device_seconds = 0;
    if (!r->device->host_memory) { /* the CPU's copies stay within its own memory */
        report->upload_seconds = r->transfer.seconds[true] + r->transfer.sent[true].seconds;
        report->download_seconds = r->transfer.seconds[false] + r->transfer.sent[false].seconds;
        report->detours = r->transfer.detours;
    }
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        smp_step_run *run = &r->states[i].run;
        if (step->job == SMP_JOB_SOURCE)
            continue;
        smp_step_report *to = &report->steps[report->step_count++];
        snprintf(to->label, sizeof to->label, "%s", step->label);
        snprintf(to->variant, sizeof to->variant, "%s", (run->ran ? run->ran : run->variant)->name);
        smp_shape_text(&step->out, step->storage, to->type, sizeof to->type);
        to->node = step->node;
        to->seconds = run->cost.seconds;
        to->result_seconds = run->result_seconds;
        to->pixels = (uint64_t)step->out.width * (uint64_t)step->out.height;
        to->samples = to->pixels * (uint64_t)step->out.channels;
        to->bytes = smp_step_bytes(plan, step);
        to->ops = run->work.ops * (double)to->pixels * step->out.channels;
        to->counts_clipping = run->clipped != NULL;
        SMP_TRY(smp_step_clipped(run, &to->clipped, err));
        if (run->work.values.undecided) {
            report->undecided += to->clipped;
            to->counts_clipping = false;
            to->clipped = 0;
        }
        to->measurements = run->measurements;
        run->measurements = (smp_measurements){0};
        to->stage = step->stage;
        to->in = step->in;
        to->partial = run->partial;
        run->partial = NULL;
        report->device_seconds += to->seconds;
    }
    return SMP_OK;
}

smp_code smp_runner_open(const smp_runner_setup *setup, smp_runner **out, smp_error *err)
{
    smp_runner *r = *out = smp_alloc(sizeof *r);
    SMP_NEED(r, "a run", sizeof *r, err);
    *r = (smp_runner){.setup = setup, .plan = setup->plan, .device = setup->device};
    r->strip_rows = smp_strip_rows(setup->plan, setup->device, setup->strip_rows);
    r->open = setup->open;
    smp_code code = setup->live ? smp_live_prepare(r, err) : prepare_what_fits(r, err);
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
    int64_t strips = r->setup->live ? 0 : smp_strip_count(r->plan, phase, r->strip_rows);
    if (r->setup->live)
        SMP_TRY(smp_live_phase(r, failed_step, err));
    for (int64_t k = 0; k < strips; k++)
        SMP_TRY(run_strip(r, phase, k, failed_step, err));
    SMP_TRY(give(r, 2, err));
    SMP_TRY(r->device->ops->sync(r->device, err));
    for (size_t i = 0; i < r->plan->step_count; i++)
        if (r->plan->steps[i].phase == phase && r->plan->steps[i].job == SMP_JOB_REDUCE) {
            *failed_step = (int)i;
            SMP_TRY(finish_reduction(r, (int)i, err));
        }
    *failed_step = SMP_STEP_NONE;
    return SMP_OK;
}

smp_code smp_runner_go(smp_runner *r, const smp_runner_setup *setup, smp_run_report *report, int *failed_step,
                       smp_error *err)
{
    smp_code code = SMP_OK;
    r->setup = setup;
    r->strips_done = 0;
    r->transfer = (smp_transfer){.device = r->device};
    *failed_step = SMP_STEP_NONE;
    for (size_t i = 0; !code && i < r->plan->step_count; i++)
        code = begin_state(r, (int)i, err);
    for (size_t i = 0; !code && i < r->plan->sink_count; i++)
        code = r->stagings[i] ? smp_staging_begin(r->device, r->stagings[i], err) : SMP_OK;
    for (int phase = 0; !code && phase < r->plan->phases; phase++)
        code = run_phase(r, phase, failed_step, err);
    for (size_t i = 0; i < r->plan->step_count; i++)
        smp_file_source_close(&r->states[i].file);
    return code ? code : fill_report(r, report, err);
}

smp_code smp_runner_run(const smp_runner_setup *setup, smp_run_report *report, int *failed_step, smp_error *err)
{
    smp_runner *r;
    *failed_step = SMP_STEP_NONE;
    smp_code code = smp_runner_open(setup, &r, err);
    code = code ? code : smp_runner_go(r, setup, report, failed_step, err);
    smp_runner_close(r);
    return code;
}
