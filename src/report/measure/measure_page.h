/* The results of `measure` as one page: files of another kind, outliers, histograms of all files together, how each
 * value is spread over the files, and a table to sort and to download. */
#pragma once

#include "report/measure/measure.h"
#include "report/measure/measure_find.h"

/* The page of the table of files, their totals, and what failed. */
smp_code smp_measure_page(const smp_measure_output *output, const smp_totals *totals, size_t failed, smp_error *err);

/* The plain table "files": a row a file, all digits. Columns that no file has are left out. */
smp_code smp_measure_page_table(FILE *to, const smp_measure_find *found, smp_error *err);

/* "judged": for each judgement that recordings' numbers allow (too soft, clipped), how many files were measured and are
 * beyond its bound, and the first of those. "things": how many things were found in each file, where a stage tells them
 * one by one. */
void smp_measure_page_judgements(smp_json *json, const smp_measure_find *found);
void smp_measure_page_things(smp_json *json, const smp_measure_find *found);
