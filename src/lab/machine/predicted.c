/* See predicted.h. */
#include "lab/machine/predicted.h"

#include <string.h>

#include "base/alloc.h"

const char *const smp_time_reason_names[] = {
#define X(name, text) text,
    SMP_TIME_REASON_LIST(X)
#undef X
};
const char *const smp_time_resource_names[] = {
#define X(name, text) text,
    SMP_TIME_RESOURCE_LIST(X)
#undef X
};

static void free_items(smp_predictions *p)
{
    for (size_t i = 0; i < p->count; i++) {
        smp_free_all(p->items[i].lines, p->items[i].instructions);
    }
    smp_free(p->items);
}

void smp_predictions_free(smp_predictions *p)
{
    if (!p)
        return;
    free_items(p);
    smp_free(p);
}

bool smp_predictions_add(smp_predictions *sum, smp_predictions *more)
{
    if (!smp_grow(&sum->items, &sum->capacity, sum->count + more->count, sizeof *sum->items))
        return false;
    if (more->count)
        memcpy(sum->items + sum->count, more->items, more->count * sizeof *sum->items);
    sum->count += more->count;
    more->count = 0;
    return true;
}
