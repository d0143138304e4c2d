/* limit, compress and gate on the CPU.
 *   naive  step after step over all frames of the call: the definition.
 *   tiled  chunks that stay in cache. Windows double in length from minimum to minimum; sums are exact in double, so
 *          that they need no order; where all gains of a window are equal, the sum is that gain. */
#include "audio/limit.h"

#include "audio/lanes.h"

SMP_INLINE void put(const smp_io *io, const smp_limit *p, int64_t y, int32_t gain)
{
    const float factor = smp_limit_factor(p, gain), *from = (const float *)smp_row(&io->in, y);
    float *to = (float *)smp_row(&io->out, y);
    for (int c = 0; c < io->out.channels; c++)
        to[c] = smp_one_nan(from[c] * factor);
}

SMP_INLINE int32_t wish_at(const smp_limit *p, const smp_view *in, int64_t y)
{
    return y >= 0 && y < in->height ? smp_limit_wish(p, smp_limit_peak(p, in, y)) : 0;
}

SMP_CPU_KERNEL(limit_naive)
{
    const smp_limit *p = params;
    const int32_t *weights = io->table;
    const int64_t ahead = p->ahead, from = y0 - ahead - p->back, frames = y1 + ahead - from;
    int32_t *r = scratch, *h = r + frames;
    for (int64_t i = 0; i < frames; i++)
        r[i] = smp_limit_release(p, i ? r[i - 1] : 0, wish_at(p, &io->in, from + i));
    for (int64_t i = p->back; i + ahead < frames; i++) {
        h[i] = 0;
        for (int64_t k = 0; k <= p->window; k++)
            h[i] = r[i + k] < h[i] ? r[i + k] : h[i];
    }
    for (int64_t y = y0; y < y1; y++) {
        int64_t sum = 0;
        for (int64_t k = 0; k <= ahead; k++)
            sum += (int64_t)weights[k] * h[y - from - k];
        put(io, p, y, (int32_t)(sum >> 16));
    }
}

enum {
    CHUNK = SMP_LIMIT_CHUNK,
    PART = 512 /* frames */,
    SIDE = 32 /* sums side by side: as many as hide how long a fused operation takes */,
    VECTORS = SIDE / SMP_LANE_VECTOR
};

/* Computes the largest value between frames: most[i] of y + 5 + i, from the frames x[i] .. x[i + 11]. */
SMP_INLINE void between(double *restrict most, const double *restrict x, int n, const int phases)
{
    for (int i = 0; i < n; i++)
        most[i] = 0;
#pragma GCC unroll 4
    for (int m = 0; m < phases; m++)
        for (int i = 0; i < n; i++) {
            double s = 0;
#pragma GCC unroll 12
            for (int k = 0; k < SMP_PEAK_TAPS; k++)
                s += smp_peak_tap(smp_peak_phase(m, phases), k) * x[i + SMP_PEAK_TAPS - 1 - k];
            most[i] = smp_larger(most[i], s);
        }
}

/* e of frames y .. y+n-1, n at most PART. */
SMP_INLINE void some_wishes(int32_t *restrict to, const smp_limit *p, const smp_view *in, int64_t y, int n)
{
    double x[PART + SMP_PEAK_TAPS], sides[PART + 1], most[PART];
    for (int i = 0; i < n; i++)
        most[i] = 0;
    for (int c = p->key; c < in->channels; c++) {
        const int64_t first = y - SMP_LIMIT_BEHIND, step = in->stride / (int64_t)sizeof(float);
        const int count = n + SMP_PEAK_TAPS;
        if (first >= in->y0 && first + count <= in->y0 + in->rows) {
            const float *restrict from = (const float *)smp_row(in, first) + c;
            for (int i = 0; i < count; i++)
                x[i] = (double)from[i * step];
        } else {
            for (int i = 0; i < count; i++)
                x[i] = (double)smp_frame_at(in, first + i, c);
        }
        for (int i = 0; i < n; i++)
            most[i] = smp_larger(most[i], x[i + SMP_LIMIT_BEHIND]);
        if (!p->phases)
            continue;
        if (p->phases == SMP_PEAK_PHASES)
            between(sides, x, n + 1, SMP_PEAK_PHASES);
        else
            between(sides, x, n + 1, SMP_PEAK_PHASES / 2);
        for (int i = 0; i < n; i++)
            most[i] = smp_larger(smp_larger(most[i], sides[i]), sides[i + 1]);
    }
    for (int i = 0; i < n; i++)
        to[i] = smp_limit_wish(p, most[i]);
    for (int i = 0; i < n && y + i < 0; i++)
        to[i] = 0;
    for (int i = n - 1; i >= 0 && y + i >= in->height; i--)
        to[i] = 0;
}

SMP_INLINE void wishes(int32_t *to, const smp_limit *p, const smp_view *in, int64_t y, int64_t n)
{
    for (int64_t i = 0; i < n; i += PART)
        some_wishes(to + i, p, in, y + i, (int)(n - i < PART ? n - i : PART));
}

