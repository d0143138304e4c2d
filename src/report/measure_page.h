/* What `measure` found in many files as one page: what stands out, histograms of all files together, how each value is
 * spread over the files, and a table to sort and to download. No network; it fits a phone, follows dark mode and
 * prints.
 */
#ifndef SMP_REPORT_MEASURE_PAGE_H
#define SMP_REPORT_MEASURE_PAGE_H

#include "report/measure.h"

/* The page of a table of files and their totals. limits: for reading those that stand out again, for small pictures. */
smp_code smp_measure_page(FILE *to, const smp_wide *wide, const smp_totals *totals, size_t done, size_t failed,
                          const smp_limits *limits, smp_error *err);

/* Its table: a row a file, with a script that sorts and saves it. */
void smp_measure_page_table(FILE *to, const smp_wide *wide, const smp_wide_row *const *files, size_t file_count);

#endif
