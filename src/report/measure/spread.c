/* Values over many files: see spread.h. */
#include "base/order.h"
#include "report/measure/measure_find.h"

#include <math.h>
#include <stdlib.h>

static double quantile(const double *sorted, size_t count, double part)
{
    const double at = part * (double)(count - 1);
    const size_t below = (size_t)at;
    const double rest = at - (double)below;
    return below + 1 < count ? sorted[below] * (1 - rest) + sorted[below + 1] * rest : sorted[count - 1];
}

void smp_spread_find(double *values, size_t count, double *scratch, smp_spread *s)
{
    *s = (smp_spread){.count = 0};
    size_t finite = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[finite++] = values[i];
    if (!(s->count = finite))
        return;
    qsort(values, finite, sizeof *values, smp_by_double);
    s->least = values[0];
    s->most = values[finite - 1];
    s->low = quantile(values, finite, .25);
    s->middle = quantile(values, finite, .5);
    s->high = quantile(values, finite, .75);
    for (size_t i = 0; i < finite; i++) {
        const double part = s->most > s->least ? (values[i] - s->least) / (s->most - s->least) : 0;
        const size_t bin = (size_t)(part * SMP_SPREAD_BINS);
        s->bins[bin < SMP_SPREAD_BINS ? bin : SMP_SPREAD_BINS - 1]++;
        scratch[i] = fabs(values[i] - s->middle);
    }
    qsort(scratch, finite, sizeof *scratch, smp_by_double);
    /* factors that make both the deviation of a normal distribution */
    s->scale = fmax(1.4826 * quantile(scratch, finite, .5), (s->high - s->low) / 1.349);
}
