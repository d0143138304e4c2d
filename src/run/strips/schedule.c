/* The schedule of strips: see schedule.h. */
#include "run/strips/schedule.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "run/strips/step.h"

static bool drives(const smp_plan *plan, int index)
{
    const smp_step *step = &plan->steps[index];
    if (step->frame || step->job == SMP_JOB_REDUCE)
        return true;
    for (size_t i = 0; i < plan->sink_count; i++)
        if (plan->sinks[i].step == index)
            return true;
    return false;
}

static int64_t driver_height(const smp_plan *plan, int phase)
{
    int64_t most = 0;
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].phase == phase && drives(plan, (int)i))
            most = smp_max_i64(most, plan->steps[i].out.height);
    return most;
}

int64_t smp_phase_rows(const smp_plan *plan, int phase, int64_t strip_rows)
{
    enum { BYTES = 1 << 20 };
    int64_t widest = 1;
    bool kept = false;
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->phase != phase)
            continue;
        if (step->out.kind != SMP_AUDIO)
            return strip_rows;
        widest = smp_max_i64(widest, step->out.channels * (int64_t)sizeof(float));
        kept = kept || step->frame;
    }
    for (size_t i = 0; i < plan->sink_count; i++)
        kept = kept && plan->steps[plan->sinks[i].step].phase != phase;
    const int64_t multiple = smp_max_i64(1, plan->row_multiple);
    return kept ? smp_max_i64(strip_rows, (BYTES / widest + multiple - 1) / multiple * multiple) : strip_rows;
}

int64_t smp_strip_count(const smp_plan *plan, int phase, int64_t strip_rows)
{
    int64_t height = driver_height(plan, phase);
    strip_rows = smp_phase_rows(plan, phase, strip_rows);
    return height ? (height - 1) / strip_rows + 1 : 0;
}

/* Rows that a driver of this height has computed after k of `strips` strips. Drivers lower than the highest one advance
 * in proportion, rounded up to multiples of row_multiple: rounded down, more than a strip could be left for the last.
 */
static int64_t share(const smp_plan *plan, int64_t height, int64_t highest, int64_t strip_rows, int64_t k,
                     int64_t strips)
{
    if (k >= strips)
        return height;
    if (height == highest)
        return smp_min_i64(height, k * strip_rows);
    int64_t rows = (int64_t)((double)height * (double)k / (double)strips);
    return smp_min_i64(height, (rows + plan->row_multiple - 1) / plan->row_multiple * plan->row_multiple);
}

/* The first row of an input of `height` that output rows `from` and later read, and the end of what rows before `to`
 * read. */
static int64_t start_of_need(const smp_step *step, const smp_row_map *reads, int64_t height, int64_t from)
{
    int64_t first, end;
    if (from >= step->out.height)
        return height;
    smp_row_map_reads(reads, height, from, from + 1, &first, &end);
    return first;
}
static int64_t end_of_need(const smp_row_map *reads, int64_t height, int64_t to)
{
    int64_t first, end;
    smp_row_map_reads(reads, height, to - 1, to, &first, &end);
    return to > 0 ? end : 0;
}

/* Widens what is wanted of a step to whole units (smp_node_plan.rows.unit). Both ends move up, since what one strip
 * computes beyond its need is done when the next begins. */
static void in_units(const smp_step *step, smp_rows *rows)
{
    const int64_t unit = smp_max_i64(1, step->work.rows.unit), height = step->out.height;
    rows->from = smp_min_i64(height, (rows->from + unit - 1) / unit * unit);
    rows->to = smp_min_i64(height, (rows->to + unit - 1) / unit * unit);
    if (rows->first != INT64_MAX)
        rows->first = rows->first / unit * unit;
}

void smp_strip_needs(const smp_plan *plan, int phase, int64_t strip_rows, int64_t k, smp_rows *rows)
{
    strip_rows = smp_phase_rows(plan, phase, strip_rows);
    int64_t strips = smp_strip_count(plan, phase, strip_rows), highest = driver_height(plan, phase);
    int count = (int)plan->step_count;
    /* Two positions: the rows done before strip k (`from`), and those done after it (`to`). One backward pass gives
     * both, since the needs after strip k-1 are the rows computed by then. */
    for (int i = 0; i < count; i++) {
        const smp_step *step = &plan->steps[i];
        bool here = step->phase == phase && drives(plan, i);
        rows[i].from = here && k > 0 ? share(plan, step->out.height, highest, strip_rows, k, strips) : 0;
        rows[i].to = here ? share(plan, step->out.height, highest, strip_rows, k + 1, strips) : 0;
        rows[i].keep = INT64_MAX;
        rows[i].first = here ? 0 : INT64_MAX;
    }
    for (int i = count - 1; i > 0; i--) {
        const smp_step *step = &plan->steps[i];
        if (step->phase != phase)
            continue;
        in_units(step, &rows[i]);
        int64_t from = smp_max_i64(rows[i].from, smp_min_i64(rows[i].first, rows[i].to)); /* the rows computed */
        for (int operand = 0; operand < 2; operand++) {
            int input = operand ? step->second : step->input;
            if (input < 0)
                continue;
            const smp_step *source = &plan->steps[input];
            if (source->phase != phase)
                continue; /* a frame is complete */
            const smp_row_map *reads = operand ? &step->reads_second : &step->reads;
            int64_t height = source->out.height;
            smp_rows *need = &rows[input];
            need->from = smp_max_i64(need->from, end_of_need(reads, height, rows[i].from));
            need->to = smp_max_i64(need->to, end_of_need(reads, height, rows[i].to));
            need->keep = smp_min_i64(need->keep, start_of_need(step, reads, height, from));
            if (rows[i].first != INT64_MAX)
                need->first = smp_min_i64(need->first, start_of_need(step, reads, height, rows[i].first));
        }
    }
    for (int i = 0; i < count; i++) {
        rows[i].from = smp_max_i64(rows[i].from, smp_min_i64(rows[i].first, rows[i].to));
        rows[i].keep = smp_min_i64(rows[i].keep, rows[i].from);
        if (plan->steps[i].frame)
            rows[i].keep = 0;
    }
}

