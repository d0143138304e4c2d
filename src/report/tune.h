/* What `tune` tried and chose, shown as a table. One structure, filled by exec/tune.c. */
#ifndef SMP_REPORT_TUNE_H
#define SMP_REPORT_TUNE_H

#include <stdio.h>

#include "device/device.h"
#include "report/samples.h"

typedef struct smp_tune_try {
    char text[96];       /* "tiled, 1 thread" */
    double seconds;      /* the median, or of the one run that showed it to be far slower; 0: not run */
    smp_verdict verdict; /* against what was best by then */
    char why[160];       /* why it was not timed: WRONG, no kernel, far slower; "" */
} smp_tune_try;

typedef struct smp_tune_row { /* a step, or the whole pipeline */
    char label[96], chosen[96];
    int number;               /* as `explain` numbers steps; 0: the whole pipeline */
    bool changed;             /* something faster was found */
    int same_as;              /* the step of the same work whose choice is taken; 0: none */
    smp_spread before, after; /* seconds; after: of what was chosen, when changed */
    smp_tune_try *tries;      /* owned */
    size_t try_count, try_capacity;
} smp_tune_row;

typedef struct smp_tune_report {
    const char *input;
    char input_type[48];
    smp_device_info device;
    int64_t strip_rows; /* the executor's choice */
    smp_tune_row *rows; /* steps, then the whole pipeline; owned */
    size_t count;
    bool discarded; /* steps were faster, but not the whole: nothing is kept */
    double wall_seconds;
} smp_tune_report;

void smp_tune_report_free(smp_tune_report *report);

/* Whether anything was found that is worth keeping. */
bool smp_tune_report_keeps(const smp_tune_report *report);

/* all: every candidate has a line. */
void smp_tune_table(FILE *to, const smp_tune_report *report, bool all, bool color);

#endif
