/* The median and the quartiles of a measured rate. */
#include "run/rate.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* Interpolates between the two nearest sorted values, like NumPy's quantile with method "linear". */
static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int low = (int)at, high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

void smp_rate_settle(smp_rate *rate)
{
    double sorted[SMP_RATE_SAMPLES];
    rate->gbs = rate->gbs_low = rate->gbs_high = 0;
    if (rate->count <= 0)
        return;
    memcpy(sorted, rate->seconds, (size_t)rate->count * sizeof *sorted);
    qsort(sorted, (size_t)rate->count, sizeof *sorted, smp_by_double);
    const struct {
        double *gbs, q;
    } wanted[] = {{&rate->gbs, 0.5}, {&rate->gbs_low, 0.75}, {&rate->gbs_high, 0.25}};
    for (int i = 0; i < 3; i++) {
        double seconds = quantile(sorted, rate->count, wanted[i].q);
        *wanted[i].gbs = seconds > 0 ? rate->bytes / seconds * 1e-9 : 0;
    }
}
