/* Chooses what fits into the time limit. Before a variant runs over a whole picture, it runs over few rows, then over
 * more, until it is known well enough how long the whole would take. The cheapest variants that fit together are
 * compared, the others are left out and told. Small work is never left out, so that results do not depend on a
 * machine's speed there. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "compare/internal.h"

enum {
    RUNS = 4,        /* of a variant at least: one that is checked, three that are timed */
    LEAST_OPS = 8,   /* a sample, to load and store it */
    SMALL = 1 << 24, /* operations that are never left out */
    LOOK = 8,        /* a look at a variant may take this part of the time for the step */
    GROWTH = 4       /* from one look to the next */
};
static const double least_seconds = 1; /* for a step, whatever the limit */

bool smp_work_is_small(const smp_step *step, const smp_node_plan *work)
{
    const double ops = work->ops > LEAST_OPS ? work->ops : LEAST_OPS;
    return (double)step->out.width * (double)step->out.height * step->out.channels * ops <= SMALL;
}

/* Seconds of one launch over rows from .. from+rows-1 of the output. */
static smp_code look(smp_step_run *run, const smp_views *whole, int64_t from, int64_t rows, double *seconds,
                     smp_error *err)
{
    const smp_step *step = run->step;
    const smp_view out = smp_view_rows(&whole->out, from, rows);
    smp_view second = whole->second;
    int64_t first, count;
    smp_step_reads(step, whole->in.height, from, from + rows, &first, &count);
    const smp_view in = smp_view_rows(&whole->in, first, count);
    if (second.data) {
        smp_step_reads_second(step, second.height, from, from + rows, &first, &count);
        second = smp_view_rows(&second, first, count);
    }
    SMP_TRY(smp_step_scratch(run, (smp_format)in.format, in.rows, err));
    const double start = smp_now();
    SMP_TRY(smp_step_launch(run, &in, &out, &second, err));
    SMP_TRY(run->device->ops->sync(run->device, err));
    *seconds = smp_now() - start;
    return SMP_OK;
}

smp_code smp_estimate_run(smp_step_run *run, const smp_variant *variant, const smp_views *whole, int64_t unit,
                          double granted, double *seconds, smp_error *err)
{
    const int64_t height = whole->out.height, from = height / 2 / unit * unit;
    double first, again;
    run->variant = variant;
    run->begun = false;
    int64_t rows = smp_min_i64(unit, height - from);
    SMP_TRY(look(run, whole, from, rows, &first, err));
    SMP_TRY(look(run, whole, from, rows, &again, err));
    const double once = from > 0 ? fmax(0, first - again) : 0; /* launches that run once, and the kernel's loading */
    for (;;) {
        *seconds = once + again * (double)height / (double)rows;
        if (*seconds <= granted / LOOK || again >= granted / LOOK || from + rows >= height)
            return SMP_OK;
        rows = smp_min_i64(rows * GROWTH, height - from);
        SMP_TRY(look(run, whole, from, rows, &again, err));
    }
}

double smp_trial_granted(const smp_comparison *c)
{
    const double left = c->check_seconds - (smp_now() - c->started);
    return fmax(least_seconds, left / (double)smp_max_i64(1, c->steps_left));
}

/* The --time-limit of which `seconds` are this step's part. Two digits, upwards, so that typing it suffices. */
static double limit_for(const smp_comparison *c, double seconds)
{
    const double limit = seconds * (double)c->steps_wanted * (c->request->counts ? 1 : 0.5);
    const double unit = limit > 10 ? pow(10, floor(log10(limit)) - 1) : 1;
    return ceil(limit / unit) * unit;
}

/* The row of the report whose kernels `variant` runs; null: none. */
static smp_compare_variant *row_of(smp_trial *trial, const smp_variant *variant)
{
    smp_compare_step *report = trial->report;
    for (size_t i = 0; report && i < report->variant_count; i++)
        if (smp_trial_same(trial, smp_trial_variant(trial, &report->variants[i]), variant))
            return &report->variants[i];
    return NULL;
}

