/* Whole runs over the picture in memory: how high strips should be, and whether what was chosen for steps makes the
 * pipeline faster. Codecs are not part of it; so that decoding and encoding can go on beside computing, strips stay at
 * most a quarter of the picture. See tune.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "exec/runner.h"
#include "exec/step.h"
#include "exec/tune_work.h"

enum { HEIGHTS = 6, MOST = HEIGHTS + 2 /* the defaults, the steps' choices */, MOST_SAMPLES = 1000 };

typedef struct candidate {
    bool steps;         /* with the steps' choices */
    int64_t strip_rows; /* 0: the executor's */
    bool out;           /* it cannot run, or its bytes differ */
    double *samples;
    size_t count, capacity;
    smp_spread time;
    smp_tune_try *tell; /* null: of no line */
} candidate;

typedef struct whole {
    smp_tuner *tuner;
    smp_view in;
    smp_view *outs, *want; /* a picture each sink */
    smp_port *ports;
    candidate all[MOST];
    int count;
    bool few; /* the last samples were too few for a verdict: the time was over */
} whole;

/* ------------------------------------------------------------------------------------------------ pictures */

static smp_code open_pictures(whole *w, smp_error *err)
{
    const smp_plan *plan = w->tuner->plan;
    w->outs = smp_alloc_array(plan->sink_count, sizeof *w->outs);
    w->want = smp_alloc_array(plan->sink_count, sizeof *w->want);
    w->ports = smp_alloc_array(plan->sink_count, sizeof *w->ports);
    if (!w->outs || !w->want || !w->ports)
        return smp_fail_memory(err, "outputs", plan->sink_count * sizeof *w->outs);
    for (size_t i = 0; i < 2 * plan->sink_count; i++) {
        const smp_shape *shape = &plan->sinks[i / 2].shape;
        int64_t stride = smp_row_stride(shape, shape->format);
        size_t bytes;
        void *memory = smp_mul_size((size_t)stride, (size_t)shape->height, &bytes) ? smp_alloc(bytes) : NULL;
        if (!memory)
            return smp_fail_memory(err, "a picture", (uint64_t)stride * (uint64_t)shape->height);
        (i % 2 ? w->want : w->outs)[i / 2] = smp_view_of(shape, shape->format, memory, stride, 0, 0, shape->height);
    }
    return SMP_OK;
}

static void close_pictures(whole *w)
{
    for (size_t i = 0; i < w->tuner->plan->sink_count; i++) {
        if (w->outs)
            smp_free(w->outs[i].data);
        if (w->want)
            smp_free(w->want[i].data);
    }
    smp_free(w->outs);
    smp_free(w->want);
    smp_free(w->ports);
}

/* Puts the outputs aside as what is expected, and fills them with the opposite of it. */
static void expect_outputs(whole *w)
{
    for (size_t i = 0; i < w->tuner->plan->sink_count; i++) {
        unsigned char *want = w->want[i].data, *out = w->outs[i].data;
        for (int64_t k = 0; k < w->outs[i].rows * w->outs[i].stride; k++) {
            want[k] = out[k];
            out[k] = (unsigned char)~out[k];
        }
    }
}

/* Whether the outputs are as expected; they are filled with the opposite again. */
static bool outputs_are_right(whole *w)
{
    bool right = true;
    for (size_t i = 0; i < w->tuner->plan->sink_count; i++) {
        const smp_view *view = &w->outs[i];
        size_t bytes = (size_t)(view->width * view->channels * smp_sample_size(view->format));
        for (int64_t y = 0; y < view->rows; y++) {
            unsigned char *out = smp_row(view, y);
            const unsigned char *want = smp_row(&w->want[i], y);
            right = right && !memcmp(out, want, bytes);
            for (size_t k = 0; k < bytes; k++)
                out[k] = (unsigned char)~want[k];
        }
    }
    return right;
}

/* ------------------------------------------------------------------------------------------------ runs */

static void apply(const smp_tuner *tuner, bool steps, int64_t strip_rows)
{
    for (size_t i = 0; i < tuner->plan->step_count; i++)
        tuner->plan->steps[i].work.tuning = steps ? tuner->choices[i] : (smp_tuning){.variant = NULL};
    tuner->plan->strip_rows = strip_rows;
}

