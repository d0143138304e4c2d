/* resample on the CPU.
 *   naive  tap after tap for every frame: the definition.
 *   tiled  the results of one phase lie L frames apart and read frames M apart. Split into M planes, these are
 *          neighbours, so that vectors hold results of one phase, and all share a weight; three phases
 *          share the frames. Ratios of large numbers have too few results a phase: eight frames side by side. */
#include "audio/resample.h"
#include "audio/vectors.h"

SMP_CPU_KERNEL(resample_naive)
{
    const smp_resample *p = params;
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < io->in.channels; c++) {
            const smp_resample_place at = smp_resample_at(p, y);
            const float *w = (const float *)io->table + (int64_t)at.phase * 2 * p->half;
            float s = 0.f;
            for (int k = 0; k < 2 * p->half; k++)
                s = fmaf(w[k], smp_frame_at(&io->in, at.first + k, c), s);
            ((float *)smp_row(&io->out, y))[c] = smp_one_nan(s);
        }
}

/* Results are made in groups of GROUP vectors; a vector of frames serves PHASES phases, so that fused operations, and
 * not loads, are the limit. BLOCK frames of all planes stay in the first cache while every phase reads them. COLUMNS
 * planes are filled with as many frames each, a cache line, so that few streams of frames are read at a time; what is
 * read AHEAD steps later is asked for. */
enum { GROUP = 4, PHASES = 3, RESULTS = GROUP * LANES, BLOCK = 128, COLUMNS = 16, LINE = 16 /* floats */, AHEAD = 3 };

/* Work on one channel. */
typedef struct job {
    const smp_io *io;
    const smp_resample *p;
    smp_resample_split of;
    float *planes;
    int channel;
} job;

SMP_INLINE int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

SMP_INLINE int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Splits the frames from `first` on, as many as `turns` results of every phase read. Frames that are not there are
 * silence, or of no use. */
SMP_INLINE void split(const job *j, int64_t first, int64_t turns)
{
    const int64_t plane = j->of.plane, m = j->of.m, frames = (turns - 1) * m + smp_resample_span(j->p, j->of.l);
    const smp_view *in = &j->io->in;
    const int64_t begin = in->y0 - first, end = begin + in->rows, step = in->stride / (int64_t)sizeof(float);
    const float *restrict from = (const float *)in->data + j->channel - begin * step;
    for (int64_t q = 0; q * m < frames; q += COLUMNS)
        for (int64_t r = 0; r < m; r += COLUMNS) {
            const int64_t some = sooner(m - r, COLUMNS);
            float *restrict to = j->planes + r * plane + q;
            for (int64_t u = q * m + r, stop = sooner(u + COLUMNS * m, frames); u < stop; u += m, to++) {
                const int64_t count = sooner(frames - u, some);
                if (u >= begin && u + count <= end) {
                    const float *frame = from + u * step, *last = frame + count * step;
                    float *restrict one = to;
                    for (int64_t k = 0; k < count * step; k += LINE)
                        __builtin_prefetch(frame + AHEAD * COLUMNS * step + k);
#pragma GCC unroll 4
                    for (; frame != last; frame += step, one += plane)
                        *one = *frame;
                } else
                    for (int64_t k = 0; k < count; k++)
                        to[k * plane] = u + k >= begin && u + k < end ? from[(u + k) * step] : 0.f;
            }
        }
}

SMP_INLINE const float *frame_of(const job *j, const float *planes, int64_t u)
{
    return planes + u % j->of.m * j->of.plane + u / j->of.m;
}

/* Adds to RESULTS sums of PHASES phases each what `count` frames from u on make of them; w[n]: the first one's weight.
 */
SMP_INLINE void add_phases(float (*sums)[RESULTS], const job *j, const float *planes, const float *const *w, int64_t u,
                           int64_t count)
{
    const int64_t plane = j->of.plane, m = j->of.m;
    const float *x = frame_of(j, planes, u), *const w0 = w[0], *const w1 = w[1], *const w2 = w[2];
    int64_t r = u % m;
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
        if (++r == m) {
            r = 0;
            x += 1 - m * plane;
        }
    }
#pragma GCC unroll 16
    for (int v = 0; v < PHASES * GROUP; v++)
        VEC_STORE(sums[v / GROUP] + v % GROUP * LANES, sum[v / GROUP][v % GROUP]);
}

/* The same of one phase, frames u .. end-1. */
SMP_INLINE void add_phase(float *sums, const job *j, const float *planes, const float *w, int64_t u, int64_t end)
{
    vec sum[GROUP];
#pragma GCC unroll 16
    for (int v = 0; v < GROUP; v++)
        sum[v] = VEC_LOAD(sums + v * LANES);
    for (; u < end; u++) {
        const float *x = frame_of(j, planes, u);
        const vec tap = VEC_ALL(*w++);
#pragma GCC unroll 16
        for (int v = 0; v < GROUP; v++)
            sum[v] = VEC_FMA(tap, VEC_LOAD(x + v * LANES), sum[v]);
    }
#pragma GCC unroll 16
    for (int v = 0; v < GROUP; v++)
        VEC_STORE(sums + v * LANES, sum[v]);
}

