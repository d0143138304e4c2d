/* Parts of the page of a comparison, for compare_html.c. */
#ifndef SMP_REPORT_COMPARE_HTML_H
#define SMP_REPORT_COMPARE_HTML_H

#include "report/compare.h"

/* All up to the first step: style, title, a table of what was found. */
void smp_compare_html_head(FILE *to, const smp_compare *compare);

/* Device, clocks, rates, versions. */
void smp_compare_html_environment(FILE *to, const smp_compare *compare);

/* The look, which the kernel lab's page shares. */
const char *smp_compare_html_style(void);

#endif
