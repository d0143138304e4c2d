/* Weights of the gaussian-shaped blur and the part of a plan that follows from them. */
#include "stages/shared/stencil/gaussian_plan.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

void smp_gaussian_fill(double *w, int radius, double sigma)
{
    double sum = 0;
    for (int k = radius; k >= 0; k--) { /* smallest first */
        w[k] = k ? exp(-0.5 * (double)k * (double)k / (sigma * sigma)) : 1;
        sum += k ? 2 * w[k] : w[k];
    }
    for (int k = 0; k <= radius; k++)
        w[k] /= sum;
}

int smp_gaussian_integer_rows(const double *b, int radius, int32_t *whole, double *moved)
{
    enum { SCALES = 4096 };
    int best = 0;
    *moved = 256;
    for (int scale = SMP_GAUSSIAN_ONE - 1; scale >= SMP_GAUSSIAN_ONE - SCALES; scale--) {
        double off = 0;
        int sum = 0, all[SMP_GAUSSIAN_INTEGER_ROWS + 1];
        for (int k = 0; k <= radius; k++) {
            all[k] = (int)(b[k] * scale + 0.5);
            sum += k ? 2 * all[k] : all[k];
        }
        if (sum > SMP_GAUSSIAN_ONE)
            continue;
        for (int k = radius; k >= 0; k--)
            off += (k ? 2 : 1) * fabs((double)all[k] / sum - b[k]);
        if (127.5 * off >= *moved)
            continue;
        *moved = 127.5 * off;
        best = sum;
        for (int k = 0; k <= radius; k++)
            whole[k] = all[k];
    }
    return best;
}

static void set_work(smp_node_plan *work, int radius, int edge)
{
    work->rows.up = work->rows.down = radius;
    work->rows.whole = edge == SMP_WRAP;
    work->ops = 2 * (3. * radius + 1) + 2 * (2. * radius + 1); /* row pass with its pair sums, column pass */
    work->ops -= 2. * radius;                                  /* a pair sum counts 1, not 2 */
}

/* The row pass's weights, and what the column pass makes up for. */
static void set_whole(const double *b, smp_gaussian *gaussian)
{
    int32_t whole[SMP_GAUSSIAN_INTEGER_ROWS + 1];
    double moved;
    gaussian->whole = smp_gaussian_integer_rows(b, gaussian->radius, whole, &moved);
    for (int k = 0; k <= gaussian->radius; k++) {
        gaussian->a[k] = (float)whole[k] / (float)SMP_GAUSSIAN_ONE;
        gaussian->w[k] = (float)(b[k] * SMP_GAUSSIAN_ONE / gaussian->whole);
    }
}

smp_code smp_gaussian_plan(double sigma, double truncate, int edge, double fill, bool bytes, smp_gaussian *gaussian,
                           smp_node_plan *work, smp_error *err)
{
    const int radius = (int)(truncate * sigma + 0.5); /* as scipy.ndimage.gaussian_filter rounds it */
    if (!radius) {
        work->effect.none = true;
        return SMP_OK;
    }
    *gaussian = (smp_gaussian){.radius = radius, .edge = edge, .fill = (float)fill};
    double *w = smp_alloc_array((size_t)radius + 1, sizeof *w);
    float *table = NULL;
    SMP_NEED(w, "filter weights", ((size_t)radius + 1) * sizeof *w, err);
    if (radius >= SMP_GAUSSIAN_INLINE) {
        table = smp_alloc_array((size_t)radius + 1, sizeof *table);
        if (!table) {
            smp_free(w);
            return smp_fail_memory(err, "filter weights", ((size_t)radius + 1) * sizeof *table);
        }
        work->table.data = table;
        work->table.size = ((size_t)radius + 1) * sizeof *table;
    }
    smp_gaussian_fill(w, radius, sigma);
    for (int k = 0; k <= radius; k++)
        (table ? table : gaussian->w)[k] = (float)w[k];
    memcpy(gaussian->a, gaussian->w, sizeof gaussian->a);
    if (bytes && radius <= SMP_GAUSSIAN_INTEGER_ROWS)
        set_whole(w, gaussian);
    smp_free(w);
    set_work(work, radius, edge);
    return SMP_OK;
}
