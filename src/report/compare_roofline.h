/* The roofline of a comparison: what each variant computes a second over what its step computes for each byte that
 * crosses memory, under the line that memory allows (Williams, Waterman, Patterson 2009). */
#ifndef SMP_REPORT_COMPARE_ROOFLINE_H
#define SMP_REPORT_COMPARE_ROOFLINE_H

#include "report/compare.h"

/* A section with one <svg>; nothing when no timed step computes. */
void smp_compare_roofline(FILE *to, const smp_compare *compare);

#endif
