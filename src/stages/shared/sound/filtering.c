/* Filters along the frames of a sound: see filtering.h. Linear-phase windowed sinc. Sources: Oppenheim and Schafer,
 * "Discrete-Time Signal Processing", 7.2 (windows) and 7.3 (Kaiser's formulas for shape and length). */
#include "stages/shared/sound/filtering.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/fourier/fourier.h"
#include "stages/shared/launch_shapes.h"

static const double pi = 3.14159265358979323846;

const char *const smp_window_names[] = {"kaiser", "hann", "hamming", "blackman", NULL};

const smp_param smp_cutoff_rows[] = {
    {"cutoff", offsetof(smp_cutoff_params, cutoff), SMP_T_FLOAT, SMP_UNIT_HZ, 0, 1e8, NULL,
     "where half the amplitude is left (-6 dB)", NULL, SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_POSITIVE},
    SMP_FILTER_ROWS(smp_cutoff_params),
    {0},
};

/* ------------------------------------------------------------------------------------------------ launches */

static size_t scratch(const smp_io *io, const void *params)
{
    return smp_fir_scratch(params, io->in.channels);
}

/* A long filter has one kernel on GPUs, naive's; rungs above leave it to that. */
static const char *naive_kernel(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_fir *fir = params;
    if (!fir->parts) {
        smp_geometry_samples(io, params, grid);
        return "fir_naive";
    }
    const int64_t end = io->out.y0 + io->out.rows;
    const int64_t first = io->out.y0 / SMP_FIR_STEP, bound = (end + SMP_FIR_STEP - 1) / SMP_FIR_STEP;
    smp_grid_striding_line(bound - first, 1, SMP_FIR_FFT_THREADS, grid);
    grid->grid[1] = (unsigned)io->in.channels;
    return "fir_fft";
}

static const char *tiled_kernel(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_fir *fir = params;
    smp_grid_striding_line(io->out.rows, SMP_FIR_TILE, SMP_FIR_TILE, grid);
    grid->grid[1] = (unsigned)io->in.channels;
    return fir->parts ? NULL : "fir_tiled";
}

static const char *register_kernel(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_fir *fir = params;
    const int64_t along = (io->out.rows + SMP_FIR_REGISTER - 1) / SMP_FIR_REGISTER;
    *grid = (smp_grid){.grid = {(unsigned)io->in.channels, (unsigned)smp_clamp_i64(along, 1, smp_grid_most(grid)), 1},
                       .block = {SMP_FIR_WARPS * 32, 1, 1}};
    return fir->parts ? NULL : "fir_register";
}

const smp_variant smp_filter_variants[] = {
    {SMP_RUNG("naive", "tap after tap for every sample; long filters block by block through the Fourier transform",
              SMP_LAUNCH_AS(fir_naive, .decide = naive_kernel)),
     .scratch = scratch, .band = SMP_FIR_STEP},
    {SMP_RUNG("tiled",
              "a channel in planes that stay in cache, results in registers; on GPUs frames and taps in shared memory; "
              "long filters on a CPU several blocks side by side",
              SMP_LAUNCH_AS(fir_tiled, .decide = tiled_kernel)),
     .scratch = scratch, .band = SMP_FIR_STEP},
    {.name = "register",
     .help =
         "sixteen results a thread, so that samples read from shared memory serve many taps (GPU; on a CPU as tiled)",
     .launches = {SMP_LAUNCH_AS(fir_tiled, .decide = register_kernel)},
     .scratch = scratch,
     .band = SMP_FIR_STEP},
    {0},
};

/* The spectra of the parts of the taps: see fir.h. taps: as a convolution has them. */
static smp_code fill_spectra(const double *taps, const smp_fir *fir, float *to, smp_error *err)
{
    /* The split of a segment and the merge of a sum leave a factor of 2 each, the transform back one of its length. */
    const double factor = 1. / (4. * SMP_FIR_STEP);
    double *pairs = smp_alloc_array(SMP_FIR_SEGMENT, 2 * sizeof *pairs);
    bool done = pairs;
    for (int part = 0; done && part < fir->parts; part++, to += SMP_FIR_SPECTRUM) {
        for (int i = 0; i < SMP_FIR_SEGMENT; i++) {
            const int at = part * SMP_FIR_STEP + i;
            pairs[2 * i] = i < SMP_FIR_STEP && at < fir->taps ? taps[at] * factor : 0;
            pairs[2 * i + 1] = 0;
        }
        done = smp_fourier_double(pairs, SMP_FIR_SEGMENT);
        for (int i = 0; i < SMP_FIR_SPECTRUM; i++)
            to[i] = (float)pairs[i];
    }
    smp_free(pairs);
    return done ? SMP_OK : smp_fail_memory(err, "a filter", 2 * SMP_FIR_SEGMENT * sizeof *pairs);
}

