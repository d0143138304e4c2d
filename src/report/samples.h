/* Samples of a time and what may be said about them: quartiles, and a verdict that noise cannot make. Pure arithmetic.
 */
#ifndef SMP_REPORT_SAMPLES_H
#define SMP_REPORT_SAMPLES_H

#include <stddef.h>

/* Half of all samples lie in low..high, the quartiles; with 95 % confidence the true median lies in from..to. All NaN
 * without samples. */
typedef struct smp_spread {
    double low, median, high, from, to;
} smp_spread;

/* Quartiles by linear interpolation between the sorted samples (R's and NumPy's default, Hyndman & Fan 1996, type 7).
 * The median's interval is that of order statistics, whatever the distribution: samples n/2 -+ 0.98 sqrt(n), widened to
 * whole ones (Conover, Practical Nonparametric Statistics, 3.2). Samples are left as they are; false when memory is
 * exhausted. */
_Bool smp_spread_of(const double *samples, size_t count, smp_spread *spread);

/* (to - from) / median: what must fall below 0.5 % for sampling to stop. */
double smp_spread_width(const smp_spread *spread);

typedef enum smp_verdict {
    SMP_VERDICT_NONE,   /* not timed, or nothing to be compared with */
    SMP_VERDICT_BASE,   /* what the others are compared with */
    SMP_VERDICT_FASTER, /* its median's interval lies below the base's, its median at least 1 % */
    SMP_VERDICT_SLOWER, /* the same above */
    SMP_VERDICT_SAME,   /* both intervals lie within 3 % of the base's median */
    SMP_VERDICT_UNCLEAR /* the intervals overlap or are too wide to tell */
} smp_verdict;

smp_verdict smp_verdict_of(const smp_spread *base, const smp_spread *other);

/* "faster"; "" for NONE, "base" for BASE. */
const char *smp_verdict_name(smp_verdict verdict);

#endif
