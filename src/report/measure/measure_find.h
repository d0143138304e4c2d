/* Finds unusual files for a data set's page: those of another kind than most, those whose values lie far from most, and
 * duplicates. */
#pragma once

#include "report/measure/measure.h"
#include "report/measure/measure_wide.h"

/* Spread of a value over many files: quantiles, and a histogram. */

enum { SMP_SPREAD_BINS = 32 };

typedef struct smp_spread {
    size_t count;                          /* of the values that are finite */
    double least, low, middle, high, most; /* low and high: quartiles */
    double scale; /* of the usual distance from the middle, as a normal distribution's deviation: the larger of what the
                     median of the distances and what the quartiles say; 0: more than half of the values are the same */
    size_t bins[SMP_SPREAD_BINS]; /* from least to most */
} smp_spread;

/* values: not NaN; they are sorted. scratch: as many. */
void smp_spread_find(double *values, size_t count, double *scratch, smp_spread *spread);

enum {
    SMP_FIND_GROUPS = 8, /* of files whose values can be compared */
    SMP_FIND_KINDS = 16,
    SMP_FIND_LEAST = 5 /* files; fewer say nothing of what is usual */
};

/* Files of one kind and format: values of others (0..255 and -1..1) cannot be compared with theirs. */
typedef struct smp_file_group {
    bool sound;
    const char *format;
    size_t files;
    smp_spread *spreads; /* of each column */
} smp_file_group;

/* Properties that files of a group have in common. */
typedef struct smp_file_kind {
    bool sound;
    const char *format;
    int64_t channels;
    double rate; /* of sounds */
    int size;    /* of pictures: -1, 1: less than a quarter, more than four times the pixels of the median picture */
    size_t files;
    const smp_wide_row *example;
} smp_file_kind;

typedef struct smp_ranked_file {
    double score; /* largest first */
    size_t file;
} smp_ranked_file;

typedef struct smp_measure_find {
    const smp_wide *wide;
    const smp_wide_row **files; /* without the rows of things in them */
    size_t file_count, *things; /* of each file: how many things have a row of their own */
    bool has_things;
    smp_file_group groups[SMP_FIND_GROUPS];
    size_t group_count, *group_of;
    smp_file_kind kinds[SMP_FIND_KINDS]; /* the most frequent first */
    size_t kind_count, *kind_of;
    size_t odd;               /* files of another kind than three quarters of all; 0: so many are of no one kind */
    size_t *worst;            /* of each file: the column in which it lies out most; column_count: none */
    smp_ranked_file *ranking; /* those that lie out most first */
    size_t *twins;            /* of each file: an earlier one with the same values; its own number: none */
    size_t far, twin_count;
    smp_spread *spreads; /* of all groups */
} smp_measure_find;

/* The wide table must stay. Free it also after a failure. */
smp_code smp_measure_find_all(smp_measure_find *found, const smp_wide *wide, smp_error *err);
void smp_measure_find_free(smp_measure_find *found);

/* NaN: the row has no such value. */
double smp_wide_value(const smp_wide_row *row, size_t column);

/* Whether a column's name, behind its label and before its channel ("light.mean_r"), is one of those; ends with null.
 */
bool smp_column_is(const char *column, const char *const *names);

/* Whether a column grows with the size of a file, which says nothing of what is in it. */
bool smp_column_grows(const smp_measure_find *found, size_t column);

/* Whether a column says less than its neighbours: mean, deviation, loudness, peaks, sharpness are told first. */
bool smp_column_is_minor(const char *column);

/* Compares by score, the largest first, then by file: for qsort. */
int smp_by_score(const void *a, const void *b);

/* The results of `measure` as one page: files of another kind, outliers, histograms of all files together, how each
 * value is spread over the files, and a table to sort and to download. */

/* The page of the table of files, their totals, and what failed. */
smp_code smp_measure_page(const smp_measure_output *output, const smp_totals *totals, size_t failed, smp_error *err);

/* The plain table "files": a row a file, all digits. Columns that no file has are left out. */
smp_code smp_measure_page_table(FILE *to, const smp_measure_find *found, smp_error *err);

/* "judged": for each judgement that recordings' numbers allow (too soft, clipped), how many files were measured and are
 * beyond its bound, and the first of those. "things": how many things were found in each file, where a stage tells them
 * one by one. */
void smp_measure_page_judgements(smp_json *json, const smp_measure_find *found);
void smp_measure_page_things(smp_json *json, const smp_measure_find *found);
