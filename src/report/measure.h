/* What was measured of files, one after the other, and of all together: as a table for people, JSON or CSV. */
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

/* Files as they come, then all of them. JSON: {"files": [...], "failed": number, "together": [...]}. CSV: a row a value
 * with the columns file, type, stage, name, channel, finding, bin, value; rows of all files have "(together)" for a
 * file. */
void smp_measure_begin(smp_measure_output *output);
void smp_measure_file(smp_measure_output *output, const smp_run_report *report);
smp_code smp_measure_end(smp_measure_output *output, const smp_totals *totals, size_t done, size_t failed,
                         smp_error *err);

#endif
