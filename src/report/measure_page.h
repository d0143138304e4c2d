/* What `measure` found in many files as one page: what stands out, histograms of all files together, how each value is
 * spread over the files, and a table to sort and to download. No network; it fits a phone, follows dark mode and
 * prints.
 */
#ifndef SMP_REPORT_MEASURE_PAGE_H
#define SMP_REPORT_MEASURE_PAGE_H

#include "report/measure.h"

/* The page of the table of files, their totals, and what failed. */
smp_code smp_measure_page(const smp_measure_output *output, const smp_totals *totals, size_t failed, smp_error *err);

/* Its list of what failed, and why. */
void smp_measure_page_failures(const smp_measure_output *output, size_t failed);

/* Its table: a row a file, with a script that sorts and saves it. */
void smp_measure_page_table(FILE *to, const smp_wide *wide, const smp_wide_row *const *files, size_t file_count);

#endif