/* One run from taking memory to giving it back, as `run` does it. */
static smp_code run_once(whole *w, const candidate *c, double *seconds, smp_error *err)
{
    smp_tuner *tuner = w->tuner;
    smp_port source = {.view = w->in};
    smp_run_report report = {.status = SMP_OK};
    int failed;
    apply(tuner, c->steps, c->strip_rows);
    for (size_t i = 0; i < tuner->plan->sink_count; i++)
        w->ports[i] = (smp_port){.view = w->outs[i]};
    smp_runner_setup setup = {.plan = tuner->plan,
                              .device = tuner->device,
                              .limits = &tuner->request->run->limits,
                              .source = &source,
                              .sinks = w->ports};
    double start = smp_now();
    smp_code code = smp_runner_run(&setup, &report, &failed, err);
    *seconds = smp_now() - start;
    smp_run_report_free(&report);
    return code;
}

/* The first run of each: its bytes must be those of the first candidate, which has the defaults throughout. Other
 * heights of strips may take more memory than there is. */
static smp_code check_all(whole *w, smp_error *err)
{
    for (int i = 0; i < w->count; i++) {
        candidate *c = &w->all[i];
        double seconds;
        smp_error why = {.code = SMP_OK};
        smp_code code = run_once(w, c, &seconds, &why);
        if (code && !c->strip_rows) {
            *err = why;
            return code;
        }
        if (i == 0)
            expect_outputs(w);
        else
            c->out = code || !outputs_are_right(w);
        if (c->out && c->tell)
            snprintf(c->tell->why, sizeof c->tell->why, "%.150s", code ? why.message : "WRONG: other bytes");
    }
    return SMP_OK;
}

static smp_code settle(candidate *c, smp_error *err)
{
    return smp_spread_of(c->samples, c->count, &c->time)
               ? SMP_OK
               : smp_fail_memory(err, "samples", c->count * sizeof *c->samples);
}

/* Samples in turns until the verdicts against `base` are clear (or, of one candidate, there are enough), or the time is
 * over. */
static smp_code sample_all(whole *w, const bool *wanted, int base, double limit, bool decide, smp_error *err)
{
    const size_t least = (size_t)w->tuner->request->repeat;
    double start = smp_now();
    for (int i = 0; i < w->count; i++)
        w->all[i].count = 0;
    w->few = true;
    for (size_t round = 0; round < MOST_SAMPLES; round++) {
        bool clear = true;
        if (smp_now() - start > 2 * limit + 1 && round > 0)
            break;
        for (int k = 0; k < w->count; k++) {
            int i = (k + (int)round) % w->count;
            candidate *c = &w->all[i];
            double seconds;
            if (!wanted[i] || c->out)
                continue;
            smp_code code = run_once(w, c, &seconds, err);
            if (!code && !smp_grow(&c->samples, &c->capacity, c->count + 1, sizeof *c->samples))
                code = smp_fail_memory(err, "samples", c->count * sizeof *c->samples);
            if (code)
                return code;
            c->samples[c->count++] = seconds;
        }
        if (round + 1 < least)
            continue;
        w->few = false;
        for (int i = 0; i < w->count; i++) {
            smp_code code = settle(&w->all[i], err);
            if (code)
                return code;
        }
        for (int i = 0; i < w->count; i++)
            clear = clear && (i == base || !wanted[i] || w->all[i].out ||
                              smp_verdict_of(&w->all[base].time, &w->all[i].time) != SMP_VERDICT_UNCLEAR);
        if ((clear && decide) || smp_now() - start >= limit)
            break;
    }
    for (int i = 0; i < w->count; i++) {
        smp_code code = settle(&w->all[i], err);
        if (code)
            return code;
    }
    return smp_tune_progress(w->tuner, smp_now() - start);
}

/* ------------------------------------------------------------------------------------------------ the choice */

static smp_code add_candidates(whole *w, bool changed, smp_tune_row *row, smp_error *err)
{
    static const double factors[HEIGHTS] = {0.125, 0.25, 0.5, 2, 4, 8};
    const smp_plan *plan = w->tuner->plan;
    const int64_t own = w->tuner->strip_rows;
    int64_t highest = 1;
    for (size_t i = 0; i < plan->step_count; i++)
        highest = smp_max_i64(highest, plan->steps[i].out.height);
    w->all[w->count++] = (candidate){.steps = false};
    if (changed)
        w->all[w->count++] = (candidate){.steps = true};
    for (int i = 0; i < HEIGHTS; i++) {
        int64_t wanted = smp_max_i64(1, (int64_t)((double)smp_min_i64(own, highest) * factors[i]));
        int64_t rows = smp_strip_rows(plan, w->tuner->device, (wanted + 7) / 8 * 8);
        bool known = rows >= smp_min_i64(own, highest) ? rows <= own || rows > highest / 4 : false;
        for (int k = 0; k < w->count; k++)
            known = known || w->all[k].strip_rows == rows;
        if (!known)
            w->all[w->count++] = (candidate){.steps = changed, .strip_rows = rows};
    }
    for (int i = 0; i < w->count; i++) {
        char text[96];
        if (!w->all[i].strip_rows)
            continue;
        snprintf(text, sizeof text, "strips of %lld rows", (long long)w->all[i].strip_rows);
        if (!smp_tune_try_add(row, text, err))
            return SMP_E_MEMORY;
    }
    for (int i = 0, next = 0; i < w->count; i++)
        if (w->all[i].strip_rows)
            w->all[i].tell = &row->tries[next++];
    return SMP_OK;
}

