/* The results of `measure`: of each file, and of all files together, as a table for people, JSON or CSV. */
#pragma once

#include "io/read_options.h"
#include "report/measure/measure_wide.h"

typedef enum smp_measure_format {
    SMP_MEASURE_TABLE,
    SMP_MEASURE_JSON,
    SMP_MEASURE_CSV,  /* a row for each file */
    SMP_MEASURE_LONG, /* CSV, a row for each value */
    SMP_MEASURE_HTML  /* one page, see measure_page.h */
} smp_measure_format;

typedef struct smp_measure_output {
    FILE *to;
    smp_measure_format format;
    bool color, totals_only;
    const char *sort;             /* CSV: a column, see smp_wide_write; may be null */
    const smp_read_options *read; /* HTML: for reading files again that are shown */
    const char *const *failures;  /* HTML: "FILE: what is wrong", of the first that failed; the caller's */
    size_t failure_count;
    smp_json json;
    smp_wide wide;
    size_t rows, unsorted; /* of the CSV; those without a value to be sorted by */
} smp_measure_output;

/* The files in their order, then all together. JSON: {"files": [...], "failed": number, "together": [...]}. CSV,
 * written at the end: a row for each file with the columns path, width, height, channels, format and one for each value
 * (mean_r); a row about all files only with totals_only. Long CSV: a row for each value with the columns file, type,
 * stage, name, channel, finding, bin, value; in rows about all files, file is "(together)". smp_measure_end frees
 * what was kept. */
void smp_measure_begin(smp_measure_output *output);
smp_code smp_measure_file(smp_measure_output *output, const smp_run_report *report, smp_error *err);
smp_code smp_measure_end(smp_measure_output *output, const smp_totals *totals, size_t done, size_t failed,
                         smp_error *err);

/* All files of a group together, as an object: a member of "together". */
void smp_measure_total_json(smp_json *json, const char *key, const smp_total *total,
                            const smp_measurements *measurements);
