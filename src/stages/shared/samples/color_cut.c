/* A palette by cutting boxes: of all the pixels' colours, the part that deviates most from its mean is cut there (Wu
 * 1991 cuts so, at another place), then k-means. All sums are in double and in one order. */
#include "stages/shared/samples/color_cut.h"

#include <math.h>

#include "base/alloc.h"
#include "elementwise/palette.h"

enum { ROUNDS = 4 /* of k-means */ };

typedef struct bin { /* that has pixels */
    double pixels, at[3];
    int32_t part;
} bin;

typedef struct part {
    double pixels, mean[3], deviation[3]; /* sums of squares */
    int axis;                             /* the one that deviates most */
} part;

static size_t bins_of(const uint64_t *counts, int colours, bin *bins)
{
    size_t n = 0;
    for (int i = 0; i < (colours == 1 ? 256 : SMP_PALETTE_BINS); i++) {
        const uint64_t *c = counts + (size_t)i * SMP_PALETTE_PARTS;
        if (!c[0])
            continue;
        bins[n] = (bin){.pixels = (double)c[0]};
        for (int k = 0; k < colours; k++)
            bins[n].at[k] = (double)c[1 + k] / (double)c[0] / 65535;
        n++;
    }
    return n;
}

static part measured(const bin *bins, size_t n, int number, int colours)
{
    part p = {0};
    for (size_t i = 0; i < n; i++)
        if (bins[i].part == number) {
            p.pixels += bins[i].pixels;
            for (int k = 0; k < colours; k++)
                p.mean[k] += bins[i].pixels * bins[i].at[k];
        }
    for (int k = 0; k < colours && p.pixels > 0; k++)
        p.mean[k] /= p.pixels;
    for (size_t i = 0; i < n; i++)
        if (bins[i].part == number)
            for (int k = 0; k < colours; k++)
                p.deviation[k] += bins[i].pixels * (bins[i].at[k] - p.mean[k]) * (bins[i].at[k] - p.mean[k]);
    for (int k = 1; k < colours; k++)
        p.axis = p.deviation[k] > p.deviation[p.axis] ? k : p.axis;
    return p;
}

/* Cuts the part that deviates most until there are `count`, or none deviates. Gives how many. */
static int cut(bin *bins, size_t n, int colours, int count, part *parts)
{
    int made = 1;
    parts[0] = measured(bins, n, 0, colours);
    while (made < count) {
        int most = 0;
        for (int i = 1; i < made; i++)
            most = parts[i].deviation[parts[i].axis] > parts[most].deviation[parts[most].axis] ? i : most;
        const part whole = parts[most];
        bool left = false, right = false;
        for (size_t i = 0; i < n; i++)
            if (bins[i].part == most) {
                const bool above = bins[i].at[whole.axis] > whole.mean[whole.axis];
                bins[i].part = above ? made : most;
                left |= !above;
                right |= above;
            }
        if (!left || !right)
            break;
        parts[most] = measured(bins, n, most, colours);
        parts[made] = measured(bins, n, made, colours);
        made++;
    }
    return made;
}

static void nearest(bin *b, const part *parts, int made, int colours)
{
    double best = INFINITY;
    for (int i = 0; i < made; i++) {
        double far = 0;
        for (int k = 0; k < colours; k++)
            far += (b->at[k] - parts[i].mean[k]) * (b->at[k] - parts[i].mean[k]);
        if (far < best) {
            best = far;
            b->part = i;
        }
    }
}

static void move_means(const bin *bins, size_t n, int colours, part *parts, int made)
{
    part sums[SMP_PALETTE_MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        part *to = &sums[bins[i].part];
        to->pixels += bins[i].pixels;
        for (int k = 0; k < colours; k++)
            to->mean[k] += bins[i].pixels * bins[i].at[k];
    }
    for (int i = 0; i < made; i++)
        for (int k = 0; k < colours && sums[i].pixels > 0; k++)
            parts[i].mean[k] = sums[i].mean[k] / sums[i].pixels;
}

smp_code smp_color_cut(const uint64_t *counts, int colours, int count, double *values, smp_error *err)
{
    part parts[SMP_PALETTE_MOST] = {0};
    bin *bins = smp_alloc_array(SMP_PALETTE_BINS, sizeof *bins);
    SMP_NEED(bins, "colours", SMP_PALETTE_BINS * sizeof *bins, err);
    const size_t n = bins_of(counts, colours, bins);
    const int made = n ? cut(bins, n, colours, count, parts) : 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++)
            nearest(&bins[i], parts, made, colours);
        move_means(bins, n, colours, parts, made);
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < colours; k++)
            values[i * colours + k] = parts[i < made ? i : made - 1].mean[k];
    smp_free(bins);
    return SMP_OK;
}
