/* denoise: turns down what does not rise above steady noise. */
#include "audio/denoise.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/sound/framing.h"

typedef struct params {
    double amount, threshold, noise, start, end;
    int64_t size;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(amount, DB, 0, 100, "12dB", "how far noise is turned down", SMP_P_MAIN),
    SMP_PARAM_FLOAT(threshold, DB, -20, 60, "9dB", "how far above the noise a frequency must be to stay", 0),
    SMP_PARAM_FLOAT(noise, DB, -200, 0, "auto",
                    "level of the noise, dBFS, alike at all frequencies; auto: as the sound has it", SMP_P_AUTO),
    SMP_PARAM_FLOAT(start, S, 0, 1e9, "auto",
                    "where a stretch of noise alone begins; auto: the softest fifth of the sound is noise", SMP_P_AUTO),
    SMP_PARAM_FLOAT(end, S, 0, 1e9, "auto", "where that stretch ends", SMP_P_AUTO),
    SMP_PARAM_INT(size, NONE, 64, 8192, "auto", "samples of a frame, a power of two; auto: about 40 ms", SMP_P_AUTO),
    {0},
};

static bool needs_prepass(const void *given)
{
    return isnan(((const params *)given)->noise);
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (p->size != INT64_MIN && (p->size & (p->size - 1)))
        return smp_fail(err, SMP_E_PIPE, "'size' must be a power of two, not %lld", (long long)p->size);
    if (!isnan(p->noise) && !(isnan(p->start) && isnan(p->end)))
        return smp_fail(err, SMP_E_PIPE, "noise is given as a level and as a stretch");
    if (isnan(p->start) != isnan(p->end))
        return smp_fail(err, SMP_E_PIPE, "a stretch of noise has a beginning and an end"),
               smp_hint(err, "write both: denoise start=0s end=0.5s");
    if (p->end <= p->start)
        return smp_fail(err, SMP_E_PIPE, "the noise ends at %.6g s, before it begins at %.6g s", p->end, p->start);
    return SMP_OK;
}

static int64_t size_of(const params *p, double rate)
{
    enum { LEAST = 6, MOST = 13 /* powers of two */ };
    const double seconds = 0.04;
    return p->size != INT64_MIN ? p->size : (int64_t)1 << (int)fmin(MOST, fmax(LEAST, round(log2(seconds * rate))));
}

/* Power of a number of a spectrum of noise is exponentially distributed: the least `share` of it ends at
 * -ln(1 - share) times its mean. */
static double share_of(const params *p)
{
    return isnan(p->start) ? 0.2 : 0.5;
}

/* The mean power of noise, of its classes; 0: none counted. */
static double mean_of(const uint64_t *counts, double share)
{
    double all = 0, before = 0;
    for (int i = 0; i < SMP_DENOISE_LEVELS; i++)
        all += (double)counts[i];
    for (int i = 0; i < SMP_DENOISE_LEVELS; i++) {
        const double here = (double)counts[i], wanted = share * all - before;
        if (here > 0 && wanted <= here)
            return exp2((i + wanted / here - SMP_DENOISE_ZERO) / 2) / -log(1 - share);
        before += here;
    }
    return 0;
}

/* Parseval: what the power of a spectrum's numbers adds up to where the mean square is 1. A Hann window's squares add
 * up to 3/8 of its size. */
static double power_of(const smp_frames *f)
{
    return 0.375 * (double)f->size;
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = given;
    const smp_denoise *k = (const smp_denoise *)(const void *)work->kernel.bytes;
    const size_t numbers = (size_t)k->f.bins + 1;
    float *found = smp_alloc_array(numbers * (size_t)in->channels, sizeof *found);
    SMP_NEED(found, "levels of noise", numbers * (size_t)in->channels * sizeof *found, err);
    measurements->found = found;
    measurements->found_size = numbers * (size_t)in->channels * sizeof *found;
    for (int c = 0; c < in->channels; c++) {
        double power = 0;
        for (int i = 0; i < (int)numbers; i++) {
            const double mean = mean_of((const uint64_t *)result + smp_denoise_counts(k, c, i), share_of(p));
            found[(size_t)c * numbers + (size_t)i] = (float)(mean * pow(10, p->threshold / 10));
            power += i && i < k->f.bins ? 2 * mean : mean;
        }
        const double square = power / (power_of(&k->f) * (double)k->f.size);
        SMP_TRY(smp_measurements_add(measurements, "noise_dbfs", c, 10 * log10(square), err));
    }
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    const int64_t size = size_of(p, in->rate), hop = needs_prepass(p) && !work->prepass.found ? size : size / 4;
    const double from = isnan(p->start) ? 0 : floor(p->start * in->rate + 0.5),
                 to = isnan(p->end) ? (double)in->height : floor(p->end * in->rate + 0.5);
    if (!isnan(p->start) && (from >= (double)in->height || to - from < 4 * (double)size))
        return smp_fail(err, SMP_E_PIPE, "the stretch of noise has %.0f frames in the sound; at least %lld are needed",
                        fmax(0, fmin(to, (double)in->height) - from), (long long)size * 4),
               smp_hint(err, "give it %.2g s or more, of a sound of %.3g s", (double)size * 4 / in->rate,
                        (double)in->height / in->rate);
    smp_denoise *k = SMP_PLAN_KERNEL(work, smp_denoise);
    *k = (smp_denoise){.f = smp_framing(size, hop, SMP_ZERO),
                       .frames = (in->height + size / 2) / hop + 1,
                       .from = (int64_t)from,
                       .to = to < (double)in->height ? (int64_t)to : in->height,
                       .gain = (float)(0.5 / (double)size),
                       .least = (float)pow(10, -p->amount / 20)};
    work->rows.up = work->rows.down = smp_min_i64(size, in->height);
    const size_t numbers = (size_t)k->f.bins + 1;
    const size_t all = needs_prepass(p) && !work->prepass.found ? 0 : numbers * (size_t)in->channels;
    SMP_TRY(smp_framing_table(&k->f, SMP_HANN, all, work, err));
    float *thresholds = (float *)work->table.data + smp_frames_floats(&k->f);
    for (size_t i = 0; i < all; i++)
        thresholds[i] = work->prepass.found ? ((const float *)work->prepass.found)[i]
                                            : (float)(power_of(&k->f) * pow(10, (p->noise + p->threshold) / 10));
    if (all) {
        work->ops = 40 * log2((double)size);
        return SMP_OK;
    }
    work->prepass.wanted = true;
    work->access = SMP_ADJUST;
    work->reduction.kind = SMP_RESULT_COUNTS;
    work->reduction.size = numbers * (size_t)in->channels * SMP_DENOISE_LEVELS * sizeof(uint64_t);
    work->ops = 5 * log2((double)size);
    return SMP_OK;
}

