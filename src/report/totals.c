/* Adds up results over files: see totals.h. */
#include "report/totals.h"

#include <string.h>

#include "base/alloc.h"

static bool belongs(const smp_total *total, const smp_step_report *step)
{
    return total->node == step->node && total->stage == step->stage && total->kind == step->in.kind &&
           total->format == step->in.format && total->channels == step->in.channels && total->alpha == step->in.alpha;
}

/* Keeps groups in the order of their statements. */
static smp_code add_group(smp_totals *totals, smp_step_report *step, smp_error *err)
{
    if (!smp_grow(&totals->items, &totals->capacity, totals->count + 1, sizeof *totals->items))
        return smp_fail_memory(err, "totals", (totals->count + 1) * sizeof *totals->items);
    size_t at = totals->count++;
    for (; at > 0 && totals->items[at - 1].node > step->node; at--)
        totals->items[at] = totals->items[at - 1];
    smp_total *total = &totals->items[at];
    *total = (smp_total){.node = step->node,
                         .stage = step->stage,
                         .kind = step->in.kind,
                         .format = step->in.format,
                         .channels = step->in.channels,
                         .alpha = step->in.alpha,
                         .files = 1,
                         .partial = step->partial};
    memcpy(total->label, step->label, sizeof total->label);
    memcpy(total->name, step->name, sizeof total->name);
    step->partial = NULL;
    return SMP_OK;
}

static smp_code add_step(smp_totals *totals, smp_step_report *step, smp_error *err)
{
    for (size_t i = 0; i < totals->count; i++) {
        smp_total *total = &totals->items[i];
        if (!belongs(total, step) || (step->partial && !total->stage->merge(total->partial, step->partial)))
            continue; /* it depends on the picture's size, for example: a group of its own */
        total->files++;
        return SMP_OK;
    }
    return add_group(totals, step, err);
}

smp_code smp_totals_add(smp_totals *totals, smp_run_report *report, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < report->step_count; i++)
        if (report->steps[i].findings.count)
            code = add_step(totals, &report->steps[i], err);
    return code;
}

void smp_totals_free(smp_totals *totals)
{
    for (size_t i = 0; i < totals->count; i++)
        smp_free(totals->items[i].partial);
    smp_free(totals->items);
    *totals = (smp_totals){0};
}

void smp_total_type(const smp_total *total, char *text, size_t size)
{
    snprintf(text, size, "%sx%d%s%s", smp_format_name(total->format), total->channels,
             total->alpha ? ", the last is alpha" : "", total->kind == SMP_AUDIO ? " sound" : "");
}

smp_code smp_total_findings(const smp_total *total, smp_findings *findings, smp_error *err)
{
    return total->partial ? total->stage->report(total->partial, findings, err) : SMP_OK;
}
