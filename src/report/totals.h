/* What was measured over several files, added up: results of the same statement over data of the same format and
 * channels belong together, whatever the sizes; code values of 8 and 16 bits have different full scales and are kept
 * apart. */
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
    smp_total *items; /* in the order of statements, then as they came */
    size_t count, capacity;
} smp_totals;

/* Adds what a run found; partials in the report are taken over or joined. */
smp_code smp_totals_add(smp_totals *totals, smp_run_report *report, smp_error *err);
void smp_totals_free(smp_totals *totals);

/* "u8x3", "f32x2 sound": what a group's data was. */
void smp_total_type(const smp_total *total, char *text, size_t size);

/* The findings of a group, from the functions that make those of a file. */
smp_code smp_total_findings(const smp_total *total, smp_findings *findings, smp_error *err);

#endif
