/* Grains that are joined where they fit: see stretching.h. */
#include "stages/shared/sound/stretching.h"

#include <math.h>

#include "audio/trace.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/sound/filtering.h"

/* Times in seconds. */
static const double grain = 0.04, fade = 0.02, trace_rate = 8000;

/* The parameters in terms of grains: speed as there, and by how many frames one moves in its own sound for each of the
 * output. */
typedef struct pace {
    double speed, rate, search;
} pace;

static pace pace_of(const void *params)
{
    const smp_stretch *p = params;
    return (pace){p->speed > 0 ? p->speed : 1, exp2(p->semitones / 12), p->search};
}

/* What speed and rate come to for a sound. Frames are of the input, but for hop and overlap. */
typedef struct layout {
    int64_t hop, overlap, range, count, height;
    int64_t num, den; /* the speed */
    int64_t step;     /* the rate, times 2^32 */
    int32_t every;
} layout;

static layout layout_of(const pace *ask, const smp_shape *in)
{
    enum { PARTS = 1 << 24 };
    const double every = floor(in->rate / trace_rate), length = grain / fmax(1, ask->speed / ask->rate);
    layout l = {.hop = smp_max_i64(8, (int64_t)floor(length * in->rate + 0.5)),
                .overlap = smp_max_i64(8, (int64_t)floor(fmin(fade, length) * in->rate + 0.5)),
                .range = (int64_t)floor(ask->search * in->rate + 0.5),
                .den = ask->speed == 1 ? 1 : PARTS,
                .step = (int64_t)floor(ask->rate * 0x1p32 + 0.5),
                .every = (int32_t)fmin(SMP_TRACE_EVERY, fmax(1, every))};
    l.num = ask->speed == 1 ? 1 : (int64_t)floor(ask->speed * PARTS + 0.5);
    l.height = smp_max_i64(1, in->height / l.num * l.den + (in->height % l.num * l.den + l.num / 2) / l.num);
    l.count = (l.height + l.hop - 1) / l.hop;
    return l;
}

/* Where grain k is due. */
static int64_t due(const layout *l, int64_t k)
{
    const int64_t at = k * l->hop;
    return at / l->den * l->num + at % l->den * l->num / l->den;
}

/* ---------------------------------------------------------------------------------------------- the search */

typedef struct trace {
    const int16_t *numbers;
    int64_t count;
} trace;

static int64_t number(const trace *t, int64_t i)
{
    return i >= 0 && i < t->count ? t->numbers[i] : 0;
}

/* Sums over `count` products of the numbers from a on and from b on. */
static int64_t product(const trace *t, int64_t a, int64_t b, int64_t count)
{
    int64_t sum = 0;
    if (a >= 0 && b >= 0 && a + count <= t->count && b + count <= t->count)
        for (int64_t i = 0; i < count; i++)
            sum += t->numbers[a + i] * t->numbers[b + i];
    else
        for (int64_t i = 0; i < count; i++)
            sum += number(t, a + i) * number(t, b + i);
    return sum;
}

/* How alike what begins at `first` and each number after it is to what begins at a, but for a's own energy. */
static void compare(const trace *t, int64_t a, int64_t first, int64_t places, int64_t count, double *like)
{
    int64_t energy = product(t, first, first, count);
    for (int64_t i = 0; i < places; i++) {
        const int64_t gone = number(t, first + i), come = number(t, first + i + count);
        like[i] = energy ? (double)product(t, a, first + i, count) / sqrt((double)energy) : 0;
        energy += come * come - gone * gone;
    }
}

/* By how much of a number the top of the parabola through three values is off the middle one. */
static double top_of(double before, double at, double after)
{
    const double bend = before - 2 * at + after, top = bend < 0 ? (before - after) / (2 * bend) : 0;
    return top > -0.5 && top < 0.5 ? top : 0;
}

enum { FRAME = 1 << 16 }; /* places are in 2^-16 frames; those before the sound are negative, and not shifted left */

/* Where the grain begins that goes on from `from`, and is due at `wanted`; all in 2^-16 frames. */
static int64_t place(const trace *t, const layout *l, int64_t from, int64_t wanted)
{
    enum { SIDE = 400 /* numbers */ };
    const int64_t every = (int64_t)l->every << 16, near = (from + every / 2) / every, rest = from - near * every;
    const int64_t count = smp_max_i64(8, (l->overlap * (l->step >> 16) >> 16) / l->every);
    const int64_t middle = (wanted - rest) / every, side = smp_min_i64(l->range / l->every, SIDE),
                  first = middle - side;
    double like[2 * SIDE + 3];
    compare(t, near, first - 1, 2 * side + 3, count, like);
    int64_t best = near >= first && near <= middle + side ? near : middle;
    for (int64_t b = first; b <= middle + side; b++)
        best = like[b - first + 1] > like[best - first + 1] ? b : best;
    if (best == near)
        return from;
    const double *at = &like[best - first + 1], off = top_of(at[-1], at[0], at[1]);
    return best * every + rest + (int64_t)floor(off * (double)every + 0.5);
}

