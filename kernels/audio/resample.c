/* resample on the CPU.
 *   naive  tap after tap for every frame: the definition.
 *   tiled  the results of one phase lie L frames apart and read frames M apart. Split into M planes, these are
 *          neighbours, so that vectors hold results of one phase, and all share a weight. Loads are the limit, nine for
 *          eight fused operations. Ratios of large numbers have too few results a phase: eight frames side by side. */
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

/* LANES * VECTORS results of a phase, whose first tap reads frame `from` of the planes. VECTORS is a constant. */
SMP_INLINE void one_phase(float *to, const float *planes, const smp_resample *p, const float *w, int64_t from,
                          const int VECTORS)
{
    const int64_t plane = smp_resample_plane(p);
    vec sum[SMP_RESAMPLE_TURNS / LANES];
    int r = (int)(from % p->m);
    const float *x = planes + r * plane + from / p->m;
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++)
        sum[v] = VEC_ALL(0.f);
    for (int k = 0; k < 2 * p->half; k++) {
        const vec tap = VEC_ALL(w[k]);
#pragma GCC unroll 16
        for (int v = 0; v < VECTORS; v++)
            sum[v] = VEC_FMA(tap, VEC_LOAD(x + v * LANES), sum[v]);
        x += plane;
        if (++r == p->m) {
            r = 0;
            x += 1 - p->m * plane;
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++)
        VEC_STORE(to + v * LANES, sum[v]);
}

/* Frames y .. y1-1 of a channel, at most TURNS of each phase. */
SMP_INLINE void turns_of(const smp_io *io, const smp_resample *p, float *planes, int64_t y, int64_t y1, int channel)
{
    enum { ALL = SMP_RESAMPLE_TURNS / LANES };
    const int64_t first = smp_resample_at(p, y).first, turns = (y1 - y + p->l - 1) / p->l,
                  step = io->out.stride / (int64_t)sizeof(float);
    float results[SMP_RESAMPLE_TURNS];
    split(planes, io, p, first, turns, channel);
    for (int64_t j = y; j < y1 && j < y + p->l; j++) {
        const smp_resample_place at = smp_resample_at(p, j);
        const float *w = (const float *)io->table + (int64_t)at.phase * 2 * p->half;
        if (turns > SMP_RESAMPLE_TURNS / 2)
            one_phase(results, planes, p, w, at.first - first, ALL);
        else if (turns > SMP_RESAMPLE_TURNS / 4)
            one_phase(results, planes, p, w, at.first - first, ALL / 2);
        else
            one_phase(results, planes, p, w, at.first - first, ALL / 4);
        float *to = (float *)smp_row(&io->out, j) + channel;
        for (int64_t k = 0, row = j; row < y1; k++, row += p->l, to += p->l * step)
            *to = smp_one_nan(results[k]);
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
