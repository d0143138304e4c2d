/* resample on the CPU.
 *   naive  tap after tap for every frame: the definition.
 *   tiled  the results of one phase lie L frames apart and read frames M apart. Split into M planes, these are
 *          neighbours, so that vectors hold results of one phase, and all share a weight; three phases share the
 * frames. Ratios of large numbers have too few results a phase: eight frames side by side. */
#include "audio/resample.h"
#include "audio/vectors.h"

SMP_INLINE float tap_at(const smp_view *in, int64_t y, int channel)
{
    return y >= 0 && y < in->height ? ((const float *)smp_row(in, y))[channel] : 0.f;
}

SMP_CPU_KERNEL(resample_naive)
{
    (void)scratch;
    const smp_resample *p = params;
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < io->in.channels; c++) {
            const smp_resample_place at = smp_resample_at(p, y);
            const float *w = (const float *)io->table + (int64_t)at.phase * 2 * p->half;
            float s = 0.f;
            for (int k = 0; k < 2 * p->half; k++)
                s = fmaf(w[k], tap_at(&io->in, at.first + k, c), s);
            ((float *)smp_row(&io->out, y))[c] = smp_one_nan(s);
        }
}

/* ---------------------------------------------------------------------------------------------- planes */

/* Splits the frames of a channel from `first` on, as many as `turns` results of every phase read. Frames that are not
 * there are silence, or of no use. */
SMP_INLINE void split(float *restrict planes, const smp_io *io, const smp_resample *p, int64_t first, int64_t turns,
                      int channel)
{
    const int64_t plane = smp_resample_plane(p), frames = (turns - 1) * p->m + smp_resample_span(p, p->l);
    const smp_view *in = &io->in;
    const int64_t begin = in->y0 - first, end = begin + in->rows, step = in->stride / (int64_t)sizeof(float);
    const float *restrict from = (const float *)in->data + channel - begin * step;
    for (int64_t u = 0, q = 0; u < frames; q++) {
        const int64_t stop = u + p->m < frames ? u + p->m : frames;
        float *restrict to = planes + q;
        if (u >= begin && stop <= end)
            for (; u < stop; u++, to += plane)
                *to = from[u * step];
        else
            for (; u < stop; u++, to += plane)
                *to = u >= begin && u < end ? from[u * step] : 0.f;
    }
}

/* Results are made in groups of GROUP vectors; a vector of frames serves PHASES phases, so that fused operations, and
 * not loads, are the limit. */
enum { GROUP = 4, PHASES = 3, RESULTS = GROUP * LANES };

SMP_INLINE const float *frame_of(const float *planes, const smp_resample *p, int64_t u)
{
    return planes + u % p->m * smp_resample_plane(p) + u / p->m;
}

/* Adds to RESULTS sums of PHASES phases each what `count` frames from u on make of them; w[n]: the first one's weight.
 */
