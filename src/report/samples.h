/* Samples of a time and what they allow to say: quartiles, and a verdict that is robust against noise. Pure arithmetic.
 */
#pragma once

#include <stddef.h>

/* Half of all samples are in low..high, the quartiles. The true median is in from..to with 95 % confidence. All NaN
 * without samples. */
typedef struct smp_spread {
    double low, median, high, from, to;
} smp_spread;

/* Quartiles by linear interpolation between the sorted samples (R's and NumPy's default; Hyndman & Fan 1996, type 7).
 * The median's interval is that of order statistics, for any distribution: samples n/2 -+ 0.98 sqrt(n), rounded
 * outwards (Conover, Practical Nonparametric Statistics, 3.2). Does not reorder samples. False: out of memory. */
_Bool smp_spread_of(const double *samples, size_t count, smp_spread *spread);

/* (to - from) / median: sampling stops when it is below 0.5 %. */
double smp_spread_width(const smp_spread *spread);

typedef enum smp_verdict {
    SMP_VERDICT_NONE,   /* not timed, or nothing to compare with */
    SMP_VERDICT_BASE,   /* the base of the comparison */
    SMP_VERDICT_FASTER, /* its median's interval is below the base's, and its median at least 1 % lower */
    SMP_VERDICT_SLOWER, /* the same above */
    SMP_VERDICT_SAME,   /* both intervals are within 3 % of the base's median */
    SMP_VERDICT_UNCLEAR /* the intervals overlap or are too wide to tell */
} smp_verdict;

smp_verdict smp_verdict_of(const smp_spread *base, const smp_spread *other);

/* "faster"; "" for NONE, "base" for BASE. */
const char *smp_verdict_name(smp_verdict verdict);
