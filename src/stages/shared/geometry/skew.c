/* Finds the angle by which the lines of a page are turned: after Leptonica's pixFindSkewSweepAndSearch (Bloomberg).
 * Columns of dark pixels are shifted so that lines of that angle become level; then rows of text and gaps between them
 * differ most, and the squares of differences of neighbouring rows' sums are largest. */
#include "stages/shared/geometry/skew.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "reduce/brightness.h"

enum { LEVELS = 256 };
#define COARSE 0.5  /* degrees: of the sweep, */
#define FINE   0.05 /* and round its best */

typedef struct point {
    int32_t x, y; /* x: a group of pixels */
} point;

typedef struct page {
    point *points; /* of ink */
    size_t count;
    int64_t groups, height;
    int64_t *rows; /* sums, of sheared rows */
    int64_t spare; /* rows above and below the page */
} page;

/* A group's mean. */
static int mean_of(uint16_t sum, int64_t group, int64_t width)
{
    const int64_t pixels = smp_min_i64(SMP_BRIGHTNESS_GROUP, width - group * SMP_BRIGHTNESS_GROUP);
    return (int)((2 * sum + pixels) / (2 * pixels));
}

/* Otsu 1979: the level up to which pixels belong to the darker of two classes. */
static int otsu(const int64_t counts[LEVELS], int64_t all)
{
    double sum = 0, below = 0, moment = 0, best = -1;
    int level = 0;
    for (int i = 0; i < LEVELS; i++)
        sum += (double)i * (double)counts[i];
    for (int i = 0; i < LEVELS; i++) {
        below += (double)counts[i];
        moment += (double)i * (double)counts[i];
        const double above = (double)all - below;
        if (below <= 0 || above <= 0)
            continue;
        const double apart = moment / below - (sum - moment) / above, between = below * above * apart * apart;
        if (between > best) {
            best = between;
            level = i;
        }
    }
    return best < 0 ? -1 : level;
}

/* The darker class; or the lighter, where that is the smaller one. */
static smp_code find_ink(const uint16_t *sums, int64_t width, page *p, smp_error *err)
{
    const int64_t all = p->groups * p->height;
    int64_t counts[LEVELS] = {0}, dark = 0;
    for (int64_t i = 0; i < all; i++)
        counts[mean_of(sums[i], i % p->groups, width)]++;
    const int level = otsu(counts, all);
    for (int i = 0; i <= level; i++)
        dark += counts[i];
    const bool light = dark > all / 2;
    const int64_t ink = level < 0 ? 0 : light ? all - dark : dark;
    SMP_NEED(p->points = smp_alloc_array((size_t)ink + 1, sizeof *p->points), "the ink of a page",
             (uint64_t)ink * sizeof *p->points, err);
    for (int64_t i = 0; ink && i < all; i++)
        if ((mean_of(sums[i], i % p->groups, width) > level) == light)
            p->points[p->count++] = (point){(int32_t)(i % p->groups), (int32_t)(i / p->groups)};
    return SMP_OK;
}

/* Scores how much rows differ from their neighbours once lines of this angle are level. */
static double score(const page *p, double degrees)
{
    const double slope = tan(degrees * 0.017453292519943295) * SMP_BRIGHTNESS_GROUP;
    const double middle = (double)(p->groups - 1) / 2;
    const int64_t rows = p->height + 2 * p->spare;
    double sum = 0;
    memset(p->rows, 0, (size_t)rows * sizeof *p->rows);
    for (size_t i = 0; i < p->count; i++) {
        const int64_t shift = (int64_t)floor(((double)p->points[i].x - middle) * slope + 0.5);
        p->rows[p->points[i].y - shift + p->spare]++;
    }
    for (int64_t y = 0; y + 1 < rows; y++) {
        const double apart = (double)(p->rows[y + 1] - p->rows[y]);
        sum += apart * apart;
    }
    return sum;
}

/* The best of the angles `middle` + k step, k = -count .. count, within the limit; of equal ones that nearest to
 * `middle`. */
static double best_of(const page *p, double middle, double step, int count, double limit)
{
    double best = middle, most = score(p, middle);
    for (int k = 1; k <= count; k++)
        for (int side = -1; side <= 1; side += 2) {
            const double angle = middle + side * k * step;
            const double s = fabs(angle) <= limit ? score(p, angle) : 0;
            if (s > most) {
                most = s;
                best = angle;
            }
        }
    return best;
}

smp_code smp_skew_find(const uint16_t *sums, int64_t width, int64_t height, double limit, double *angle, smp_error *err)
{
    page p = {.groups = smp_brightness_groups(width), .height = height};
    *angle = 0;
    p.spare = (int64_t)ceil(tan(limit * 0.017453292519943295) * (double)width / 2) + SMP_BRIGHTNESS_GROUP;
    smp_code code = find_ink(sums, width, &p, err);
    if (!code && !(p.rows = smp_alloc_array((size_t)(height + 2 * p.spare), sizeof *p.rows)))
        code = smp_fail_memory(err, "rows of a page", (uint64_t)height * sizeof *p.rows);
    if (!code && p.count) {
        *angle = best_of(&p, 0, COARSE, (int)floor(limit / COARSE), limit);
        *angle = best_of(&p, *angle, FINE, (int)(COARSE / FINE), limit);
    }
    smp_free_all(p.points, p.rows);
    return code;
}
