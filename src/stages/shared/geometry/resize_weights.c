/* Weights of resize: see resize_weights.h. The order of operations is Pillow's (src/libImaging/Resample.c), so that
 * rounded weights are the same. */
#include "stages/shared/geometry/resize_weights.h"

#include <math.h>

#include "base/checked.h"

static const double pi = 3.14159265358979323846;

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1 : 0;
}
static double bilinear(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}
/* Keys, "Cubic convolution interpolation for digital image processing" (1981), with a = -1/2. */
static double bicubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}
/* Mitchell and Netravali, "Reconstruction filters in computer graphics" (1988), with B = C = 1/3. */
static double mitchell(double x)
{
    x = fabs(x);
    if (x < 1)
        return (7 * x * x * x - 12 * x * x + 16. / 3) / 6;
    return x < 2 ? (-7. / 3 * x * x * x + 12 * x * x - 20 * x + 32. / 3) / 6 : 0;
}
static double sinc(double x)
{
    return x == 0 ? 1 : sin(pi * x) / (pi * x);
}
static double lanczos3(double x)
{
    return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

typedef struct kernel {
    double (*at)(double x);
    double support; /* where it becomes 0 */
} kernel;

static const kernel kernels[] = {
    [SMP_RESIZE_LANCZOS3] = {lanczos3, 3}, [SMP_RESIZE_MITCHELL] = {mitchell, 2}, [SMP_RESIZE_BICUBIC] = {bicubic, 2},
    [SMP_RESIZE_BILINEAR] = {bilinear, 1}, [SMP_RESIZE_BOX] = {box, 0.5},
};

static bool whole(const smp_resize_request *r)
{
    return r->begin == 0 && r->length == (double)r->n;
}

bool smp_resize_keeps(const smp_resize_request *axis)
{
    return axis->n == axis->m && whole(axis);
}

/* Input samples for each output sample. */
static double step(const smp_resize_request *r)
{
    return r->length / (double)r->m;
}

/* Returns how much wider than the input's samples the filter is. */
static double widening(const smp_resize_request *r)
{
    return r->antialias ? fmax(step(r), 1) : 1;
}

/* Output sample x's input samples *lo .. *hi - 1. */
static void window(const smp_resize_request *r, int64_t x, int64_t *lo, int64_t *hi)
{
    const double from = r->begin + (double)x * step(r), to = r->begin + (double)(x + 1) * step(r);
    if (r->filter == SMP_RESIZE_NEAREST) {
        *lo = whole(r) ? (2 * x + 1) * r->n / (2 * r->m) : (int64_t)floor(r->begin + ((double)x + 0.5) * step(r));
        *lo = smp_clamp_i64(*lo, 0, r->n - 1);
        *hi = *lo + 1;
    } else if (r->filter == SMP_RESIZE_AREA && whole(r)) {
        *lo = x * r->n / r->m;
        *hi = ((x + 1) * r->n - 1) / r->m + 1;
    } else if (r->filter == SMP_RESIZE_AREA) {
        *lo = smp_clamp_i64((int64_t)floor(from), 0, r->n - 1);
        *hi = smp_clamp_i64((int64_t)ceil(to), *lo + 1, r->n);
    } else {
        const double centre = r->begin + ((double)x + 0.5) * step(r);
        const double reach = kernels[r->filter].support * widening(r);
        *lo = smp_clamp_i64((int64_t)(centre - reach + 0.5), 0, r->n - 1);
        *hi = smp_clamp_i64((int64_t)(centre + reach + 0.5), *lo + 1, r->n);
    }
}

int64_t smp_resize_most(const smp_resize_request *r)
{
    int64_t most = 1, lo, hi;
    for (int64_t x = 0; x < r->m; x++) {
        window(r, x, &lo, &hi);
        most = smp_max_i64(most, hi - lo);
    }
    return most;
}

/* The part of input sample k that output sample x covers, of its own size 1. */
static double share(const smp_resize_request *r, int64_t x, int64_t k)
{
    if (whole(r)) {
        const int64_t to = smp_min_i64((k + 1) * r->m, (x + 1) * r->n), from = smp_max_i64(k * r->m, x * r->n);
        return (double)(to - from) / (double)r->n;
    }
    const double from = fmax((double)k, r->begin + (double)x * step(r));
    const double to = fmin((double)(k + 1), r->begin + (double)(x + 1) * step(r));
    return fmax(0, to - from) / step(r);
}

static double weight(const smp_resize_request *r, int64_t x, int64_t k)
{
    if (r->filter == SMP_RESIZE_NEAREST)
        return 1;
    if (r->filter == SMP_RESIZE_AREA)
        return share(r, x, k);
    const double centre = r->begin + ((double)x + 0.5) * step(r);
    return kernels[r->filter].at(((double)k - centre + 0.5) * (1 / widening(r)));
}

static int32_t word(double w, bool fixed)
{
    const float f = (float)w;
    if (fixed)
        return (int32_t)((w < 0 ? -0.5 : 0.5) + w * (1 << SMP_RESIZE_BITS));
    return (int32_t)smp_bits(f);
}

void smp_resize_weights(const smp_resize_request *r, const smp_resize_axis *axis, int32_t *table, double *spare)
{
    for (int64_t x = 0; x < r->m; x++) {
        int64_t lo, hi;
        double sum = 0;
        window(r, x, &lo, &hi);
        for (int64_t k = lo; k < hi; k++)
            sum += spare[k - lo] = weight(r, x, k);
        table[axis->starts + 2 * x] = (int32_t)lo;
        table[axis->starts + 2 * x + 1] = (int32_t)(hi - lo);
        int32_t *to = table + axis->weights + x * axis->taps;
        const bool normal = r->filter == SMP_RESIZE_AREA || sum == 0; /* area: the sum is 1 */
        for (int64_t k = 0; k < hi - lo; k++)
            to[k] = word(normal ? spare[k] : spare[k] / sum, r->fixed);
    }
}