/* The candidate that is faster than `base` beyond doubt, twice; or base. */
static smp_code choose_height(whole *w, int base, double seconds, int *chosen, smp_error *err)
{
    bool wanted[MOST] = {false};
    *chosen = base;
    for (int i = base; i < w->count; i++)
        wanted[i] = true;
    if (w->count == base + 1)
        return SMP_OK;
    smp_code code = sample_all(w, wanted, base, seconds / 2, true, err);
    for (int i = base + 1; !code && i < w->count; i++) {
        candidate *c = &w->all[i];
        smp_verdict verdict = smp_verdict_of(&w->all[base].time, &c->time);
        if (c->out)
            continue;
        c->tell->seconds = c->time.median;
        c->tell->verdict = verdict;
        if (w->few)
            snprintf(c->tell->why, sizeof c->tell->why, "too little time");
        if (verdict == SMP_VERDICT_FASTER && !w->few && c->time.median < w->all[*chosen].time.median)
            *chosen = i;
    }
    if (code || *chosen == base)
        return code;
    for (int i = 0; i < w->count; i++)
        wanted[i] = i == base || i == *chosen;
    code = sample_all(w, wanted, base, seconds / 2, false, err);
    if (!code && (w->few || smp_verdict_of(&w->all[base].time, &w->all[*chosen].time) != SMP_VERDICT_FASTER))
        *chosen = base;
    return code;
}

/* The defaults against all that was chosen. */
static smp_code judge_whole(whole *w, int chosen, double seconds, smp_tune_row *row, int64_t *strip_rows,
                            smp_error *err)
{
    bool wanted[MOST] = {false};
    wanted[0] = wanted[chosen] = true;
    smp_code code = sample_all(w, wanted, 0, seconds, chosen == 0, err);
    if (code)
        return code;
    row->before = w->all[0].time;
    if (chosen && !w->few && smp_verdict_of(&w->all[0].time, &w->all[chosen].time) == SMP_VERDICT_SLOWER) {
        memset(w->tuner->choices, 0, w->tuner->plan->step_count * sizeof *w->tuner->choices);
        w->tuner->report->discarded = true;
        chosen = 0;
    }
    row->changed = chosen != 0;
    if (chosen)
        row->after = w->all[chosen].time;
    *strip_rows = w->all[chosen].strip_rows;
    return SMP_OK;
}

smp_code smp_tune_whole(smp_tuner *tuner, const smp_view *in, int64_t *strip_rows, smp_error *err)
{
    whole w = {.tuner = tuner, .in = *in};
    smp_tune_row *row = &tuner->report->rows[tuner->report->count++];
    const double limit = tuner->request->time_limit, left = limit > tuner->spent ? limit - tuner->spent : 0;
    bool changed = false;
    int chosen = 0;
    *strip_rows = 0;
    for (size_t i = 0; i < tuner->plan->step_count; i++)
        changed = changed || tuner->choices[i].variant;
    snprintf(row->label, sizeof row->label, "the whole, without codecs");
    smp_code code = open_pictures(&w, err);
    if (!code)
        code = add_candidates(&w, changed, row, err);
    if (!code)
        code = check_all(&w, err);
    if (!code && changed && w.all[1].out)
        code = smp_fail(err, SMP_E_DIFFERENT, "with what was chosen for its steps the pipeline makes other bytes");
    if (!code)
        code = choose_height(&w, changed, left * 2 / 3, &chosen, err);
    if (!code)
        code = judge_whole(&w, chosen, left / 3, row, strip_rows, err);
    snprintf(row->chosen, sizeof row->chosen, "strips as they are");
    if (*strip_rows)
        snprintf(row->chosen, sizeof row->chosen, "strips of %lld rows", (long long)*strip_rows);
    apply(tuner, false, 0);
    for (int i = 0; i < w.count; i++)
        smp_free(w.all[i].samples);
    close_pictures(&w);
    return code;
}
