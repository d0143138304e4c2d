/* What was measured of files, one after the other, and of all together: as a table for people, JSON or CSV. */
#ifndef SMP_REPORT_MEASURE_H
#define SMP_REPORT_MEASURE_H

#include "report/measure_wide.h"

typedef enum smp_measure_format {
    SMP_MEASURE_TABLE,
    SMP_MEASURE_JSON,
    SMP_MEASURE_CSV, /* a row a file */
    SMP_MEASURE_LONG /* CSV, a row a value */
} smp_measure_format;

typedef struct smp_measure_output {
    FILE *to;
    smp_measure_format format;
    bool color, totals_only;
    const char *sort; /* CSV: a column, see smp_wide_write; may be null */
    smp_json json;
    smp_wide wide;
} smp_measure_output;

/* Files as they come, then all of them. JSON: {"files": [...], "failed": number, "together": [...]}. CSV, written at
 * the end: a row a file with the columns path, width, height, channels, format and one a value (mean_r); of all files
 * together only with totals_only. Long CSV: a row a value with the columns file, type, stage, name, channel, finding,
 * bin, value; rows of all files have "(together)" for a file. smp_measure_end frees what was kept. */
void smp_measure_begin(smp_measure_output *output);
smp_code smp_measure_file(smp_measure_output *output, const smp_run_report *report, smp_error *err);
smp_code smp_measure_end(smp_measure_output *output, const smp_totals *totals, size_t done, size_t failed,
                         smp_error *err);

#endif
