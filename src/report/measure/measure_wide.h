/* The results of `measure` as a table for spreadsheets and data frames: a row for each file, a column for each value.
 * Lists of one length that a stage tells of single things (components, silences) are a table of their own: a row for
 * each thing follows that of its file, numbered from 1 in the column `item`. A list that has the name of a column of
 * files goes to item_NAME. The table is kept until the last file, because files may have different columns. */
#pragma once

#include "report/measure/totals.h"

typedef struct smp_wide_row {
    char *path, *format;
    int64_t width, height, channels;     /* of a sound, height is its frames and width 0 */
    double rate;                         /* of a sound; 0: a picture */
    double *values;                      /* by column; NaN or past value_count: none */
    char (*texts)[SMP_MEASUREMENT_TEXT]; /* as many; of a value that is a text; empty: none */
    size_t value_count, value_capacity, text_capacity;
    size_t item; /* of a thing found in a file: its number; 0: the file's own row */
} smp_wide_row;

typedef struct smp_wide {
    char **columns; /* "mean_r"; "after.mean_r" of a statement that is named so, unless all columns would begin alike */
    size_t column_count, column_capacity;
    smp_wide_row *rows;
    size_t row_count, row_capacity;
    size_t unsorted; /* rows without a value in the column that they were sorted by */
    bool lists;      /* some measurements were histograms, which have no column */
} smp_wide;

/* Adds a row with all measurements of a file, or with the measurements of a group of files. */
smp_code smp_wide_file(smp_wide *wide, const smp_run_report *report, smp_error *err);
smp_code smp_wide_total(smp_wide *wide, const smp_total *total, const smp_measurements *measurements, smp_error *err);

/* Removes a prefix such as "after." from the columns when all begin with it. Sounds of one channel beside others of
 * several get their values in the columns of channel 0. */
void smp_wide_name(smp_wide *wide);

/* Writes the table as CSV, with such names. sort: a column's name, with '-' in front for the largest first; null: rows
 * in their order. Rows of things that have no value of their own in that column stay with their file's. Rows without a
 * value in it come last. SMP_E_USAGE, with the existing columns, when there is no such column. */
smp_code smp_wide_write(smp_wide *wide, FILE *to, const char *sort, smp_error *err);
void smp_wide_free(smp_wide *wide);
