/* One step: coordinate descent over variant, threads and launch shapes, each candidate run strip by strip as a run
 * would, judged against naive, then sampled in turns with the best so far. What is best in the end must win once more,
 * against the default, in samples of their own: of many candidates one looks faster by chance. See tune.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "device/cuda.h"
#include "exec/tune_work.h"

enum {
    CANDIDATES = 16, /* of one coordinate, with the best so far */
    PASSES = 2,      /* over all coordinates: the second only when the first changed something */
    FAR_SLOWER = 2   /* times the best so far, in one run: not sampled */
};

typedef struct search {
    smp_tuner *tuner;
    smp_contest *contest;
    smp_referee *referee;
    smp_tune_row *row;
    smp_tuning first, best; /* the default; the best so far */
    double rough, naive;    /* seconds of one run of the best so far; of naive's first */
    double until, latest;   /* when its time is over, and far over */
} search;

static bool on_gpu(const search *s)
{
    return !s->contest->c->device->host_memory;
}

static bool same_tuning(const smp_tuning *a, const smp_tuning *b)
{
    return a->variant == b->variant && a->threads == b->threads && !memcmp(a->knobs, b->knobs, sizeof a->knobs);
}

/* ------------------------------------------------------------------------------------------------ candidates */

/* Whether two settings of a launch's knob make the same grid here. */
static bool same_grid(search *s, const smp_variant *variant, int launch, int a, int b)
{
    const smp_launch *l = &variant->launches[launch];
    smp_contest *contest = s->contest;
    smp_io io = {.in = contest->in, .by = contest->by, .out = contest->out};
    smp_cuda_launch_info first, second;
    smp_error ignored;
    if (io.out.rows > contest->strip_rows)
        io.out.rows = contest->strip_rows;
    if (l->from == SMP_SCRATCH || l->to == SMP_SCRATCH)
        return false;
    const void *params = contest->run->work.kernel;
    smp_device *device = contest->c->device;
    if (smp_cuda_launch_describe(device, l, &io, params, (unsigned)a, &first, &ignored) ||
        smp_cuda_launch_describe(device, l, &io, params, (unsigned)b, &second, &ignored))
        return true; /* it cannot be launched: nothing to try */
    return !memcmp(first.grid.grid, second.grid.grid, sizeof first.grid.grid) &&
           !memcmp(first.grid.block, second.grid.block, sizeof first.grid.block) &&
           first.grid.shared_bytes == second.grid.shared_bytes;
}

static size_t add(smp_tuning *list, size_t count, const smp_tuning *made)
{
    for (size_t i = 0; i < count; i++)
        if (same_tuning(&list[i], made))
            return count;
    if (count < CANDIDATES)
        list[count++] = *made;
    return count;
}

/* Naive has been run already, over the whole picture; where that says enough it is not run again. */
static smp_code tell_naive(search *s, smp_error *err)
{
    const smp_variant *naive = smp_step_variants(s->contest->step);
    s->contest->run->work.tuning = (smp_tuning){.variant = NULL};
    if (naive == s->first.variant || s->naive <= FAR_SLOWER * s->rough ||
        smp_contest_same(s->contest, naive, s->first.variant))
        return SMP_OK;
    smp_tune_try *t = smp_tune_try_add(s->row, naive->name, err);
    if (!t)
        return SMP_E_MEMORY;
    t->seconds = s->naive;
    snprintf(t->why, sizeof t->why, "far slower");
    return SMP_OK;
}

static size_t add_variants(search *s, smp_tuning *list, size_t count)
{
    const smp_variant *all = smp_step_variants(s->contest->step);
    s->contest->run->work.tuning = (smp_tuning){.variant = NULL};
    for (const smp_variant *v = all; v->name; v++) {
        bool known = !smp_variant_runs(v, on_gpu(s)) || (v == all && s->naive > FAR_SLOWER * s->rough);
        for (const smp_variant *w = all; !known && w < v; w++)
            known = smp_contest_same(s->contest, w, v);
        known = known || smp_contest_same(s->contest, s->best.variant, v);
        if (!known)
            count = add(list, count, &(smp_tuning){.variant = v});
    }
    return count;
}

static size_t add_threads(search *s, smp_tuning *list, size_t count)
{
    for (int n = 1; !on_gpu(s) && n < s->contest->c->device->info.units; n *= 2) {
        smp_tuning made = s->best;
        made.threads = n;
        count = add(list, count, &made);
    }
    return count;
}