/* Estimates of the variants that have kernels of their own here; 0 for the others. */
static smp_code estimate_all(smp_trial *trial, double granted, double *seconds, smp_error *err)
{
    const smp_views whole = {trial->in, trial->second, trial->out};
    smp_compare_step *report = trial->report;
    for (size_t i = 0; i < report->variant_count; i++) {
        const smp_variant *variant = smp_trial_variant(trial, &report->variants[i]);
        if (report->variants[i].same_as || !smp_variant_runs(variant, !trial->c->device->host_memory))
            continue;
        smp_error why = {.code = SMP_OK};
        smp_code code = smp_estimate_run(trial->run, variant, &whole, smp_max_i64(1, trial->c->plan->row_multiple),
                                         granted, &seconds[i], &why);
        if (code == SMP_E_DEVICE && i > 0) { /* cannot run here, which the check tells */
            seconds[i] = 0;
            continue;
        }
        if (code) {
            if (err)
                *err = why;
            return code;
        }
    }
    return SMP_OK;
}

/* Returns a variant that is kept: the usual one, or the cheapest if that does not fit. null: not in the report. */
static smp_compare_variant *kept_row(smp_trial *trial, const smp_variant *usual, double granted, const double *seconds)
{
    smp_compare_step *report = trial->report;
    smp_compare_variant *kept = row_of(trial, usual);
    for (size_t i = 0; kept && RUNS * seconds[kept - report->variants] > granted && i < report->variant_count; i++)
        if (seconds[i] > 0 && seconds[i] < seconds[kept - report->variants])
            kept = &report->variants[i];
    return kept;
}

/* Leaves out what does not fit beside what is cheaper. `kept` stays. */
static void leave_out(smp_trial *trial, double granted, const double *seconds, const smp_compare_variant *kept)
{
    smp_compare_step *report = trial->report;
    for (size_t i = 0; i < report->variant_count; i++) {
        smp_compare_variant *variant = &report->variants[i];
        double all = RUNS * seconds[i];
        for (size_t k = 0; k < report->variant_count; k++)
            if (k != i && (seconds[k] < seconds[i] || (seconds[k] == seconds[i] && k < i)))
                all += RUNS * seconds[k];
        if (seconds[i] == 0 || all <= granted || variant == kept)
            continue;
        variant->left_out = true;
        snprintf(variant->why, sizeof variant->why, "left out: a run takes about %.2g s; --time-limit %.0f", seconds[i],
                 limit_for(trial->c, all));
    }
}

smp_code smp_trial_fit(smp_trial *trial, smp_error *err)
{
    smp_compare_step *report = trial->report;
    const smp_variant *naive = smp_step_variants(trial->step), *usual = smp_step_default(trial->step);
    trial->maker = naive;
    if (report)
        smp_trial_find_same(trial);
    if (smp_work_is_small(trial->step, &trial->run->work) || usual == naive)
        return SMP_OK;
    const double granted = smp_trial_granted(trial->c);
    smp_code code = SMP_OK;
    if (!report) { /* only to be made for later steps */
        const smp_views whole = {trial->in, trial->second, trial->out};
        double seconds;
        SMP_TRY(smp_estimate_run(trial->run, naive, &whole, smp_max_i64(1, trial->c->plan->row_multiple), granted,
                                 &seconds, err));
        if (RUNS * seconds > granted)
            trial->maker = usual;
        return SMP_OK;
    }
    double *seconds = smp_alloc_array(report->variant_count, sizeof *seconds);
    SMP_NEED(seconds, "the comparison", report->variant_count * sizeof *seconds, err);
    code = estimate_all(trial, granted, seconds, err);
    const smp_compare_variant *kept = code ? NULL : kept_row(trial, usual, granted, seconds);
    if (!code)
        leave_out(trial, granted, seconds, kept);
    if (!code && report->variants[0].left_out)
        trial->maker = kept ? smp_trial_variant(trial, kept) : usual;
    smp_free(seconds);
    return code;
}
