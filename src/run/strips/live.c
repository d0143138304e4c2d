/* The run of a sound that comes as somebody makes it: every step computes all rows that its input suffices for, and
 * what goes to sinks goes on at once. Strips are as high as what has come, at most as others are; the bytes do not
 * depend on it. Windows grow until they hold what steps keep for the next strip.
 *
 * A step whose rows are computed in units (smp_node_plan.row_unit) does not wait for a whole one: it computes the
 * unit's beginning, and that again with more of it. */
#include "base/alloc.h"
#include "base/checked.h"
#include "pipe/plan/plan.h"
#include "run/strips/runner_internal.h"

static int64_t unit_of(const smp_step *step)
{
    return smp_max_i64(1, step->work.rows.unit);
}

static int64_t begin_of_unit(const smp_step *step, int64_t row)
{
    return row / unit_of(step) * unit_of(step);
}

/* The inputs of a step, by number; SMP_STEP_NONE: there is no such. */
enum { INPUTS = 2 };

static int input_of(const smp_step *step, int k)
{
    return k ? step->second : step->input;
}

/* The rows of an input that a step reads for its rows before `end`, and the first for its row `from`. */
static int64_t end_of_need(const smp_runner *r, const smp_step *step, int k, int64_t end)
{
    const int64_t height = r->plan->steps[input_of(step, k)].out.height;
    int64_t first, last = 0;
    if (end > 0)
        smp_row_map_reads(k ? &step->reads_second : &step->reads, height, end - 1, end, &first, &last);
    return last;
}

static int64_t start_of_need(const smp_runner *r, const smp_step *step, int k, int64_t from)
{
    const int64_t height = r->plan->steps[input_of(step, k)].out.height;
    int64_t first = height, last;
    if (from < step->out.height)
        smp_row_map_reads(k ? &step->reads_second : &step->reads, height, from, from + 1, &first, &last);
    return first;
}

static bool is_file(const smp_step *step)
{
    return step->job == SMP_JOB_SOURCE && step->file;
}

static bool is_sink(const smp_runner *r, int index)
{
    for (size_t i = 0; i < r->plan->sink_count; i++)
        if (r->plan->sinks[i].step == index)
            return true;
    return false;
}

/* Finds the rows of each step that are ever read: rows state->first .. state->last - 1, with the rest of their
 * units. */
static void find_wanted(smp_runner *r)
{
    const smp_plan *plan = r->plan;
    for (int i = 0; i < (int)plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        const bool all = is_sink(r, i) || step->job == SMP_JOB_REDUCE;
        r->states[i].first = all ? 0 : step->out.height;
        r->states[i].last = all ? step->out.height : 0;
    }
    for (int i = (int)plan->step_count - 1; i > 0; i--) {
        const smp_step *step = &plan->steps[i];
        smp_step_state *state = &r->states[i];
        const int64_t last = smp_min_i64(state->last, step->out.height) + unit_of(step) - 1;
        state->first = begin_of_unit(step, state->first);
        state->last = smp_min_i64(begin_of_unit(step, last), step->out.height);
        for (int k = 0; k < INPUTS && state->last; k++) {
            const int input = input_of(step, k);
            if (input < 0)
                continue;
            smp_step_state *from = &r->states[input];
            from->first = smp_min_i64(from->first, start_of_need(r, step, k, state->first));
            from->last = smp_max_i64(from->last, end_of_need(r, step, k, state->last));
        }
    }
}

