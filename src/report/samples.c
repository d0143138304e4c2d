/* Quartiles and verdicts: see samples.h. */
#include "report/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/order.h"

static const double least_difference = 0.01, same_within = 0.03; /* of the base's median */

static double quantile(const double *sorted, size_t count, double p)
{
    double at = p * (double)(count - 1);
    size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

_Bool smp_spread_of(const double *samples, size_t count, smp_spread *spread)
{
    *spread = (smp_spread){NAN, NAN, NAN, NAN, NAN};
    if (!count)
        return 1;
    double *sorted = smp_alloc_array(count, sizeof *sorted);
    if (!sorted)
        return 0;
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, smp_by_double);
    double half = (double)count / 2, reach = 0.98 * sqrt((double)count), below = floor(half - reach);
    size_t first = below > 0 ? (size_t)below : 0;
    *spread = (smp_spread){quantile(sorted, count, 0.25), quantile(sorted, count, 0.5), quantile(sorted, count, 0.75),
                           sorted[first], sorted[count - 1 - first]};
    smp_free(sorted);
    return 1;
}

double smp_spread_width(const smp_spread *spread)
{
    return spread->median > 0 ? (spread->to - spread->from) / spread->median : 0;
}

static int near(const smp_spread *spread, double median)
{
    return spread->from >= median * (1 - same_within) && spread->to <= median * (1 + same_within);
}

smp_verdict smp_verdict_of(const smp_spread *base, const smp_spread *other)
{
    if (!(base->median > 0) || !(other->median > 0))
        return SMP_VERDICT_NONE;
    double change = other->median / base->median - 1;
    if (other->to < base->from && change <= -least_difference)
        return SMP_VERDICT_FASTER;
    if (other->from > base->to && change >= least_difference)
        return SMP_VERDICT_SLOWER;
    return near(base, base->median) && near(other, base->median) ? SMP_VERDICT_SAME : SMP_VERDICT_UNCLEAR;
}

const char *smp_verdict_name(smp_verdict verdict)
{
    static const char *const names[] = {"", "base", "faster", "slower", "same", "unclear"};
    return names[verdict];
}
