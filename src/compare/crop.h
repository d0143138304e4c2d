/* What is counted when the whole step takes too long to trace: fewer rows (model.h), or, where a row alone is too much
 * work (a matrix product), the step planned anew on the upper left corner of its pictures. */
#ifndef SMP_COMPARE_CROP_H
#define SMP_COMPARE_CROP_H

#include "compare/internal.h"

typedef struct smp_counted {
    smp_step step;             /* the contest's, or planned for the corner; its table is owned where `planned` */
    const smp_node_plan *work; /* what it computes with */
    bool planned;
    smp_view in, second, out; /* whole pictures of that step, on the contest's device; out: where it may write */
    int64_t from, rows;       /* output rows to count */
} smp_counted;

/* Decides for this contest and `count` variants in about `seconds`; fills in what the report says about it. The model
 * gets the step and its inputs. Close it whatever happens. */
smp_code smp_counted_open(smp_trial *trial, const smp_variant *const *variants, size_t count, double seconds,
                          smp_counted *counted, smp_error *err);
void smp_counted_close(smp_counted *counted);

#endif
