/* What the pages of measure and batch share: the look. No network; it fits a phone, follows dark mode and prints. */
#ifndef SMP_REPORT_PAGE_H
#define SMP_REPORT_PAGE_H

#include <stdio.h>

/* Everything up to <body>; more: rules of the page's own, or "". */
void smp_page_begin(FILE *to, const char *title, const char *more);
void smp_page_end(FILE *to);

/* "1 file", "2 files". */
void smp_page_count(FILE *to, size_t count, const char *one, const char *many);

/* Five digits; whole numbers in full. Nothing where it is not finite. */
void smp_page_number(FILE *to, double value);

#endif