static size_t add_knob(search *s, int launch, smp_tuning *list, size_t count)
{
    const smp_knob *knob = on_gpu(s) ? s->best.variant->launches[launch].knob : NULL;
    for (int i = 0; knob && i < SMP_KNOB_VALUES && knob->values[i]; i++) {
        smp_tuning made = s->best;
        made.knobs[launch] = knob->values[i];
        if (!same_grid(s, made.variant, launch, s->best.knobs[launch], made.knobs[launch]))
            count = add(list, count, &made);
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------ duels */

/* Runs what has not been run yet; the rows that are worth sampling are kept, in order. */
static smp_code judge(search *s, smp_compare_variant *rows, size_t *count, smp_tune_try *tries[], smp_error *err)
{
    size_t kept = 1;
    smp_code code = SMP_OK;
    for (size_t i = 1; !code && i < *count; i++) {
        smp_compare_variant *row = &rows[i];
        code = smp_referee_judge(s->referee, s->contest, row, err);
        if (code)
            break;
        smp_tune_try *t = tries[i];
        t->seconds = s->contest->run->cost.seconds;
        if (row->check == SMP_CHECK_WRONG)
            snprintf(t->why, sizeof t->why, "WRONG: %.140s", row->wrong);
        else if (row->check != SMP_CHECK_RIGHT)
            snprintf(t->why, sizeof t->why, "%s", row->why);
        else if (t->seconds > FAR_SLOWER * s->rough)
            snprintf(t->why, sizeof t->why, "far slower");
        else {
            tries[kept] = t;
            rows[kept++] = *row;
        }
    }
    *count = kept;
    return code;
}

static smp_code sample_all(search *s, smp_compare_variant *rows, size_t count, double seconds, bool decide,
                           smp_error *err)
{
    smp_contest *contest = s->contest;
    smp_compare_step *report = contest->report, own = *report;
    own.variants = rows;
    own.variant_count = count;
    contest->report = &own;
    contest->c->step_seconds = seconds;
    contest->decide = decide;
    contest->hurry = true;
    report->timed_out = own.timed_out = false;
    double start = smp_now();
    smp_code code = smp_contest_time(contest, err);
    contest->report = report;
    report->timed_out = own.timed_out;
    return code ? code : smp_tune_progress(s->tuner, smp_now() - start);
}

static void free_samples(smp_compare_variant *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        smp_free(rows[i].samples);
        rows[i].samples = NULL;
        rows[i].sample_count = rows[i].sample_capacity = 0;
    }
}

/* The best so far, list[0], against the others; *best becomes what is fastest beyond doubt. */
static smp_code duel(search *s, smp_tuning *list, size_t count, double seconds, bool *changed, smp_error *err)
{
    smp_compare_variant rows[CANDIDATES] = {{.name = NULL}};
    smp_tune_try *tries[CANDIDATES] = {NULL};
    char text[96];
    const size_t base = s->row->try_count;
    smp_code code = SMP_OK;
    for (size_t i = 1; i < count; i++) {
        smp_tuning_text(&list[i], text, sizeof text);
        if (!smp_tune_try_add(s->row, text, err))
            return SMP_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = (smp_compare_variant){.name = list[i].variant->name, .tuning = &list[i]};
        tries[i] = i ? &s->row->tries[base + i - 1] : NULL;
    }
    rows[0].check = SMP_CHECK_RIGHT;
    code = judge(s, rows, &count, tries, err);
    if (!code && count > 1)
        code = sample_all(s, rows, count, seconds, true, err);
    size_t won = 0;
    for (size_t i = 1; !code && i < count; i++) {
        tries[i]->seconds = rows[i].time.median;
        tries[i]->verdict = rows[i].verdict;
        if (s->contest->report->timed_out)
            snprintf(tries[i]->why, sizeof tries[i]->why, "too little time");
        else if (rows[i].verdict == SMP_VERDICT_FASTER && rows[i].time.median < rows[won].time.median)
            won = i;
    }
    *changed = *changed || won;
    if (won) {
        s->best = *rows[won].tuning;
        s->rough = rows[won].time.median;
    }
    free_samples(rows, count);
    return code;
}

/* The default against the best: new samples, all the time that is left for them. */
static smp_code confirm(search *s, double seconds, smp_error *err)
{
    smp_tuning list[2] = {s->first, s->best};
    const bool found = !same_tuning(&s->first, &s->best);
    smp_compare_variant rows[2];
    for (int i = 0; i < 2; i++)
        rows[i] = (smp_compare_variant){.name = list[i].variant->name, .tuning = &list[i], .check = SMP_CHECK_RIGHT};
    smp_code code = sample_all(s, rows, found ? 2 : 1, seconds, !found, err);
    s->row->before = rows[0].time;
    s->row->changed = !code && found && !s->contest->report->timed_out && rows[1].verdict == SMP_VERDICT_FASTER;
    if (s->row->changed)
        s->row->after = rows[1].time;
    free_samples(rows, 2);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the step */

static smp_code descend(search *s, double share, smp_error *err)
{
    enum { VARIANTS, THREADS, KNOBS, COORDINATES = KNOBS + SMP_MAX_LAUNCHES };
    smp_code code = SMP_OK;
    bool changed = true;
    for (int pass = 0; !code && changed && pass < PASSES; pass++) {
        changed = false;
        for (int which = VARIANTS; !code && which < COORDINATES; which++) {
            /* Every coordinate is tried once, unless it takes far too long. */
            if (smp_now() >= (pass ? s->until : s->latest))
                break;
            smp_tuning list[CANDIDATES] = {s->best};
            size_t count = which == VARIANTS  ? add_variants(s, list, 1)
                           : which == THREADS ? add_threads(s, list, 1)
                                              : add_knob(s, which - KNOBS, list, 1);
            if (count > 1)
                code = duel(s, list, count, share / 4, &changed, err);
        }
    }
    return code;
}

/* The default's own bytes, and what one run of it takes. */
static smp_code begin(search *s, smp_error *err)
{
    smp_compare_variant row = {.name = s->first.variant->name, .tuning = &s->first};
    smp_code code = smp_referee_judge(s->referee, s->contest, &row, err);
    s->rough = s->contest->run->cost.seconds;
    if (!code && row.check != SMP_CHECK_RIGHT)
        code = smp_fail(err, SMP_E_DIFFERENT, "the default variant '%s' of '%s' is wrong here: %s", row.name,
                        s->contest->step->stage->name, row.wrong[0] ? row.wrong : row.why);
    return code;
}

/* A step of the same work that was searched before: its choice holds here. */
static int find_same(const smp_tuner *tuner, int index)
{
    int found = 0;
    char *own = smp_tuned_step_key(tuner->plan, &tuner->plan->steps[index]);
    for (int i = 1; own && !found && i < index; i++) {
        if (tuner->plan->steps[i].job == SMP_JOB_SOURCE)
            continue;
        char *other = smp_tuned_step_key(tuner->plan, &tuner->plan->steps[i]);
        if (other && !strcmp(own, other))
            found = i;
        smp_free(other);
    }
    smp_free(own);
    return found;
}

smp_code smp_tune_step(void *context, smp_contest *contest, smp_error *err)
{
    smp_tuner *tuner = context;
    search s = {.tuner = tuner,
                .contest = contest,
                .row = &tuner->report->rows[tuner->report->count++],
                .first = {.variant = smp_step_default(contest->step)},
                .naive = contest->run->cost.seconds};
    const double now = smp_now(), share = tuner->step_budget / (tuner->steps_left > 0 ? tuner->steps_left : 1);
    tuner->steps_left--;
    s.best = s.first;
    s.until = now + share * 3 / 4;
    s.latest = now + 4 * share + 1;
    snprintf(s.row->label, sizeof s.row->label, "%s", contest->step->label);
    s.row->number = contest->index;
    s.row->same_as = find_same(tuner, contest->index);
    contest->strip_rows = tuner->strip_rows;
    if (s.row->same_as) {
        tuner->choices[contest->index] = tuner->choices[s.row->same_as];
        return SMP_OK;
    }
    smp_code code = smp_referee_open(contest, &s.referee, err);
    if (!code)
        code = begin(&s, err);
    if (!code)
        code = tell_naive(&s, err);
    if (!code)
        code = descend(&s, share, err);
    if (!code)
        code = confirm(&s, share / 4, err);
    if (!code && s.row->changed)
        tuner->choices[contest->index] = s.best;
    smp_tuning_text(&tuner->choices[contest->index], s.row->chosen, sizeof s.row->chosen);
    contest->run->work.tuning = (smp_tuning){.variant = NULL};
    smp_referee_close(s.referee);
    tuner->step_budget -= smp_now() - now;
    return code;
}