/* taps: `lists` of them, one after the other. */
static smp_code fourier_plan(const double *taps, int lists, smp_fir *fir, smp_node_plan *work, smp_error *err)
{
    fir->parts = (fir->taps + SMP_FIR_STEP - 1) / SMP_FIR_STEP;
    smp_fourier_plan(SMP_FIR_STEP, &fir->fft);
    const size_t factors = (size_t)smp_fourier_floats(&fir->fft, true);
    const size_t spectra = (size_t)fir->parts * SMP_FIR_SPECTRUM;
    work->table.size = (factors + (size_t)lists * spectra) * sizeof(float);
    float *table = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(table, "a filter", work->table.size, err);
    smp_fourier_fill(&fir->fft, true, table);
    const int64_t after = fir->taps - 1 - fir->before; /* a row may be any of its block */
    work->rows.up = (int64_t)fir->parts * SMP_FIR_STEP - after + SMP_FIR_STEP - 1;
    work->rows.down = after + SMP_FIR_STEP - 1;
    work->rows.unit = SMP_FIR_STEP;
    work->ops = 2 * 5 * 11 + 2 * 14 + 8. * fir->parts; /* 5 n log2 n a transform, the splits, the products */
    for (int i = 0; i < lists; i++)
        SMP_TRY(fill_spectra(taps + (size_t)i * (size_t)fir->taps, fir, table + factors + (size_t)i * spectra, err));
    return SMP_OK;
}

smp_code smp_echo_filter_plan(const double *taps, int count, int channels, smp_node_plan *work, smp_error *err)
{
    smp_fir *fir = SMP_PLAN_KERNEL(work, smp_fir);
    *fir = (smp_fir){.taps = count, .before = count - 1, .own = 1};
    work->values.clips = true;
    return fourier_plan(taps, channels, fir, work, err);
}

smp_code smp_filter_plan(const double *taps, int count, smp_node_plan *work, smp_error *err)
{
    smp_fir *fir = SMP_PLAN_KERNEL(work, smp_fir);
    *fir = (smp_fir){.taps = count, .before = count / 2};
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += fabs(taps[i]);
    work->values.clips = sum > 1 + 1e-6;
    if (count > SMP_FIR_DIRECT)
        return fourier_plan(taps, 1, fir, work, err);
    work->table.size = (size_t)count * sizeof(float);
    float *table = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(table, "a filter", work->table.size, err);
    for (int i = 0; i < count; i++) /* a convolution's last tap meets the earliest sample */
        table[i] = (float)taps[count - 1 - i];
    work->rows.up = fir->before;
    work->rows.down = count - 1 - fir->before;
    work->ops = 2. * count;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ design */

/* Its power series, which converges for every x. */
double smp_bessel0(double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < 500 && term > 1e-17 * sum; k++) {
        term *= x / (2. * k) * (x / (2. * k));
        sum += term;
    }
    return sum;
}

/* Kaiser's formulas speak of one slope; the ripple of its mirror image at the negative frequency adds up to as much. */
enum { MARGIN = 6 /* dB */ };

static double kaiser_shape(double attenuation)
{
    attenuation += MARGIN;
    return attenuation > 50    ? 0.1102 * (attenuation - 8.7)
           : attenuation >= 21 ? 0.5842 * pow(attenuation - 21, 0.4) + 0.07886 * (attenuation - 21)
                               : 0;
}

double smp_kaiser_taps(double attenuation, double transition)
{
    return (attenuation + MARGIN - 7.95) / (2.285 * 2 * pi * transition) + 1;
}

