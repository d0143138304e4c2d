/* What was measured as a table with a row a file and a column a value, as spreadsheets and data frames have it. Kept
 * until the last file, because files may have different columns. */
#ifndef SMP_REPORT_MEASURE_WIDE_H
#define SMP_REPORT_MEASURE_WIDE_H

#include "report/totals.h"

typedef struct smp_wide_row {
    char *path, *format;
    int64_t width, height, channels; /* of a sound, height is its frames and width 0 */
    double rate;                     /* of a sound; 0: a picture */
    double *values;                  /* by column; NaN, and past value_count: none */
    size_t value_count, value_capacity;
} smp_wide_row;

typedef struct smp_wide {
    char **columns; /* "mean_r"; "after.mean_r" of a statement that is named so, unless all columns would begin alike */
    size_t column_count, column_capacity;
    smp_wide_row *rows;
    size_t row_count, row_capacity;
    bool lists; /* some findings were lists (histograms), which have no column */
} smp_wide;

/* Adds the row of a file, of all that its measuring steps found; or of a group of files, of the findings of one. */
smp_code smp_wide_file(smp_wide *wide, const smp_run_report *report, smp_error *err);
smp_code smp_wide_total(smp_wide *wide, const smp_total *total, const smp_findings *findings, smp_error *err);

/* Writes the table as CSV. sort: a column's name, with '-' before it for the largest first; null: rows as they came.
 * Rows without a value there come last. SMP_E_USAGE, with the columns there are, when there is none of that name. */
smp_code smp_wide_write(smp_wide *wide, FILE *to, const char *sort, smp_error *err);
void smp_wide_free(smp_wide *wide);

#endif
