/* The results of `measure`: of each file, and of all files together, as a table for people, JSON or CSV. */
#ifndef SMP_REPORT_MEASURE_H
#define SMP_REPORT_MEASURE_H

#include "report/totals.h"

typedef enum smp_measure_format { SMP_MEASURE_TABLE, SMP_MEASURE_JSON, SMP_MEASURE_CSV } smp_measure_format;

typedef struct smp_measure_output {
    FILE *to;
    smp_measure_format format;
    bool color, totals_only;
    smp_json json;
} smp_measure_output;

/* The files in their order, then all together. JSON: {"files": [...], "failed": number, "together": [...]}. CSV: a row
 * for each value with the columns file, type, stage, name, channel, finding, bin, value; in rows about all files, file
 * is "(together)". */
void smp_measure_begin(smp_measure_output *output);
void smp_measure_file(smp_measure_output *output, const smp_run_report *report);
smp_code smp_measure_end(smp_measure_output *output, const smp_totals *totals, size_t done, size_t failed,
                         smp_error *err);

#endif