typedef struct place {
    const float *weights;
    int64_t from; /* the planes' frame that the first of them is for */
} place;

/* Adds what frames u .. end-1 make of PHASES phases: those that all read serve them together. */
SMP_INLINE void add_some(float (*sums)[RESULTS], const job *j, const float *planes, const place *at, int64_t u,
                         int64_t end)
{
    const int64_t taps = 2 * (int64_t)j->p->half;
    int64_t begin = later(u, at[PHASES - 1].from), stop = sooner(end, at[0].from + taps);
    if (begin >= stop) /* none that all read */
        begin = stop = end;
    for (int n = 0; n < PHASES; n++) {
        const int64_t own = later(u, at[n].from), last = sooner(begin, at[n].from + taps);
        if (own < last)
            add_phase(sums[n], j, planes, at[n].weights + (own - at[n].from), own, last);
    }
    if (begin == stop)
        return;
    const float *w[PHASES];
    for (int n = 0; n < PHASES; n++)
        w[n] = at[n].weights + (begin - at[n].from);
    add_phases(sums, j, planes, w, begin, stop - begin);
    for (int n = 0; n < PHASES; n++) {
        const int64_t last = sooner(end, at[n].from + taps);
        if (stop < last)
            add_phase(sums[n], j, planes, w[n] + (stop - begin), stop, last);
    }
}

/* The places of `count` phases, the first of frame y. Those behind the last of `phases` are as the last, and unused. */
SMP_INLINE void find_places(const job *j, place *at, int64_t y, int64_t phases, int64_t count)
{
    const int64_t first = smp_resample_at(j->p, y).first;
    for (int64_t n = 0; n < count; n++) {
        const smp_resample_place one = smp_resample_at(j->p, y + sooner(n, phases - 1));
        at[n].weights = (const float *)j->io->table + one.phase * 2 * (int64_t)j->p->half;
        at[n].from = one.first - first;
    }
}

/* RESULTS results of each phase, block of frames after block; each sum's order stays. */
SMP_INLINE void all_phases(float (*sums)[RESULTS], const job *j, const float *planes, const place *at, int64_t count)
{
    const int64_t taps = 2 * (int64_t)j->p->half, end = at[count - 1].from + taps;
    int64_t ended = 0; /* phases */
    memset(sums, 0, sizeof *sums * (size_t)count);
    for (int64_t u = 0; u < end; u += BLOCK) {
        while (at[ended + PHASES - 1].from + taps <= u)
            ended += PHASES;
        for (int64_t n = ended; n < count && at[n].from < u + BLOCK; n += PHASES)
            add_some(sums + n, j, planes, at + n, u, u + BLOCK);
    }
}

/* Frames y .. y1-1 of a channel, at most TURNS of each phase. */
SMP_INLINE void turns_of(const smp_io *io, const smp_resample *p, void *scratch, int64_t y, int64_t y1, int channel)
{
    job j = {.io = io, .p = p, .of = smp_resample_split_of(p), .channel = channel};
    const int64_t l = j.of.l, turns = (y1 - y + l - 1) / l, phases = sooner(y1 - y, l),
                  count = (phases + PHASES - 1) / PHASES * PHASES, step = io->out.stride / (int64_t)sizeof(float);
    j.planes = (float *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63); /* vectors cross no cache line */
    float(*sums)[RESULTS] = (float(*)[RESULTS])(j.planes + j.of.m * j.of.plane);
    place *at = (place *)(void *)(sums + count);
    find_places(&j, at, y, phases, count);
    split(&j, smp_resample_at(p, y).first, turns);
    for (int64_t t = 0; t < turns; t += RESULTS) {
        all_phases(sums, &j, j.planes + t, at, count);
        for (int64_t k = 0, row = y + t * l; k < RESULTS && row < y1; k++, row += l) {
            const int64_t some = sooner(y1 - row, phases);
            float *to = (float *)smp_row(&io->out, row) + channel;
            for (int64_t n = 0; n < some; n++)
                to[n * step] = smp_one_nan(sums[n][k]);
        }
    }
}

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
            s[n] = fmaf(w[n][k], smp_frame_at(&io->in, first[n] + k, channel), s[n]);
    for (int n = 0; n < count; n++)
        ((float *)smp_row(&io->out, y + n))[channel] = smp_one_nan(s[n]);
}

SMP_CPU_KERNEL(resample_tiled)
{
    const smp_resample *p = params;
    const int planes = smp_resample_in_planes(p);
    const int64_t step = planes ? SMP_RESAMPLE_TURNS * smp_resample_split_of(p).l : SIDE;
    for (int64_t y = y0; y < y1; y += step)
        for (int c = 0; c < io->in.channels; c++) {
            const int64_t end = y + step < y1 ? y + step : y1;
            if (planes)
                turns_of(io, p, scratch, y, end, c);
            else
                side_by_side(io, p, y, (int)(end - y), c);
        }
}
