/* Moments over files: see moments.h. */
#include "stages/shared/reduce/moments.h"

#include <float.h>
#include <math.h>

/* s * s / n as high + low; *tail: what s, rounded, lacks. */
static void square_over(double s, double tail, double n, double *high, double *low)
{
    const double square = s * s, error = fma(s, s, -square) + 2 * s * tail;
    *high = square / n;
    *low = (fma(-*high, n, square) + error) / n;
}

void smp_moments_of(const smp_stats_chunk *all, smp_moments *moments)
{
    double high, low;
    *moments = (smp_moments){.count = all->count, .min = all->min, .max = all->max};
    if (!all->count)
        return;
    square_over(all->sum, 0, (double)all->count, &high, &low);
    smp_exact_add(&moments->sum, all->sum);
    smp_exact_add(&moments->inside, all->squares);
    smp_exact_add(&moments->between, high);
    smp_exact_add(&moments->between, low);
}

void smp_moments_join(smp_moments *total, const smp_moments *more)
{
    if (!more->count)
        return;
    if (!total->count) {
        *total = *more;
        return;
    }
    total->count += more->count;
    total->min = more->min < total->min ? more->min : total->min;
    total->max = more->max > total->max ? more->max : total->max;
    smp_exact_join(&total->sum, &more->sum);
    smp_exact_join(&total->inside, &more->inside);
    smp_exact_join(&total->between, &more->between);
}

smp_stats_chunk smp_moments_read(const smp_moments *moments)
{
    smp_stats_chunk all = {.count = moments->count, .min = moments->min, .max = moments->max};
    double tail, high, low;
    if (!all.count)
        return all;
    smp_exact_read(&moments->sum, &all.sum, &tail);
    square_over(all.sum, tail, (double)all.count, &high, &low);
    smp_exact squares = moments->inside;
    smp_exact_join(&squares, &moments->between);
    smp_exact_add(&squares, -high);
    smp_exact_add(&squares, -low);
    smp_exact_read(&squares, &high, &low);
    all.squares = high > 0 ? high : 0;
    return all;
}

void smp_moments_pack(const smp_moments *moments, smp_packer *to)
{
    smp_pack_double(to, (double)moments->min);
    smp_pack_double(to, (double)moments->max);
    smp_exact_pack(&moments->sum, to);
    smp_exact_pack(&moments->inside, to);
    smp_exact_pack(&moments->between, to);
}

static float unpack_float(smp_unpacker *from)
{
    const double value = smp_unpack_double(from);
    from->failed |= !(fabs(value) <= (double)FLT_MAX) || (double)(float)value != value;
    return from->failed ? 0.f : (float)value;
}

void smp_moments_unpack(smp_unpacker *from, smp_moments *moments)
{
    moments->min = unpack_float(from);
    moments->max = unpack_float(from);
    smp_exact_unpack(from, &moments->sum);
    smp_exact_unpack(from, &moments->inside);
    smp_exact_unpack(from, &moments->between);
    from->failed |= moments->min > moments->max;
}
