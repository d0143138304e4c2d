/* The roofline of a comparison: the operations a second of each variant over the operations of its step for each byte
 * that crosses memory, below the line that memory bandwidth allows (Williams, Waterman, Patterson 2009). */
#ifndef SMP_REPORT_COMPARE_COMPARE_ROOFLINE_H
#define SMP_REPORT_COMPARE_COMPARE_ROOFLINE_H

#include "report/compare/compare.h"

/* A section with one <svg>; nothing when no timed step has operations. */
void smp_compare_roofline(FILE *to, const smp_compare *compare);

#endif
