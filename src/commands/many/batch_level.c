/* batch --skip-level: files that are as loud as wanted already are left out. All are measured before the first one is
 * done. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/order.h"
#include "commands/many/batch_meter.h"

#define WITHIN 0.5 /* LU */

typedef struct leveled {
    double wanted; /* LUFS */
    smp_batch_level *level;
    size_t capacity;
    smp_error broken;
} leveled;

/* A file that cannot be measured is not level: it fails, or not, when its turn comes. */
static void each(void *context, const smp_batch_file *, smp_run_report *report, const smp_error *)
{
    leveled *l = context;
    bool level = false;
    for (size_t k = 0; !report->status && k < report->step_count; k++) {
        const smp_measurements *found = &report->steps[k].measurements;
        for (size_t i = 0; i < found->count; i++)
            if (!strcmp(found->items[i].name, smp_batch_meter_stage()->reduction->level))
                level = fabs(found->items[i].value - l->wanted) <= WITHIN;
    }
    if (!level || l->broken.code)
        return;
    smp_batch_level *to = l->level;
    if (!smp_grow(&to->paths, &l->capacity, to->count + 1, sizeof *to->paths) ||
        !(to->paths[to->count] = smp_strdup(report->input)))
        smp_fail_memory(&l->broken, "names", strlen(report->input));
    else
        to->count++;
}

bool smp_batch_is_level(void *context, const char *path)
{
    const smp_batch_level *level = context;
    return level->count && bsearch(&path, level->paths, level->count, sizeof *level->paths, smp_by_text);
}

smp_code smp_batch_level_measure(const smp_batch_settings *settings, smp_batch_level *level, smp_error *err)
{
    leveled l = {.level = level};
    smp_batch_meter meter = {.settings = settings, .each = each, .context = &l};
    smp_code code = smp_batch_meter_level("skip-level", settings->skip_level, &l.wanted, err);
    code = code ? code : smp_batch_meter_run(&meter, err);
    if (!code && (code = l.broken.code))
        *err = l.broken;
    if (code)
        return code;
    if (level->count)
        qsort(level->paths, level->count, sizeof *level->paths, smp_by_text);
    if (!settings->many.plan.base.common.quiet)
        fprintf(stderr, "smempipe: %zu of %zu files within %.1f LU of %.4g LUFS\n", level->count, meter.files, WITHIN,
                l.wanted);
    return SMP_OK;
}

void smp_batch_level_free(smp_batch_level *level)
{
    for (size_t i = 0; i < level->count; i++)
        smp_free(level->paths[i]);
    smp_free(level->paths);
    *level = (smp_batch_level){0};
}
