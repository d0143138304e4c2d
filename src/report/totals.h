/* Results of several files, added up. Results of one statement over data of the same format and channels form a group,
 * whatever the sizes. 8-bit and 16-bit code values have different full scales, so they are in different groups. */
#ifndef SMP_REPORT_TOTALS_H
#define SMP_REPORT_TOTALS_H

#include "report/report.h"

typedef struct smp_total {
    int node; /* of the program */
    char label[96], name[48];
    const smp_stage *stage;
    smp_kind kind;
    smp_format format;
    int channels;
    bool alpha;
    size_t files;
    void *partial; /* null: these results cannot be added up */
} smp_total;

typedef struct smp_totals {
    smp_total *items; /* in the order of statements, then of arrival */
    size_t count, capacity;
} smp_totals;

/* Adds the results of a run. Takes over the report's partials, or merges them. */
smp_code smp_totals_add(smp_totals *totals, smp_run_report *report, smp_error *err);
void smp_totals_free(smp_totals *totals);

/* "u8x3", "f32x2 sound": the data of a group. */
void smp_total_type(const smp_total *total, char *text, size_t size);

/* The findings of a group, by the stage functions that make those of a file. */
smp_code smp_total_findings(const smp_total *total, smp_findings *findings, smp_error *err);

#endif
