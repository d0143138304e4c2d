/* Keys, entries and plans: see tuned.h. The file itself is tuned_file.c's. */
#include "exec/tuned.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/sha256.h"
#include "device/cuda_state.h"
#include "exec/step.h"
#include "pipe/text.h"

/* ------------------------------------------------------------------------------------------------ keys */

char *smp_tuned_device_key(const smp_device *device)
{
    const smp_device_info *info = &device->info;
    char driver[64];
    if (!strcmp(info->kind, "cpu"))
        return smp_asprintf("cpu: %s, %s, %d thread%s", info->name, info->isa, info->units,
                            info->units == 1 ? "" : "s");
    smp_gpu_driver_text((smp_device *)(uintptr_t)device, driver, sizeof driver);
    return smp_asprintf("%s: %s, cc %d.%d, %d SM%s%s%s", info->kind, info->name, info->compute_major,
                        info->compute_minor, info->units, info->units == 1 ? "" : "s", driver[0] ? ", driver " : "",
                        driver);
}

/* The power of two that is nearest on a scale of factors. */
static long long size_class(int64_t n)
{
    return n > 0 ? 1LL << lround(log2((double)n)) : 0;
}

/* " edge=wrap arithmetic=fixed": the words that are not the stage's defaults, since they choose other kernels. */
static void put_words(smp_text *text, const smp_step *step)
{
    for (const smp_param *p = step->params ? step->stage->params : NULL; p && p->name; p++) {
        int choice;
        if (p->type != SMP_T_ENUM)
            continue;
        memcpy(&choice, (const char *)step->params + p->offset, sizeof choice);
        if (!p->fallback || strcmp(p->choices[choice], p->fallback))
            smp_text_print(text, " %s=%s", p->name, p->choices[choice]);
    }
}

char *smp_tuned_step_key(const smp_plan *plan, const smp_step *step)
{
    const smp_step *input = &plan->steps[step->input];
    smp_text text = {0};
    smp_text_print(&text, "%s%s", step->stage->name,
                   step->job == SMP_JOB_REDUCE && step->stage->reducers ? " (measure)" : "");
    put_words(&text, step);
    smp_text_print(&text, "%s %sx%d to %sx%d, about %lldx%lld, reach about %lld",
                   step->by >= 0 ? " by a picture" : "", smp_format_name(input->storage), input->out.channels,
                   smp_format_name(step->storage), step->out.channels, size_class(step->out.width),
                   size_class(step->out.height), size_class(step->reach_up + step->reach_down));
    return smp_text_take(&text);
}

char *smp_tuned_plan_key(const smp_plan *plan)
{
    enum { LONGEST = 200 };
    const smp_shape *in = &plan->steps[0].out;
    char *list = smp_strdup("");
    int64_t reach = 0;
    for (size_t i = 0; list && i < plan->step_count; i++) {
        if (plan->steps[i].job == SMP_JOB_SOURCE)
            continue;
        char *longer = smp_asprintf("%s%s%s", list, list[0] ? ", " : "", plan->steps[i].stage->name);
        reach += plan->steps[i].reach_up + plan->steps[i].reach_down;
        smp_free(list);
        list = longer;
    }
    if (list && strlen(list) > LONGEST) {
        char hash[65];
        smp_sha256 state;
        smp_sha256_begin(&state);
        smp_sha256_add(&state, list, strlen(list));
        smp_sha256_end(&state, hash);
        snprintf(list, LONGEST, "%zu steps %s", plan->step_count - 1, hash);
    }
    char *key =
        list ? smp_asprintf("strips of %s; %sx%d about %lldx%lld, reach about %lld", list, smp_format_name(in->format),
                            in->channels, size_class(in->width), size_class(in->height), size_class(reach))
             : NULL;
    smp_free(list);
    return key;
}

/* ------------------------------------------------------------------------------------------------ entries */

static void free_entry(smp_tuned_entry *entry)
{
    smp_free(entry->device);
    smp_free(entry->work);
}

void smp_tuned_free(smp_tuned *tuned)
{
    for (size_t i = 0; i < tuned->count; i++)
        free_entry(&tuned->entries[i]);
    smp_free(tuned->entries);
    smp_free(tuned->path);
    *tuned = (smp_tuned){.entries = NULL};
}

static const smp_tuned_entry *find(const smp_tuned *tuned, const char *device, const char *work)
{
    for (size_t i = 0; i < tuned->count; i++)
        if (!strcmp(tuned->entries[i].device, device) && !strcmp(tuned->entries[i].work, work))
            return &tuned->entries[i];
    return NULL;
}

smp_code smp_tuned_set(smp_tuned *tuned, const char *device, const char *work, const smp_tuned_entry *entry,
                       smp_error *err)
{
    enum { MOST = 4000 }; /* entries: the oldest make room */
    smp_tuned_entry made = *entry;
    const smp_tuned_entry *old = find(tuned, device, work);
    size_t at = old ? (size_t)(old - tuned->entries) : tuned->count == MOST ? 0 : tuned->count;
    if (at < tuned->count) {
        free_entry(&tuned->entries[at]);
        memmove(&tuned->entries[at], &tuned->entries[at + 1], (--tuned->count - at) * sizeof *tuned->entries);
    }
    if (!entry->tuning.variant && !entry->strip_rows)
        return SMP_OK;
    made.device = smp_strdup(device);
    made.work = smp_strdup(work);
    if (!made.device || !made.work ||
        !smp_grow(&tuned->entries, &tuned->capacity, tuned->count + 1, sizeof *tuned->entries)) {
        free_entry(&made);
        return smp_fail_memory(err, "what was tuned", sizeof made);
    }
    tuned->entries[tuned->count++] = made;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ plans */

static bool has_variant(const smp_step *step, const smp_variant *variant)
{
    const smp_variant *list = smp_step_variants(step);
    return variant >= list && variant < list + smp_variant_count(list);
}

size_t smp_tuned_apply(const smp_tuned *tuned, const smp_device *device, smp_plan *plan)
{
    size_t found = 0;
    char *own = tuned && tuned->count ? smp_tuned_device_key(device) : NULL;
    for (size_t i = 0; own && i < plan->step_count; i++) {
        smp_step *step = &plan->steps[i];
        if (step->job == SMP_JOB_SOURCE)
            continue;
        char *work = smp_tuned_step_key(plan, step);
        const smp_tuned_entry *entry = work ? find(tuned, own, work) : NULL;
        if (entry && entry->tuning.variant && has_variant(step, entry->tuning.variant)) {
            step->work.tuning = entry->tuning;
            found++;
        }
        smp_free(work);
    }
    char *work = own ? smp_tuned_plan_key(plan) : NULL;
    const smp_tuned_entry *entry = work ? find(tuned, own, work) : NULL;
    if (entry && entry->strip_rows > 0) {
        plan->strip_rows = entry->strip_rows;
        found++;
    }
    smp_free(work);
    smp_free(own);
    return found;
}

void smp_tuning_text(const smp_tuning *tuning, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", tuning->variant ? tuning->variant->name : "as it is");
#define MORE(...) used += used >= 0 && (size_t)used < size ? snprintf(text + used, size - (size_t)used, __VA_ARGS__) : 0
    if (tuning->variant && tuning->threads)
        MORE(", %d thread%s", tuning->threads, tuning->threads == 1 ? "" : "s");
    for (int i = 0; tuning->variant && i < SMP_MAX_LAUNCHES; i++)
        if (tuning->knobs[i] && tuning->variant->launches[i].knob)
            MORE(", %s %d", tuning->variant->launches[i].knob->name, tuning->knobs[i]);
#undef MORE
}