/* Taps that a slope of `transition` (a fraction of the rate) takes. */
static double taps_for(const smp_filter_params *filter, double transition)
{
    switch (filter->window) {
    case SMP_WINDOW_HANN:
        return 3.1 / transition + 1;
    case SMP_WINDOW_HAMMING:
        return 3.3 / transition + 1;
    case SMP_WINDOW_BLACKMAN:
        return 5.5 / transition + 1;
    default:
        return smp_kaiser_taps(filter->attenuation, transition);
    }
}

static double window_at(const smp_filter_params *filter, int i, int count)
{
    const double t = (double)i / (count - 1), turn = 2 * pi * t, x = 2 * t - 1;
    switch (filter->window) {
    case SMP_WINDOW_HANN:
        return 0.5 - 0.5 * cos(turn);
    case SMP_WINDOW_HAMMING:
        return 0.54 - 0.46 * cos(turn);
    case SMP_WINDOW_BLACKMAN:
        return 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn);
    default: {
        const double beta = kaiser_shape(filter->attenuation), inside = 1 - x * x;
        return smp_bessel0(beta * sqrt(inside > 0 ? inside : 0)) / smp_bessel0(beta);
    }
    }
}

/* Adds `sign` times a low-pass with its cutoff at this fraction of the rate; its taps sum to 1. */
static void add_lowpass(const smp_filter_params *filter, double cutoff, double sign, double *taps, double *one,
                        int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double t = i - (count - 1) / 2;
        one[i] = (t == 0 ? 2 * cutoff : sin(2 * pi * cutoff * t) / (pi * t)) * window_at(filter, i, count);
        sum += one[i];
    }
    for (int i = 0; i < count; i++)
        taps[i] += sign * one[i] / sum;
}

double *smp_band_taps(const smp_filter_params *filter, double low, double high, double rate, int count)
{
    double *taps = smp_alloc_array((size_t)count, 2 * sizeof *taps);
    if (!taps)
        return NULL;
    double *one = taps + count;
    if (high < rate / 2)
        add_lowpass(filter, high / rate, 1, taps, one, count);
    else
        taps[(count - 1) / 2] = 1;
    if (low > 0)
        add_lowpass(filter, low / rate, -1, taps, one, count);
    return taps;
}

/* The slope in Hz at a cutoff where none was given. It must leave room on both sides, so that half the amplitude is
 * left at the cutoff itself. */
static double slope(double cutoff, double rate)
{
    double width = cutoff / 3 > rate / 1000 ? cutoff / 3 : rate / 1000,
           room = cutoff < rate / 2 - cutoff ? cutoff : rate / 2 - cutoff;
    return width < room ? width : room;
}

smp_code smp_band_plan(const smp_filter_params *filter, double low, double high, const smp_shape *in,
                       smp_node_plan *work, smp_error *err)
{
    const double half = in->rate / 2;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a frequency needs");
    if (low >= half)
        return smp_fail(err, SMP_E_PIPE, "nothing is left above %.6g Hz: the sound's rate of %.6g Hz ends at %.6g Hz",
                        low, in->rate, half),
               smp_hint(err, "give a frequency below half the rate");
    if (low <= 0 && high >= half) {
        work->effect.none = true;
        return SMP_OK;
    }
    double transition = filter->transition;
    if (isnan(transition)) {
        transition = low > 0 ? slope(low, in->rate) : (double)INFINITY;
        double upper = high < half ? slope(high, in->rate) : (double)INFINITY;
        transition = transition < upper ? transition : upper;
        if (low > 0 && high < half && transition > (high - low))
            transition = high - low;
    }
    int64_t count = filter->taps;
    if (count == INT64_MIN) {
        double wanted = ceil(taps_for(filter, transition / in->rate));
        if (!(wanted <= SMP_FIR_MOST))
            return smp_fail(err, SMP_E_PIPE,
                            "a slope of %.4g Hz at a rate of %.6g Hz takes %.0f taps; at most %d are possible",
                            transition, in->rate, wanted, SMP_FIR_MOST),
                   smp_hint(err, "allow a wider slope: transition=%.4gHz, or give taps=",
                            transition * wanted / SMP_FIR_MOST * 1.01);
        count = smp_max_i64(3, (int64_t)wanted | 1);
    }
    double *taps = smp_band_taps(filter, low, high, in->rate, (int)count);
    SMP_NEED(taps, "a filter", (uint64_t)count * sizeof *taps, err);
    smp_code code = smp_filter_plan(taps, (int)count, work, err);
    smp_free(taps);
    return code;
}
