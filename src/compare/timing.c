/* Samples times. Variants are interleaved, so that slow changes (clocks, other programs) affect all of them alike.
 * Caches are flushed before every sample, or left as a run of the same variant left them. Sampling ends when the
 * medians are known well enough or the time is up. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "compare/internal.h"
#include "device/cuda/cuda_state.h"

enum {
    MOST_SAMPLES = 1000, /* of a variant: all of them are kept */
    PATIENCE = 10,       /* seconds of all steps to reach the samples that were asked for, besides twice the limit */
    MOST_DROPPED = 50    /* a GPU that is throttled all the time is measured as it is */
};
static const double close_together = 0.005; /* smp_spread_width */

static bool timed(const smp_compare_variant *variant)
{
    return variant->check == SMP_CHECK_RIGHT;
}

/* Whether heat or a power brake has just throttled the GPU. Also records its clocks, which have not dropped yet. */
static bool spoilt(const smp_comparison *c)
{
    smp_gpu_state state;
    if (!smp_gpu_state_now(c->device, &state))
        return false;
    c->out->sm_clock = state.sm_clock;
    c->out->memory_clock = state.memory_clock;
    if (!state.slowed || c->out->dropped >= MOST_DROPPED)
        return false;
    c->out->dropped++;
    return true;
}

static smp_code sample(smp_trial *trial, smp_compare_variant *variant, smp_error *err)
{
    const smp_variant *own = smp_trial_variant(trial, variant);
    const smp_view *views[] = {&trial->in, &trial->second, &trial->result};
    SMP_NEED(
        smp_grow(&variant->samples, &variant->sample_capacity, variant->sample_count + 1, sizeof *variant->samples),
        "samples", variant->sample_count * sizeof *variant->samples, err);
    /* Hot caches are those that the variant's own last run left. Interleaving put another variant in between, so run
     * once untimed first. */
    const bool warm = trial->c->request->hot && trial->last != variant;
    smp_code code = SMP_OK;
    for (int untimed = warm; !code && untimed >= 0; untimed--) {
        code = smp_step_reset(trial->run, err);
        if (!code && trial->c->flush)
            code = smp_flush_views(trial->c->flush, views, sizeof views / sizeof views[0], err);
        code = code ? code : smp_trial_run(trial, own, &trial->result, err);
    }
    trial->last = variant;
    if (!code && !spoilt(trial->c))
        variant->samples[variant->sample_count++] = trial->run->cost.seconds;
    return code;
}

/* Computes the quartiles of all variants. *done: all medians are known well enough. */
static smp_code settle(smp_compare_step *report, bool *done, smp_error *err)
{
    *done = true;
    for (size_t i = 0; i < report->variant_count; i++) {
        smp_compare_variant *variant = &report->variants[i];
        SMP_NEED(smp_spread_of(variant->samples, variant->sample_count, &variant->time), "samples",
                 variant->sample_count * sizeof *variant->samples, err);
        *done = *done && !(timed(variant) && smp_spread_width(&variant->time) > close_together);
    }
    return SMP_OK;
}

smp_code smp_trial_time(smp_trial *trial, smp_error *err)
{
    const smp_comparison *c = trial->c;
    smp_compare_step *report = trial->report;
    double start = smp_now(), patience = 2 * c->step_seconds + PATIENCE / (double)smp_max_i64(1, c->steps_wanted);
    int64_t rounds = 0, look = c->request->repeat;
    smp_code code = SMP_OK;
    size_t count = 0;
    for (size_t i = 0; i < report->variant_count; i++)
        count += timed(&report->variants[i]);
    for (bool done = count == 0; !code && !done;) {
        for (size_t i = 0; !code && i < report->variant_count; i++) {
            smp_compare_variant *variant = &report->variants[(i + (size_t)rounds) % report->variant_count];
            if (timed(variant))
                code = sample(trial, variant, err);
        }
        double spent = smp_now() - start;
        rounds++;
        if (code)
            break;
        if (rounds >= look) {
            code = settle(report, &done, err);
            look = rounds + 1 + rounds / 5;
            done = done || spent >= c->step_seconds || rounds >= MOST_SAMPLES;
        } else if (spent > patience) {
            done = report->timed_out = true;
        }
    }
    bool ignored;
    code = code ? code : settle(report, &ignored, err);
    const smp_compare_variant *base = &report->variants[0];
    for (size_t i = 0; !code && timed(base) && i < report->variant_count; i++)
        if (timed(&report->variants[i]))
            report->variants[i].verdict = i ? smp_verdict_of(&base->time, &report->variants[i].time) : SMP_VERDICT_BASE;
    return code;
}
