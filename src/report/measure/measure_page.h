/* What `measure` found in many files as one page: what is of another kind, what stands out, histograms of all files
 * together, how each value is spread over the files, and a table to sort and to download. No network; it fits a phone,
 * follows dark mode and prints.
 */
#ifndef SMP_REPORT_MEASURE_MEASURE_PAGE_H
#define SMP_REPORT_MEASURE_MEASURE_PAGE_H

#include "report/measure/measure.h"
#include "report/measure/measure_find.h"

/* The page of the table of files, their totals, and what failed. */
smp_code smp_measure_page(const smp_measure_output *output, const smp_totals *totals, size_t failed, smp_error *err);

/* Its list of what failed, and why. */
void smp_measure_page_failures(const smp_measure_output *output, size_t failed);

/* How many files there are of which any recording's numbers say that something is wrong, as sentences; and which they
 * are. Nothing where nothing was measured that is judged so: loudness and clipped samples are. */
void smp_measure_page_judged(FILE *to, const smp_measure_find *found);
void smp_measure_page_judgements(FILE *to, const smp_measure_find *found);

/* Bars: how many things were found in each file. Nothing where no stage tells things one by one. */
void smp_measure_page_things(FILE *to, const smp_measure_find *found);

/* Its table: a row a file, with a script that sorts and saves it. Columns that no file has are left out. */
void smp_measure_page_table(FILE *to, const smp_measure_find *found);

#endif