/* The last phase that reads what a step computes. */
static int last_phase(const smp_plan *plan, int index)
{
    int last = plan->steps[index].phase;
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].input == index || plan->steps[i].second == index)
            last = (int)smp_max_i64(last, plan->steps[i].phase);
    return last;
}

static int64_t frame_bytes(const smp_step *step)
{
    return step->out.height * smp_row_stride(&step->out, step->storage);
}

/* A frame takes the memory of an earlier one that is as large and whose readers are done by then. A source's may be a
 * reader's own. */
static void share_frames(const smp_plan *plan, smp_window *windows)
{
    for (int i = 0; i < (int)plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        windows[i].frame_of = step->frame ? i : -1;
        for (int owner = 0; step->frame && windows[i].frame_of == i && owner < i; owner++) {
            bool fits = windows[owner].frame_of == owner && plan->steps[owner].job != SMP_JOB_SOURCE &&
                        frame_bytes(&plan->steps[owner]) >= frame_bytes(step);
            for (int k = owner; fits && k < i; k++)
                fits = windows[k].frame_of != owner || last_phase(plan, k) < step->phase;
            if (fits)
                windows[i].frame_of = owner;
        }
    }
}

smp_code smp_plan_windows(const smp_plan *plan, int64_t strip_rows, smp_window *windows, smp_error *err)
{
    smp_rows *rows = smp_alloc_array(plan->step_count, sizeof *rows);
    smp_code code = SMP_OK;
    if (!rows) {
        code = smp_fail_memory(err, "the schedule", plan->step_count * sizeof *rows);
        goto done;
    }
    for (size_t i = 0; i < plan->step_count; i++)
        windows[i] = (smp_window){0};
    for (int phase = 0; phase < plan->phases; phase++) {
        int64_t strips = smp_strip_count(plan, phase, strip_rows);
        for (int64_t k = 0; k < strips; k++) {
            smp_strip_needs(plan, phase, strip_rows, k, rows);
            for (size_t i = 0; i < plan->step_count; i++) {
                const smp_step *step = &plan->steps[i];
                if (step->phase != phase || step->job == SMP_JOB_REDUCE)
                    continue;
                smp_window *w = &windows[i];
                w->rows = smp_max_i64(w->rows, rows[i].to - rows[i].keep);
                w->retained = smp_max_i64(w->retained, rows[i].from - rows[i].keep);
            }
        }
    }
    for (size_t i = 0; i < plan->step_count; i++)
        windows[i].shown = windows[i].rows;
    for (size_t i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].frame)
            windows[i] = (smp_window){.rows = plan->steps[i].out.height, .shown = plan->steps[i].out.height};
        else /* the rows that stay must not overlap the place that they move to */
            windows[i].rows = smp_min_i64(windows[i].rows + windows[i].retained, plan->steps[i].out.height);
    }
    share_frames(plan, windows);
done:
    smp_free(rows);
    return code;
}

int smp_zero_copy_sink(const smp_plan *plan, int index)
{
    int found = -1;
    if (plan->steps[index].frame || plan->steps[index].job == SMP_JOB_SOURCE)
        return -1;
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].input == index || plan->steps[i].second == index)
            return -1;
    for (size_t i = 0; i < plan->sink_count; i++)
        if (plan->sinks[i].step == index) {
            if (found >= 0)
                return -1;
            found = (int)i;
        }
    return found;
}

smp_code smp_rows_needed(const smp_plan *plan, int source, int64_t *rows, smp_error *err)
{
    smp_rows *needs = smp_alloc_array(plan->step_count, sizeof *needs);
    SMP_NEED(needs, "a schedule", plan->step_count * sizeof *needs, err);
    smp_strip_needs(plan, plan->steps[source].phase, INT64_MAX, 0, needs); /* one strip of everything */
    *rows = needs[source].to;
    smp_free(needs);
    return SMP_OK;
}
