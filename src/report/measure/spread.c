/* Values over many files: see spread.h. */
#include "report/measure/spread.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 260, HEIGHT = 72, WIDE = 720, HIGH = 200 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

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
    qsort(values, finite, sizeof *values, by_value);
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
    qsort(scratch, finite, sizeof *scratch, by_value);
    /* factors that make both the deviation of a normal distribution */
    s->scale = fmax(1.4826 * quantile(scratch, finite, .5), (s->high - s->low) / 1.349);
}

void smp_spread_svg(FILE *to, const smp_spread *s)
{
    size_t most = 1;
    for (int i = 0; i < SMP_SPREAD_BINS; i++)
        most = s->bins[i] > most ? s->bins[i] : most;
    fprintf(to, "<svg class=\"spread\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">", WIDTH, HEIGHT);
    const double step = (double)WIDTH / SMP_SPREAD_BINS;
    for (int i = 0; i < SMP_SPREAD_BINS; i++) {
        if (!s->bins[i])
            continue;
        const double height = fmax(2, (HEIGHT - 4) * (double)s->bins[i] / (double)most); /* a single one is seen */
        fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", i * step + .5, HEIGHT - height,
                step - 1, height);
    }
    if (s->most > s->least)
        fprintf(to, "<path d=\"M%.1f 0V%d\"/>", (s->middle - s->least) / (s->most - s->least) * WIDTH, HEIGHT);
    fputs("</svg>\n", to);
}

/* Bars that run into each other, from the left to the right. The highest bar of all but the first and last bins, which
 * clipped samples fill, has the full height. */
void smp_histogram_svg(FILE *to, const double *const *counts, const char *const *tones, size_t channels, size_t bins)
{
    double most = 0, ends = 0;
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < bins; i++) {
            double *into = bins > 4 && (i == 0 || i == bins - 1) ? &ends : &most;
            *into = fmax(*into, counts[c][i]);
        }
    most = most > 0 ? most : ends > 0 ? ends : 1;
    fprintf(to, "<svg class=\"histogram\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
            WIDE, HIGH);
    for (size_t c = 0; c < channels; c++) {
        const double step = (double)WIDE / (double)bins;
        fprintf(to, "<path class=\"%s\" d=\"M0 %d", tones[c], HIGH);
        for (size_t i = 0; i < bins; i++)
            fprintf(to, "V%.1fH%.2f", HIGH - fmin(1, counts[c][i] / most) * (HIGH - 2), (double)(i + 1) * step);
        fprintf(to, "V%dz\"/>", HIGH);
    }
    fputs("</svg>\n", to);
}
