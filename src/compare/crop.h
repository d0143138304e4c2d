/* Chooses what to count when tracing the whole step would take too long: fewer rows (model.h) or, when one row is
 * already too much work (a matrix product), the step planned again for the upper left corner of its pictures. */
#pragma once

#include "compare/internal.h"

typedef struct smp_counted {
    smp_step step;             /* the trial's, or planned for the corner; owns its table when `planned` */
    const smp_node_plan *work; /* the parameters it computes with */
    bool planned;
    smp_view in, second, out; /* whole pictures of that step, on the trial's device; out: memory it may write */
    int64_t from, rows;       /* output rows to count */
} smp_counted;

/* Chooses the part for this trial and `count` variants so that tracing takes about `seconds`. Fills in the report's
 * count_* and loads the step and its inputs into the model. Close it also after a failure. */
smp_code smp_counted_open(smp_trial *trial, const smp_variant *const *variants, size_t count, double seconds,
                          smp_counted *counted, smp_error *err);
void smp_counted_close(smp_counted *counted);