static smp_code finish(const void *params, const smp_shape *in, const void *result, smp_node_plan *,
                       smp_measurements *measurements, smp_error *err)
{
    const pace ask = pace_of(params);
    const layout l = layout_of(&ask, in);
    const trace t = {result, (in->height + l.every - 1) / l.every};
    int64_t *at = smp_alloc_array((size_t)l.count, sizeof *at);
    SMP_NEED(at, "the grains of a sound", (uint64_t)l.count * sizeof *at, err);
    for (int64_t k = 1; k < l.count; k++) {
        const int64_t found = place(&t, &l, at[k - 1] + (l.hop * l.step >> 16), due(&l, k) * FRAME);
        at[k] = ask.rate == 1 ? ((found + FRAME / 2) >> 16) * FRAME : found;
    }
    measurements->found = at;
    measurements->found_size = (size_t)l.count * sizeof *at;
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- the plan */

/* Taps of a low-pass at two fifths of the trace's rate under Hann's window, in 2^-15. */
static void plan_trace(const layout *l, const smp_shape *in, smp_node_plan *work)
{
    static const double pi = 3.14159265358979323846, cutoff = 0.4;
    smp_trace *k = SMP_PLAN_KERNEL(work, smp_trace);
    *k = (smp_trace){.every = l->every, .reach = l->every == 1 ? 0 : 2 * l->every};
    double taps[SMP_TRACE_TAPS], sum = 0;
    for (int i = 0; i <= 2 * k->reach; i++) {
        const double x = 2 * pi * cutoff * (i - k->reach) / l->every;
        taps[i] = (x == 0 ? 1 : sin(x) / x) * (0.5 + 0.5 * cos(pi * (i - k->reach) / (k->reach + 1.)));
        sum += taps[i];
    }
    for (int i = 0; i <= 2 * k->reach; i++)
        k->taps[i] = (int16_t)floor(taps[i] / sum * 32767 + 0.5);
    work->access = SMP_ADJUST;
    work->prepass.wanted = true;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)((in->height + l->every - 1) / l->every) * sizeof(int16_t);
    work->rows.up = work->rows.down = k->reach;
    work->ops = 4;
}

/* Weights of every phase, and those of the first once more, a frame on: a sinc under Kaiser's window. */
static void fill_weights(double rate, int half, float *to)
{
    static const double pi = 3.14159265358979323846, band = 0.92, beta = 8;
    const double cutoff = band / fmax(1, rate);
    double one[2 * SMP_GRAINS_HALF];
    for (int phase = 0; phase <= SMP_GRAINS_PHASES; phase++, to += 2 * half) {
        double sum = 0;
        for (int i = 0; i < 2 * half; i++) {
            const double t = i - half + 1 - (double)phase / SMP_GRAINS_PHASES, x = pi * cutoff * t, part = t / half;
            one[i] = (x == 0 ? 1 : sin(x) / x) * smp_bessel0(beta * sqrt(fmax(0, 1 - part * part)));
            sum += one[i];
        }
        for (int i = 0; i < 2 * half; i++)
            to[i] = (float)(one[i] / sum);
    }
}

/* Where grains begin, if that was found, and the weights. */
static smp_code fill_table(double rate, int half, smp_node_plan *work, smp_error *err)
{
    const size_t places = work->prepass.found ? work->prepass.found_size : 0;
    work->table.size = places + (half ? (SMP_GRAINS_PHASES + 1) * 2 * (size_t)half * sizeof(float) : 0);
    unsigned char *table = work->table.size ? smp_alloc(work->table.size) : NULL;
    work->table.data = table;
    if (work->table.size && !table)
        return smp_fail_memory(err, "the grains of a sound", work->table.size);
    if (places)
        memcpy(table, work->prepass.found, places);
    if (half)
        fill_weights(rate, half, (float *)(void *)(table + places));
    return SMP_OK;
}

static bool prepass(const void *params)
{
    const pace ask = pace_of(params);
    return ask.search > 0 && (ask.speed != 1 || ask.rate != 1);
}

smp_code smp_stretch_plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work,
                          smp_error *err)
{
    const pace ask = pace_of(params);
    const layout l = layout_of(&ask, in);
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    work->effect.none = ask.speed == 1 && ask.rate == 1;
    work->values.clips = true;
    if (work->effect.none)
        return SMP_OK;
    if (ask.search > 0 && !work->prepass.found) {
        plan_trace(&l, in, work);
        return SMP_OK;
    }
    const int half = ask.rate == 1 ? 0 : 4 * (int)ceil(4 * fmax(1, ask.rate));
    const double drift = fabs(ask.speed - ask.rate) * (double)(l.hop + l.overlap);
    *SMP_PLAN_KERNEL(work, smp_grains) = (smp_grains){.step = l.step,
                                                      .count = ask.search > 0 ? l.count : 0,
                                                      .num = l.num,
                                                      .den = l.den,
                                                      .hop = (int32_t)l.hop,
                                                      .overlap = (int32_t)l.overlap,
                                                      .half = half,
                                                      .rise = (float)(1. / (double)l.overlap)};
    work->out.height = l.height;
    work->rows.num = l.num;
    work->rows.den = l.den;
    work->rows.up = work->rows.down = l.range + (int64_t)ceil(drift + ask.speed) + 2 * (int64_t)l.every + half + 2;
    work->ops = 4 + 4. * half;
    return fill_table(ask.rate, half, work, err);
}

static void trace_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_grid_line(io->out.rows / ((const smp_trace *)kernel)->every + 1, SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

static const smp_variant trace_variants[] = {
    {SMP_RUNG("naive", "tap after tap", SMP_LAUNCH(trace_naive, .geometry = trace_geometry))},
    {SMP_RUNG("tiled", "CPU: frames as whole numbers once, products in vectors (GPU: as naive)",
              SMP_LAUNCH_AS(trace_tiled, .cuda = "trace_naive", .geometry = trace_geometry))},
    {0},
};

const smp_reduction_ops smp_stretch_reduction = {.prepass = prepass, .finish = finish, .reducers = trace_variants};

const smp_variant smp_stretch_variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(grains_naive))},
    {SMP_RUNG("tiled", "CPU: grains are copied, and joined in vectors (GPU: as naive)",
              SMP_LAUNCH_AS(grains_tiled, .cuda = "grains_naive"))},
    {0},
};