/* The least of each `length` values, in place; values + length - 1 more are there. */
SMP_INLINE void least_of(int32_t *v, int64_t count, int64_t length)
{
    int64_t have = 1, room = count + length - 1;
    for (; 2 * have <= length; have *= 2) {
        room -= have;
        for (int64_t i = 0; i < room; i++)
            v[i] = v[i + have] < v[i] ? v[i + have] : v[i];
    }
    for (int64_t i = 0, rest = length - have; i < count && rest; i++)
        v[i] = v[i + rest] < v[i] ? v[i + rest] : v[i];
}

/* Gains of SIDE frames; h: that of the first. Products are below 2^39, and doubles hold 2^53. */
SMP_INLINE void sums(int32_t *gains, const double *h, const double *weights, int ahead)
{
    smp_lanes sum[VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; v++)
        sum[v] = (smp_lanes){0};
    for (int k = 0; k <= ahead; k++)
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++) {
            smp_lanes some;
            __builtin_memcpy(&some, h - k + v * SMP_LANE_VECTOR, sizeof some);
            sum[v] = SMP_LANES_EXACT(some, (smp_lanes){0} + weights[k], sum[v]);
        }
    for (int i = 0; i < SIDE; i++)
        gains[i] = (int32_t)((int64_t)sum[i / SMP_LANE_VECTOR][i % SMP_LANE_VECTOR] >> 16);
}

/* SIDE frames that lie end to end; channels is a constant. */
SMP_INLINE void multiply(float *restrict to, const float *restrict from, const float *factors, const int channels)
{
    float own[SIDE * 2];
    for (int k = 0; k < SIDE; k++)
        for (int c = 0; c < channels; c++)
            own[k * channels + c] = factors[k];
    for (int i = 0; i < SIDE * channels; i++)
        to[i] = smp_one_nan(from[i] * own[i]);
}

SMP_INLINE void put_some(const smp_io *io, const smp_limit *p, int64_t y, const int32_t *gains, int n)
{
    const int channels = io->out.channels;
    const int64_t frame = channels * (int64_t)sizeof(float);
    float factors[SIDE];
    for (int k = 0; k < SIDE; k++)
        factors[k] = smp_limit_factor(p, gains[k]);
    if (n == SIDE && channels <= 2 && io->in.stride == frame && io->out.stride == frame) {
        if (channels == 1)
            multiply(smp_row(&io->out, y), smp_row(&io->in, y), factors, 1);
        else
            multiply(smp_row(&io->out, y), smp_row(&io->in, y), factors, 2);
        return;
    }
    for (int k = 0; k < n; k++) {
        const float *from = (const float *)smp_row(&io->in, y + k);
        float *to = (float *)smp_row(&io->out, y + k);
        for (int c = 0; c < channels; c++)
            to[c] = smp_one_nan(from[c] * factors[k]);
    }
}

SMP_CPU_KERNEL(limit_tiled)
{
    const smp_limit *p = params;
    const int ahead = p->ahead;
    double *weights = scratch, *h = weights + ahead + 1; /* h[ahead]: the first frame's */
    int32_t *r = (int32_t *)(void *)(h + ahead + CHUNK + SIDE), *least = r + 2 * ahead + CHUNK, before = 0;
    for (int k = 0; k <= ahead; k++)
        weights[k] = ((const int32_t *)io->table)[k];
    for (int64_t y = y0 - ahead - p->back < 0 ? 0 : y0 - ahead - p->back; y < y0 - ahead; y += CHUNK) {
        const int64_t n = y0 - ahead - y < CHUNK ? y0 - ahead - y : CHUNK;
        wishes(r, p, &io->in, y, n);
        for (int64_t i = 0; i < n; i++)
            before = smp_limit_release(p, before, r[i]);
    }
    int64_t have = 0; /* frames of r, from y - ahead on */
    for (int64_t y = y0; y < y1; y += CHUNK) {
        const int64_t n = y1 - y < CHUNK ? y1 - y : CHUNK, all = n + 2 * ahead;
        wishes(r + have, p, &io->in, y - ahead + have, all - have);
        for (int64_t i = have; i < all; i++)
            r[i] = before = smp_limit_release(p, before, r[i]);
        __builtin_memcpy(least, r, (size_t)all * sizeof *r);
        least_of(least, n + ahead, p->window + 1);
        int64_t seen = 0, other = 0; /* frames of h looked at; the last that differs from the one before */
        for (int64_t i = 0; i < n + ahead; i++)
            h[i] = (double)least[i];
        for (int64_t i = n + ahead; i < n + ahead + SIDE; i++)
            h[i] = 0;
        for (int64_t i = 0; i < n; i += SIDE) {
            int32_t gains[SIDE];
            for (int64_t k = seen + 1; k < ahead + i + SIDE && k < n + ahead; k++)
                other = least[k] != least[k - 1] ? k : other;
            seen = ahead + i + SIDE < n + ahead ? ahead + i + SIDE - 1 : n + ahead - 1;
            if (other <= i) /* all that the sums reach is the same, and weights add up to 1 */
                for (int k = 0; k < SIDE; k++)
                    gains[k] = least[i];
            else
                sums(gains, h + ahead + i, weights, ahead);
            put_some(io, p, y + i, gains, (int)(n - i < SIDE ? n - i : SIDE));
        }
        have = 2 * ahead;
        for (int64_t i = 0; i < have; i++)
            r[i] = r[n + i];
    }
}
