/* resample: another sample rate. */
#include <math.h>

#include "audio/resample.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/sound/filtering.h"

typedef struct params { /* begins as smp_rate_params */
    double rate, bandwidth, attenuation, speed;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(rate, HZ, 1, 1e7, "auto",
                    "frames a second of the result; auto: as the sound's, where a speed is given",
                    SMP_P_MAIN | SMP_P_AUTO | SMP_P_RATE),
    SMP_PARAM_FLOAT(speed, NONE, 0.05, 20, "1",
                    "how many times as fast the result plays, higher as a tape would: 1.5, 0.5", 0),
    SMP_PARAM_FLOAT(bandwidth, FRACTION, 0.5, 0.99, "91.3%",
                    "share of the lower rate's band that is kept flat; more takes longer filters", 0),
    SMP_PARAM_FLOAT(attenuation, DB, 40, 160, "100dB", "of what lies above the lower rate's band", 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (isnan(p->rate) && p->speed == 1)
        return smp_fail(err, SMP_E_PIPE, "neither a rate nor a speed is given"),
               smp_hint(err, "write `resample 48kHz`, or `resample speed=1.5`");
    if (isnan(p->rate) || p->rate == floor(p->rate))
        return SMP_OK;
    return smp_fail(err, SMP_E_PIPE, "the rate is %.10g Hz: it must be a whole number", p->rate);
}

static int64_t divisor(int64_t a, int64_t b)
{
    for (int64_t rest; b; a = b, b = rest)
        rest = a % b;
    return a;
}

/* A windowed sinc. t: input frames from its middle. */
typedef struct sinc {
    double cutoff /* a fraction of the input's rate */, beta, scale /* 1 / I0(beta) */;
    int half;
} sinc;

static double sinc_at(const sinc *s, double t)
{
    const double pi = 3.14159265358979323846, part = t / s->half, x = pi * 2 * s->cutoff * t;
    if (fabs(t) > s->half)
        return 0;
    const double inside = 1 - part * part;
    return 2 * s->cutoff * (x == 0 ? 1 : sin(x) / x) * smp_bessel0(s->beta * sqrt(inside > 0 ? inside : 0)) * s->scale;
}

/* Oppenheim and Schafer, "Discrete-Time Signal Processing", 7.3: Kaiser's formulas. */
static sinc design(const params *p, double from, double to)
{
    const double pi = 3.14159265358979323846, low = fmin(from, to), width = (1 - p->bandwidth) * low / 2,
                 a = p->attenuation;
    sinc s = {.cutoff = (low - width) / 2 / from,
              .beta = a > 50 ? 0.1102 * (a - 8.7) : 0.5842 * pow(a - 21, 0.4) + 0.07886 * (a - 21),
              .half = (int)ceil((a - 7.95) / (2.285 * 2 * pi * width / from) / 2)};
    s.scale = 1 / smp_bessel0(s.beta);
    return s;
}

/* The weights of every phase, which add up to 1. */
static smp_code make_table(const sinc *s, int l, smp_node_plan *work, smp_error *err)
{
    enum { MOST = 256 << 20 /* bytes */ };
    const int taps = 2 * s->half;
    work->table.size = (size_t)l * (size_t)taps * sizeof(float);
    if (work->table.size > MOST)
        return smp_fail(err, SMP_E_PIPE, "this ratio of rates takes %d filters of %d taps, %zu MB", l, taps,
                        work->table.size >> 20),
               smp_hint(err, "take a rate that has more in common with the sound's, as 44.1kHz and 48kHz do");
    float *to = work->table.data = smp_alloc(work->table.size);
    double *one = smp_alloc_array((size_t)taps, sizeof *one);
    for (int phase = 0; to && one && phase < l; phase++, to += taps) {
        double sum = 0;
        for (int k = 0; k < taps; k++) {
            one[k] = sinc_at(s, k - s->half + 1 - (double)phase / l);
            sum += one[k];
        }
        for (int k = 0; k < taps; k++)
            to[k] = (float)(one[k] / sum);
    }
    const bool failed = !to || !one;
    smp_free(one);
    return failed ? smp_fail_memory(err, "a filter", work->table.size) : SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    if (!(in->rate >= 1) || in->rate != floor(in->rate))
        return smp_fail(err, SMP_E_PIPE, "the sound's rate is %.10g Hz: it must be a whole number", in->rate);
    const double to = isnan(p->rate) ? in->rate : p->rate, from = floor(in->rate * p->speed + 0.5);
    work->out.rate = to;
    work->effect.none = from == to && from == in->rate;
    work->effect.already = work->effect.none;
    if (work->effect.none)
        return SMP_OK;
    if (from == to) /* the same frames, played at another rate */
        return smp_fail(err, SMP_E_PIPE, "this speed gives the sound's frames as they are, at %.10g Hz", to),
               smp_hint(err, "take a rate and a speed whose ratio is another");
    const int64_t common = divisor((int64_t)to, (int64_t)from), l = (int64_t)to / common, m = (int64_t)from / common;
    if (l > SMP_RESAMPLE_MOST || m > SMP_RESAMPLE_MOST)
        return smp_fail(err, SMP_E_PIPE, "%.10g Hz and %.10g Hz have too little in common: their ratio is %lld to %lld",
                        to, from, (long long)l, (long long)m),
               smp_hint(err, "take a usual rate, as 44.1kHz or 48kHz");
    const sinc s = design(p, from, to);
    smp_resample *k = SMP_PLAN_KERNEL(work, smp_resample);
    *k = (smp_resample){(int32_t)l, (int32_t)m, s.half, l == 1 ? (int32_t)smp_min_i64(m & -m, 32) - 1 : 0};
    if (!smp_mul_i64(in->height, l, &work->out.height))
        return smp_fail(err, SMP_E_PIPE, "the sound is too long");
    work->out.height = (work->out.height + m - 1) / m;
    work->rows.num = m;
    work->rows.den = l;
    work->rows.up = s.half - 1 + (m + 2 * l - 1) / (2 * l); /* the row map rounds to the middle of an output frame */
    work->rows.down = s.half;
    work->values.clips = true;
    work->ops = 4. * s.half;
    return work->probing ? SMP_OK : make_table(&s, (int)l, work, err);
}

static const char *in_shared(const smp_io *io, const void *kernel, smp_grid *grid, const char *name)
{
    enum { EXCHANGED = 32 };
    const smp_grid known = *grid;
    const int64_t span = smp_resample_span(kernel, SMP_RESAMPLE_TILE),
                  bytes = (span + EXCHANGED - 1) / EXCHANGED * EXCHANGED * 4;
    if (bytes > UINT32_MAX)
        return NULL;
    smp_grid_line(io->out.rows, SMP_RESAMPLE_TILE, SMP_RESAMPLE_TILE, grid);
    grid->grid[1] = (unsigned)io->in.channels;
    grid->shared_bytes = (unsigned)bytes;
    return smp_grid_fits(grid, &known) ? name : NULL;
}

static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return in_shared(io, kernel, grid, "resample_tiled");
}