SMP_INLINE void add_phases(float (*sums)[RESULTS], const float *planes, const smp_resample *p, const float *const *w,
                           int64_t u, int64_t count)
{
    const int64_t plane = smp_resample_plane(p);
    const float *x = frame_of(planes, p, u), *const w0 = w[0], *const w1 = w[1], *const w2 = w[2];
    int r = (int)(u % p->m);
    vec sum[PHASES][GROUP];
#pragma GCC unroll 16
    for (int v = 0; v < PHASES * GROUP; v++)
        sum[v / GROUP][v % GROUP] = VEC_LOAD(sums[v / GROUP] + v % GROUP * LANES);
    for (int64_t k = 0; k < count; k++) {
        const vec tap0 = VEC_ALL(w0[k]), tap1 = VEC_ALL(w1[k]), tap2 = VEC_ALL(w2[k]);
#pragma GCC unroll 16
        for (int v = 0; v < GROUP; v++) {
            const vec frames = VEC_LOAD(x + v * LANES);
            sum[0][v] = VEC_FMA(tap0, frames, sum[0][v]);
            sum[1][v] = VEC_FMA(tap1, frames, sum[1][v]);
            sum[2][v] = VEC_FMA(tap2, frames, sum[2][v]);
        }
        x += plane;
        if (++r == p->m) {
            r = 0;
            x += 1 - p->m * plane;
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < PHASES * GROUP; v++)
        VEC_STORE(sums[v / GROUP] + v % GROUP * LANES, sum[v / GROUP][v % GROUP]);
}

/* The same of one phase. */
SMP_INLINE void add_phase(float *sums, const float *planes, const smp_resample *p, const float *w, int64_t u,
                          int64_t count)
{
    const int64_t plane = smp_resample_plane(p);
    const float *x = frame_of(planes, p, u);
    int r = (int)(u % p->m);
    vec sum[GROUP];
#pragma GCC unroll 16
    for (int v = 0; v < GROUP; v++)
        sum[v] = VEC_LOAD(sums + v * LANES);
    for (int64_t k = 0; k < count; k++) {
        const vec tap = VEC_ALL(w[k]);
#pragma GCC unroll 16
        for (int v = 0; v < GROUP; v++)
            sum[v] = VEC_FMA(tap, VEC_LOAD(x + v * LANES), sum[v]);
        x += plane;
        if (++r == p->m) {
            r = 0;
            x += 1 - p->m * plane;
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < GROUP; v++)
        VEC_STORE(sums + v * LANES, sum[v]);
}

/* RESULTS results of the phases of frames j .. j+count-1, whose first one reads the planes' frame `skip`. Frames that
 * all of PHASES phases read serve them together; each sum's order stays. */
SMP_INLINE void some_phases(float (*sums)[RESULTS], const smp_io *io, const float *planes, const smp_resample *p,
                            int64_t first, int64_t j, int count)
{
    const int64_t taps = 2 * (int64_t)p->half;
    const float *w[PHASES] = {0};
    int64_t from[PHASES] = {0};
    for (int n = 0; n < count; n++) {
        const smp_resample_place at = smp_resample_at(p, j + n);
        w[n] = (const float *)io->table + at.phase * taps;
        from[n] = at.first - first;
    }
    memset(sums, 0, sizeof *sums * (size_t)count);
    const int64_t begin = from[count - 1], end = from[0] + taps; /* of the frames that all read */
    if (count < PHASES || begin >= end) {
        for (int n = 0; n < count; n++)
            add_phase(sums[n], planes, p, w[n], from[n], taps);
        return;
    }
    for (int n = 0; n < PHASES; n++) {
        add_phase(sums[n], planes, p, w[n], from[n], begin - from[n]);
        w[n] += begin - from[n];
    }
    add_phases(sums, planes, p, w, begin, end - begin);
    for (int n = 0; n < PHASES; n++)
        add_phase(sums[n], planes, p, w[n] + (end - begin), end, from[n] + taps - end);
}

/* Frames y .. y1-1 of a channel, at most TURNS of each phase. */
SMP_INLINE void turns_of(const smp_io *io, const smp_resample *p, float *planes, int64_t y, int64_t y1, int channel)
{
    const int64_t first = smp_resample_at(p, y).first, turns = (y1 - y + p->l - 1) / p->l,
                  step = io->out.stride / (int64_t)sizeof(float), last = y1 < y + p->l ? y1 : y + p->l;
    float sums[PHASES][RESULTS];
    split(planes, io, p, first, turns, channel);
    for (int64_t j = y; j < last; j += PHASES) {
        const int count = (int)(last - j < PHASES ? last - j : PHASES);
        for (int64_t at = 0; at < turns; at += RESULTS) {
            some_phases(sums, io, planes + at, p, first, j, count);
            for (int n = 0; n < count; n++) {
                int64_t row = j + n + at * p->l;
                float *to = (float *)smp_row(&io->out, row) + channel;
                for (int k = 0; k < RESULTS && row < y1; k++, row += p->l, to += p->l * step)
                    *to = smp_one_nan(sums[n][k]);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------- large ratios */

enum { SIDE = 8 /* frames whose sums do not wait for each other */ };

SMP_INLINE void side_by_side(const smp_io *io, const smp_resample *p, int64_t y, int count, int channel)
{
    float s[SIDE] = {0};
    const float *w[SIDE];
    int64_t first[SIDE];
    for (int n = 0; n < SIDE; n++) {
        const smp_resample_place at = smp_resample_at(p, n < count ? y + n : y);
        w[n] = (const float *)io->table + (int64_t)at.phase * 2 * p->half;
        first[n] = at.first;
    }
    for (int k = 0; k < 2 * p->half; k++)
        for (int n = 0; n < SIDE; n++)
            s[n] = fmaf(w[n][k], tap_at(&io->in, first[n] + k, channel), s[n]);
    for (int n = 0; n < count; n++)
        ((float *)smp_row(&io->out, y + n))[channel] = smp_one_nan(s[n]);
}

SMP_CPU_KERNEL(resample_tiled)
{
    const smp_resample *p = params;
    const int planes = smp_resample_in_planes(p);
    const int64_t step = planes ? (int64_t)SMP_RESAMPLE_TURNS * p->l : SIDE;
    for (int64_t y = y0; y < y1; y += step)
        for (int c = 0; c < io->in.channels; c++) {
            const int64_t end = y + step < y1 ? y + step : y1;
            if (planes)
                turns_of(io, p, scratch, y, end, c);
            else
                side_by_side(io, p, y, (int)(end - y), c);
        }
}
