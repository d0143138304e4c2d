/* Adds up results over files: see totals.h. */
#include "report/measure/totals.h"

#include <string.h>

#include "base/alloc.h"

static bool belongs(const smp_total *total, const smp_total *more)
{
    return total->node == more->node && total->stage == more->stage && total->kind == more->kind &&
           total->format == more->format && total->channels == more->channels && total->alpha == more->alpha &&
           !total->partial == !more->partial;
}

/* Moves a group to its place, as far as it is too far back. */
static void move_forward(smp_totals *totals, size_t at)
{
    const smp_total total = totals->items[at];
    for (; at > 0; at--) {
        const smp_total *before = &totals->items[at - 1];
        if (before->node < total.node || (before->node == total.node && before->first <= total.first))
            break;
        totals->items[at] = *before;
    }
    totals->items[at] = total;
}

/* Adds to a group of its own kind; *alike false: it is of another after all. */
static smp_code join(smp_totals *totals, size_t at, const smp_total *more, bool *alike, smp_error *err)
{
    smp_total *total = &totals->items[at];
    smp_code code = SMP_OK;
    *alike = belongs(total, more);
    if (*alike && more->partial) /* it may depend on the picture's size, for example */
        code = total->stage->reduction->partials->merge(&total->partial, more->partial, alike, err);
    if (code || !*alike)
        return code;
    total->files += more->files;
    if (more->first < total->first) {
        total->first = more->first;
        memcpy(total->label, more->label, sizeof total->label);
        memcpy(total->name, more->name, sizeof total->name);
        move_forward(totals, at);
    }
    return SMP_OK;
}

smp_code smp_totals_join(smp_totals *totals, const smp_total *more, smp_error *err)
{
    for (size_t i = 0; i < totals->count; i++) {
        bool alike;
        const smp_code code = join(totals, i, more, &alike, err);
        if (code || alike) {
            smp_free(more->partial);
            return code;
        }
    }
    if (!smp_grow(&totals->items, &totals->capacity, totals->count + 1, sizeof *totals->items)) {
        smp_free(more->partial);
        return smp_fail_memory(err, "totals", (totals->count + 1) * sizeof *totals->items);
    }
    totals->items[totals->count++] = *more;
    move_forward(totals, totals->count - 1);
    return SMP_OK;
}

smp_code smp_totals_add(smp_totals *totals, uint64_t file, smp_run_report *report, smp_error *err)
{
    for (size_t i = 0; i < report->step_count; i++) {
        smp_step_report *step = &report->steps[i];
        if (!step->measurements.count)
            continue;
        smp_total one = {.node = step->node,
                         .stage = step->stage,
                         .kind = step->in.kind,
                         .format = step->in.format,
                         .channels = step->in.channels,
                         .alpha = step->in.alpha,
                         .first = file,
                         .files = 1,
                         .partial = step->partial};
        memcpy(one.label, step->label, sizeof one.label);
        memcpy(one.name, step->name, sizeof one.name);
        step->partial = NULL;
        SMP_TRY(smp_totals_join(totals, &one, err));
    }
    return SMP_OK;
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

smp_code smp_total_measurements(const smp_total *total, smp_measurements *measurements, smp_error *err)
{
    return total->partial ? total->stage->reduction->partials->report(total->partial, measurements, err) : SMP_OK;
}

void smp_total_pack(const smp_total *total, smp_packer *to)
{
    smp_pack_int(to, total->node);
    smp_pack_text(to, total->label);
    smp_pack_text(to, total->name);
    smp_pack_text(to, total->stage->name);
    smp_pack_uint(to, (uint64_t)total->kind);
    smp_pack_uint(to, (uint64_t)total->format);
    smp_pack_uint(to, (uint64_t)total->channels);
    smp_pack_uint(to, total->alpha);
    smp_pack_uint(to, total->first);
    smp_pack_uint(to, total->files);
    smp_pack_uint(to, total->partial != NULL);
    if (total->partial)
        total->stage->reduction->partials->pack(total->partial, to);
}

smp_code smp_total_unpack(smp_unpacker *from, smp_total *total, smp_error *err)
{
    char stage[sizeof total->name];
    const int64_t node = smp_unpack_int(from);
    *total = (smp_total){.node = (int)node};
    from->failed |= total->node != node;
    smp_unpack_text(from, total->label, sizeof total->label);
    smp_unpack_text(from, total->name, sizeof total->name);
    smp_unpack_text(from, stage, sizeof stage);
    total->stage = smp_stage_find(stage, strlen(stage));
    total->kind = (smp_kind)smp_unpack_upto(from, SMP_AUDIO);
    total->format = (smp_format)smp_unpack_upto(from, SMP_FORMATS - 1);
    total->channels = (int)smp_unpack_upto(from, SMP_MAX_CHANNELS);
    total->alpha = smp_unpack_upto(from, 1);
    total->first = smp_unpack_uint(from);
    total->files = (size_t)smp_unpack_upto(from, SIZE_MAX / 2);
    const bool adds_up = smp_unpack_upto(from, 1);
    from->failed |= !total->kind || !total->channels || !total->files || !total->stage ||
                    (adds_up && !smp_stage_partials(total->stage));
    if (from->failed || !adds_up)
        return SMP_OK;
    const smp_shape in = {
        .kind = total->kind, .channels = total->channels, .alpha = total->alpha, .format = total->format};
    const smp_code code = total->stage->reduction->partials->unpack(&in, from, &total->partial, err);
    if (from->failed) {
        smp_free(total->partial);
        total->partial = NULL;
    }
    return code;
}