static const char *swizzled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return in_shared(io, kernel, grid, "resample_swizzled");
}

static size_t scratch(const smp_io *, const void *kernel)
{
    return smp_resample_scratch(kernel);
}

static const smp_variant variants[] = {
    {.name = "naive", .help = "tap after tap for every frame", .launches = {SMP_LAUNCH_SAMPLES(resample_naive)}},
    {.name = "tiled",
     .help = "frames of one phase in vectors; on GPUs frames in shared memory, with conflicts at ratios of 2, 4, 8",
     .launches = {SMP_LAUNCH_AS(resample_tiled, .decide = tiled)},
     .scratch = scratch},
    {.name = "swizzled",
     .help = "frames in shared memory exchanged by XOR: no conflicts at ratios of 2, 4, 8 (GPU; on a CPU as tiled)",
     .launches = {SMP_LAUNCH_AS(resample_tiled, .decide = swizzled)},
     .scratch = scratch},
    {0},
};

const smp_stage smp_stage_resample = {
    .name = "resample",
    .help = "change the sample rate of a sound",
    .about =
        "A polyphase filter, a sinc under Kaiser's window, linear in phase and without delay. With the defaults what "
        "is kept ripples by 0.0001 dB, up to 91.3 % of the lower rate's band, and what would alias is 100 dB down. "
        "Every phase's weights add up to 1; outside the sound is silence. The length becomes the input's times the "
        "ratio of the rates, rounded up. With a speed the sound's rate counts as so many times what it is. Streams.",
    .example = "resample 32kHz bandwidth=80% attenuation=60dB",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_SAME_LEVEL,
    .role = SMP_ROLE_RATE,
    .check = check,
    SMP_ALSO({"rate aresample samplerate src resample_poly upsample resize", "resample 48kHz"},
             {"downsample", "resample 16kHz"}, {"speed asetrate", "resample speed=1.25"}),
};