static void geometry(const smp_io *io, const smp_denoise *k, int64_t numbers, int64_t more, smp_grid *grid)
{
    smp_framing_grid(&k->f, (io->out.rows + k->f.size - 1) / k->f.size, numbers, more, grid);
    grid->grid[1] = (unsigned)io->in.channels;
}

static void count_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_denoise *k = kernel;
    geometry(io, k, k->f.bins + 1, 0, grid);
}

static const char *count_padded(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_denoise *k = kernel;
    const smp_grid known = *grid;
    geometry(io, k, smp_framing_padded(&k->f), 0, grid);
    return smp_grid_fits(grid, &known) ? "denoise_count_padded" : NULL;
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_denoise *k = kernel;
    geometry(io, k, k->f.bins + 1, k->f.size, grid);
}

static const char *padded_kernel(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_denoise *k = kernel;
    const smp_grid known = *grid;
    geometry(io, k, smp_framing_padded(&k->f), k->f.size, grid);
    return smp_grid_fits(grid, &known) ? "denoise_padded" : NULL;
}

static const smp_variant reducers[] = {
    {SMP_RUNG(
         "naive", SMP_FRAMING_NAIVE,
         SMP_LAUNCH_AS(denoise_count_one, .cuda = "denoise_count_naive", .geometry = count_geometry, .counts = true)),
     .scratch = smp_framing_scratch},
    {SMP_RUNG("padded", SMP_FRAMING_PADDED, SMP_LAUNCH_AS(denoise_count_lanes, .counts = true, .decide = count_padded)),
     .scratch = smp_framing_scratch},
    {0},
};

static const smp_variant variants[] = {
    {SMP_RUNG("naive", SMP_FRAMING_NAIVE,
              SMP_LAUNCH_AS(denoise_one, .cuda = "denoise_naive", .geometry = naive_geometry)),
     .scratch = smp_framing_scratch},
    {SMP_RUNG("padded", SMP_FRAMING_PADDED, SMP_LAUNCH_AS(denoise_lanes, .decide = padded_kernel)),
     .scratch = smp_framing_scratch},
    {0},
};

const smp_stage smp_stage_denoise = {
    .name = "denoise",
    .help = "turn down steady noise: hiss, hum, a fan",
    .about = "A spectral gate. Of frames of about 40 ms each frequency is compared with how loud noise is there. What "
             "does not pass that by `threshold` is turned down by `amount`, less where a neighbouring frequency does; "
             "what passes with a neighbour stays. Noise is taken to be the softest fifth of the time at each "
             "frequency, or, with start=0s end=0.5s, what is in that stretch alone; or, with noise=-50dBFS, white "
             "noise of that level. `noise_dbfs` of the report is how loud it is.\n"
             "Too large an amount leaves chirps behind: 6 to 20 dB sound natural. `gate` silences pauses, `notch` "
             "takes out single tones. It reads the sound twice unless `noise` is given, and streams. Frames overlap by "
             "three quarters (`stft`, `istft` with a Hann window); nothing is delayed.",
    .example = "denoise 12dB noise=-20dBFS size=64",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .check = check,
    .reduction = SMP_REDUCTION(.prepass = needs_prepass, .finish = finish, .reducers = reducers),
    SMP_ALSO({"noisered noise-reduction afftdn anlmdn arnndn noiseprof", "denoise 12dB"}),
};