smp_code smp_live_prepare(smp_runner *r, smp_error *err)
{
    const size_t count = r->plan->step_count;
    r->stagings = smp_alloc_array(r->plan->sink_count + 1, sizeof *r->stagings); /* rows do not stop over */
    r->states = smp_alloc_array(count, sizeof *r->states);
    smp_code code = r->states && r->stagings ? SMP_OK : smp_fail_memory(err, "a run", count * sizeof *r->states);
    for (size_t i = 0; !code && i < count; i++) {
        const smp_step *step = &r->plan->steps[i];
        r->states[i].stride = smp_row_stride(&step->out, step->storage);
        r->states[i].zero_copy_sink = -1;
        if (step->job != SMP_JOB_SOURCE)
            code =
                smp_step_open(&r->states[i].run, r->device, step, NULL, smp_step_variant(step, r->setup->variant), err);
        r->states[i].run.wants_partial = r->setup->partials;
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------- memory */

/* The first row of a step that it or another step still reads or computes again. */
static int64_t keep_of(const smp_runner *r, int index)
{
    const smp_step *own = &r->plan->steps[index];
    int64_t keep = begin_of_unit(own, r->states[index].done);
    if (is_sink(r, index))
        keep = smp_min_i64(keep, r->states[index].sent);
    for (size_t i = (size_t)index + 1; i < r->plan->step_count; i++) {
        const smp_step *step = &r->plan->steps[i];
        for (int k = 0; k < INPUTS && r->states[i].done < r->states[i].last; k++)
            if (input_of(step, k) == index)
                keep = smp_min_i64(keep, start_of_need(r, step, k, begin_of_unit(step, r->states[i].done)));
    }
    return keep;
}

/* Room for rows up to `to`. The rows that are kept move to the window's start, or to a larger one. */
static smp_code make_room(smp_runner *r, int index, int64_t to, smp_error *err)
{
    enum { ROOMY = 3 }; /* times what is needed: then rows move seldom, and never onto themselves */
    smp_step_state *state = &r->states[index];
    const smp_step *step = &r->plan->steps[index];
    const smp_device_ops *ops = r->device->ops;
    if (state->memory && to - state->base <= state->rows)
        return SMP_OK;
    const int64_t keep = smp_max_i64(state->base, keep_of(r, index)), need = to - keep,
                  kept = smp_max_i64(0, state->done - keep);
    void *old = state->memory, *fresh = old;
    size_t bytes;
    smp_code code = SMP_OK;
    const bool moves = old && need <= state->rows && keep - state->base >= kept;
    if (!moves && (!smp_mul_size((size_t)need, (size_t)(ROOMY * state->stride), &bytes)))
        return smp_fail_memory(err, "a sound", UINT64_MAX);
    if (!moves)
        code = ops->alloc(r->device, bytes, &fresh, err);
    if (!code && kept)
        code = ops->copy(r->device, fresh, state->stride, (char *)old + (keep - state->base) * state->stride,
                         state->stride, smp_row_bytes(&step->out, step->storage), kept, err);
    if (!moves && !code && old)
        code = ops->sync(r->device, err); /* what is queued may read it */
    if (!moves && !code) {
        if (old)
            ops->free(r->device, old);
        state->memory = fresh;
        state->rows = ROOMY * need;
    } else if (fresh != old)
        ops->free(r->device, fresh);
    state->base = keep;
    return code;
}

/* ---------------------------------------------------------------------------------------------- steps */

/* Returns how many rows of a step its inputs suffice for. */
static int64_t computable(const smp_runner *r, int index)
{
    const smp_step *step = &r->plan->steps[index];
    const smp_step_state *state = &r->states[index];
    int64_t low = state->done, high = state->last;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        bool there = true;
        for (int k = 0; k < INPUTS; k++) {
            const int input = input_of(step, k);
            if (input >= 0 && !is_file(&r->plan->steps[input]))
                there = there && end_of_need(r, step, k, middle) <= r->states[input].done;
        }
        if (there)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static smp_code read_file(smp_runner *r, int index, int64_t to, smp_error *err)
{
    smp_step_state *state = &r->states[index];
    if (to <= state->done)
        return SMP_OK;
    const smp_code code = make_room(r, index, to, err);
    const smp_code filled = code ? code : smp_runner_fill(r, index, &(smp_rows){state->done, to, 0, 0}, err);
    state->done = filled ? state->done : to;
    return filled;
}

/* Sends the finished rows of a step to its sinks. */
static smp_code send(smp_runner *r, int index, smp_error *err)
{
    smp_step_state *state = &r->states[index];
    const smp_rows fresh = {.from = state->sent, .to = state->done};
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < r->plan->sink_count; i++)
        if (r->plan->sinks[i].step == index && fresh.from < fresh.to)
            code = smp_runner_send(r, i, &fresh, err);
    state->sent = state->done;
    return code;
}

/* Computes what can be. *more: a strip's rows are done, and more could be. */
static smp_code advance(smp_runner *r, int index, bool *more, smp_error *err)
{
    const smp_step *step = &r->plan->steps[index];
    smp_step_state *state = &r->states[index];
    const int64_t unit = unit_of(step), most = smp_max_i64(r->strip_rows, unit);
    int64_t first, count, to = computable(r, index);
    if (to - state->done > most) {
        to = state->done + most;
        *more = true;
    }
    const bool once = step->job == SMP_JOB_REDUCE || state->run.clipped; /* rows must not count twice */
    if (once && to < step->out.height)
        to = begin_of_unit(step, to);
    if (to <= state->done)
        return SMP_OK;
    const smp_rows rows = {.from = begin_of_unit(step, state->done), .to = to};
    const smp_step *input = &r->plan->steps[step->input];
    smp_code code = SMP_OK;
    for (int k = 0; !code && k < INPUTS; k++)
        if (input_of(step, k) >= 0 && is_file(&r->plan->steps[input_of(step, k)]))
            code = read_file(r, input_of(step, k), end_of_need(r, step, k, to), err);
    if (!code && step->job != SMP_JOB_REDUCE)
        code = make_room(r, index, to, err);
    smp_step_reads(step, input->out.height, rows.from, rows.to, &first, &count);
    if (!code && state->run.scratch && count > state->run.scratch_rows)
        code = r->device->ops->sync(r->device, err); /* what is queued may read it */
    code = code ? code : smp_step_scratch(&state->run, input->storage, count, err);
    code = code ? code : smp_runner_compute(r, index, &rows, err);
    state->done = code ? state->done : to;
    return code ? code : send(r, index, err);
}

/* Takes the rows of the source that have come: at least one, at most a strip. *ended: there is none. */
static smp_code take(smp_runner *r, bool *ended, smp_error *err)
{
    smp_step_state *state = &r->states[0];
    smp_endpoint *source = r->setup->source;
    const smp_step *step = &r->plan->steps[0];
    const bool passes = state->done < state->first; /* rows that no step reads */
    const int64_t most = passes ? state->first : smp_min_i64(state->last, state->done + r->strip_rows);
    do {
        const void *rows;
        int64_t count;
        smp_code code = smp_stream_take(source->stream, most - state->done, &rows, &count, err);
        if (code || !count) {
            *ended = !count;
            return code;
        }
        if (passes) {
            smp_stream_took(source->stream, count);
            state->base = state->sent = state->done += count;
            continue;
        }
        if ((code = make_room(r, 0, state->done + count, err)))
            return code;
        const smp_rows_sent sent = {.up = true,
                                    .to = (char *)state->memory + (state->done - state->base) * state->stride,
                                    .to_stride = state->stride,
                                    .from = rows,
                                    .from_stride = smp_stream_stride(source->stream),
                                    .row_bytes = smp_row_bytes(&step->out, step->storage),
                                    .rows = count};
        if ((code = smp_transfer_move(&r->transfer, source, &sent, false, err)))
            return code;
        smp_stream_took(source->stream, count);
        source->at += count;
        state->done += count;
    } while (state->done < most && smp_stream_has_rows(source->stream));
    return SMP_OK;
}

/* A sink whose writer has failed ends the source too, and says why here. */
static smp_code ask_sinks(const smp_runner *r, smp_error *err)
{
    smp_code code = SMP_OK;
    void *rows;
    int64_t count;
    for (size_t i = 0; !code && i < r->plan->sink_count; i++)
        code = smp_stream_room(r->setup->sinks[i].stream, 1, 0, &rows, &count, err);
    return code;
}

/* The source has ended: now its length, and all others, are known. */
static smp_code end_source(smp_runner *r, int *failed, smp_error *err)
{
    int differs = SMP_STEP_NONE;
    const int64_t frames = r->states[0].done;
    const double seconds = (double)frames / r->plan->steps[0].out.rate;
    if (!r->open)
        return smp_fail(err, SMP_E_PROCESS, "the sound ended before its length");
    if (!frames)
        return smp_fail(err, SMP_E_DECODE, "the sound has no frames"),
               smp_hint(err, "what was to record or write it may have failed: the program before the pipe");
    const smp_code code = smp_plan_set_length(r->open, frames, &differs, failed, err);
    if (!code && differs >= 0 && r->setup->notes)
        smp_note(r->setup->notes,
                 "the sound ended after %.6g s, while '%s' counted on a longer one: given as a file it becomes another",
                 seconds, r->plan->steps[differs].label);
    r->open = NULL;
    find_wanted(r);
    return code;
}

static bool is_done(const smp_runner *r)
{
    for (size_t i = 1; i < r->plan->step_count; i++)
        if ((is_sink(r, (int)i) || r->plan->steps[i].job == SMP_JOB_REDUCE) &&
            r->states[i].done < r->plan->steps[i].out.height)
            return false;
    return !is_sink(r, 0) || r->states[0].done == r->plan->steps[0].out.height;
}

static smp_code begin(smp_runner *r, int *failed, smp_error *err)
{
    smp_code code = SMP_OK;
    find_wanted(r);
    for (size_t i = 0; !code && i < r->plan->step_count; i++) {
        smp_step_state *state = &r->states[i];
        smp_endpoint file = {.stream = state->file.stream};
        *failed = (int)i;
        if (is_file(&r->plan->steps[i]))
            code = smp_transfer_skip(&file, state->first, err);
        state->base = state->done = state->sent = i ? state->first : 0;
    }
    return code;
}

/* One round: takes what has come, unless there is more to compute, and computes. */
static smp_code go_round(smp_runner *r, bool *ended, bool *more, int *failed, smp_error *err)
{
    const smp_step_state *source = &r->states[0];
    const bool takes = !*more && !*ended && source->done < source->last;
    smp_code code = SMP_OK;
    *failed = 0;
    if (!takes && !*more)
        return smp_fail(err, SMP_E_PROCESS, "rows are missing at the sound's end");
    if (takes)
        code = take(r, ended, err);
    *more = false;
    if (!code && takes && *ended)
        code = ask_sinks(r, err);
    if (!code && takes && *ended)
        code = end_source(r, failed, err);
    code = code ? code : send(r, 0, err);
    for (size_t i = 1; !code && i < r->plan->step_count; i++) {
        *failed = (int)i;
        if (r->plan->steps[i].job != SMP_JOB_SOURCE)
            code = advance(r, (int)i, more, err);
    }
    for (size_t i = 0; !code && i < r->plan->sink_count; i++)
        smp_stream_pass(r->setup->sinks[i].stream);
    if (code)
        return code;
    *failed = SMP_STEP_NONE;
    r->strips_done++;
    return r->setup->progress ? r->setup->progress(r->setup->progress_context, r->strips_done, 0) : SMP_OK;
}

smp_code smp_live_phase(smp_runner *r, int *failed, smp_error *err)
{
    bool ended = false, more = false;
    int differs, none;
    smp_code code = begin(r, failed, err);
    while (!code && !is_done(r))
        code = go_round(r, &ended, &more, failed, err);
    if (!code && r->open) /* the source may go on, and nobody wants more of it: the report tells of what was read */
        (void)smp_plan_set_length(r->open, r->states[0].done, &differs, &none, NULL);
    return code;
}
