/* spectrogram: the frequencies in a sound, moment by moment, as a picture. */
#include "audio/spectrogram.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "matmul/matmul_blocks.h"
#include "stages/shared/fourier/fourier.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/sound/framing.h"
#include "stages/shared/sound/picture_axes.h"

typedef struct params {
    int64_t size, hop;
    int window, levels, colors;
    double range, top;
    bool smooth, axes;
    int64_t width, height;
    int scale;
} params;

enum { DECIBELS, MAGNITUDE };
static const char *const levels[] = {"db", "linear", NULL};
enum { LINEAR, LOGARITHMIC, MEL };
static const char *const scales[] = {"linear", "log", "mel", NULL};
enum { FIRE, GRAY, NONE };
static const char *const colors[] = {"fire", "gray", "none", NULL};

static const smp_param table[] = {
    SMP_PARAM_INT(size, NONE, 16, 8192, "1024",
                  "samples of a frame, an even number: more tell frequencies apart, fewer tell moments apart", 0),
    SMP_PARAM_INT(
        hop, NONE, 1, 1e9, "auto",
        "samples from a frame to the next: a column of the picture each; auto: 256, or more to have 2000 columns",
        SMP_P_AUTO),
    SMP_PARAM_INT(width, PX, 1, 1000000, "auto",
                  "columns at most, without the axes: the hop grows to fit; auto: as many as `hop` makes", SMP_P_AUTO),
    SMP_PARAM_INT(height, PX, 1, 20000, "auto",
                  "rows at most, of all channels together, without the axes; auto: 2000, and with colors=none `size` / "
                  "2 a channel",
                  SMP_P_AUTO),
    SMP_PARAM_ROW(scale, ENUM, NONE, 0, 0, "linear",
                  "how frequencies grow upwards: evenly, by octaves, or as they are heard", scales, 0),
    SMP_PARAM_BOOL(axes, "yes", "yes: with seconds, Hz and a scale of levels round the picture, unless colors=none", 0),
    SMP_PARAM_ROW(window, ENUM, NONE, 0, 0, "hann", "how a frame fades at its ends", smp_taper_names, 0),
    SMP_PARAM_ROW(levels, ENUM, NONE, 0, 0, "db", "what brightness stands for: the level in dB, or the magnitude",
                  levels, 0),
    SMP_PARAM_FLOAT(range, DB, 1, 400, "80dB", "with levels=db: how far below the brightest level black is", 0),
    SMP_PARAM_FLOAT(top, DB, -200, 200, "0dB", "the brightest level; 0dB is a sine wave of full scale", 0),
    SMP_PARAM_ROW(colors, ENUM, NONE, 0, 0, "fire", "the colour map; none: levels from 0 to 1 as float", colors, 0),
    SMP_PARAM_BOOL(smooth, "no", "yes: in place of `size` the nearest one that the fast transform takes", 0),
    {0},
};

/* ------------------------------------------------------------------------------------------------ the table */

/* The map `fire`: level and colour where lines meet; lightness grows all the way. */
static const double fire[][4] = {{0, 0, 0, 0},         {0.15, 20, 10, 70},  {0.35, 110, 20, 110}, {0.55, 205, 45, 60},
                                 {0.75, 250, 140, 20}, {0.9, 250, 225, 90}, {1, 255, 255, 255}};

static void fill_map(float *map)
{
    for (int i = 0, k = 0; i < SMP_SPECTROGRAM_COLORS; i++) {
        const double level = (double)i / (SMP_SPECTROGRAM_COLORS - 1);
        while (level > fire[k + 1][0])
            k++;
        const double part = (level - fire[k][0]) / (fire[k + 1][0] - fire[k][0]);
        for (int c = 1; c <= 3; c++)
            map[3 * i + c - 1] = (float)rint(fire[k][c] + part * (fire[k + 1][c] - fire[k][c]));
    }
}

/* Cosines and sines of every bin under the window, such that a full-scale sine wave has magnitude 1; at frequency 0,
 * which has no partner below it, a constant 1 has. */
static smp_code fill_waves(float *waves, const smp_spectrogram_params *k, int window, smp_error *err)
{
    const int64_t size = k->f.size;
    double *turns = smp_alloc_array((size_t)size, sizeof *turns), sum = 0;
    SMP_NEED(turns, "a table of cosines", (uint64_t)size * sizeof *turns, err);
    for (int64_t n = 0; n < size; n++) {
        turns[n] = cos(2 * 3.14159265358979323846 * (double)n / (double)size);
        sum += smp_taper_at(window, n, size);
    }
    for (int64_t n = 0; n < size; n++) {
        const double weight = smp_taper_at(window, n, size) * 2 / sum;
        for (int64_t bin = 0, at = 0; bin < k->f.bins; bin++) { /* at: n * bin modulo size */
            /* sin(a) = cos(a - 1/4 turn); a size that 4 does not divide has no such place in the table */
            const double sine = size % 4 ? sin(2 * 3.14159265358979323846 * (double)at / (double)size)
                                         : turns[(at + size - size / 4) % size];
            const double half = bin ? 1 : 0.5;
            waves[n * k->pitch + 2 * bin] = (float)(weight * half * turns[at]);
            waves[n * k->pitch + 2 * bin + 1] = (float)(weight * half * -sine);
            at += n;
            at -= at >= size ? size : 0;
        }
    }
    smp_free(turns);
    return SMP_OK;
}

/* The window such that the split's doubled sums have those magnitudes. */
static void fill_window(float *to, int window, int64_t size)
{
    double sum = 0;
    for (int64_t n = 0; n < size; n++)
        sum += smp_taper_at(window, n, size);
    for (int64_t n = 0; n < size; n++)
        to[n] = (float)(smp_taper_at(window, n, size) / sum);
}

/* ------------------------------------------------------------------------------------------------ frequencies */

/* Hz of a bin, bins, and what `scale` says. */
typedef struct frequencies {
    double step;
    int32_t bins;
    int scale;
} frequencies;

/* Returns how far up in a channel a frequency is, 0..1; below 0 it lies below the picture. */
static double height_of(const void *of, double hz)
{
    const frequencies *f = of;
    const double most = f->step * f->bins;
    switch (f->scale) {
    case LOGARITHMIC: /* bin 1 is at 0 */
        return hz > 0 ? log(hz / f->step) / log(f->bins) : -1;
    case MEL:
        return smp_mel_of(false, hz) / smp_mel_of(false, most);
    default:
        return hz / most;
    }
}

/* The bin that begins so far up, as a number with a fraction. */
static double bin_at(const frequencies *f, double up)
{
    return f->scale == LOGARITHMIC ? pow(f->bins, up)
                                   : smp_mel_hz(false, up * smp_mel_of(false, f->step * f->bins)) / f->step;
}

/* Row v from the bottom shows the bins that begin in it, or, where none does, the one that it lies in. */
static void fill_spans(int32_t *spans, int64_t rows, const frequencies *f)
{
    for (int64_t v = 0; v < rows; v++) {
        int64_t ends[2];
        for (int i = 0; i < 2; i++)
            ends[i] = f->scale == LINEAR ? (v + i) * f->bins / rows
                                         : (int64_t)floor(bin_at(f, (double)(v + i) / (double)rows) + 1e-9);
        int32_t *span = spans + 2 * (rows - 1 - v);
        span[0] = (int32_t)smp_min_i64(ends[0], f->bins - 1);
        span[1] = (int32_t)smp_clamp_i64(ends[1], span[0] + 1, f->bins);
    }
}

static void draw_axes(const params *p, const smp_axes *a, const frequencies *f, double seconds, uint8_t *frame)
{
    const double high = p->levels == DECIBELS ? p->top : pow(10, p->top / 20);
    smp_axes_time(a, frame, seconds);
    smp_axes_frequencies(a, frame, height_of, f, f->step * f->bins, f->scale == LINEAR);
    smp_axes_levels(a, frame, p->levels == DECIBELS ? p->top - p->range : 0, high, p->levels == DECIBELS ? "dB" : "");
}

/* axes: null: none. */
static smp_code make_table(const params *p, smp_spectrogram_params *k, const smp_axes *axes, double rate,
                           smp_node_plan *work, smp_error *err)
{
    const frequencies f = {.step = rate / k->f.size, .bins = k->f.bins, .scale = p->scale};
    const int window = p->window;
    const size_t samples = k->f.fft.n ? (size_t)(k->f.size + smp_fourier_floats(&k->f.fft, true))
                                      : (size_t)smp_spectrogram_rows(k->f.size) * (size_t)k->pitch;
    const size_t frame = axes ? smp_axes_size(axes) : 0;
    k->spans = (int64_t)((samples + 3 * SMP_SPECTROGRAM_COLORS) * sizeof(float));
    k->frame = k->spans + 2 * (int64_t)sizeof(int32_t) * k->rows;
    work->table.size = (size_t)k->frame + frame;
    work->table.data = smp_alloc(work->table.size);
    SMP_NEED(work->table.data, "the table of a spectrogram", work->table.size, err);
    fill_map(work->table.data);
    fill_spans((int32_t *)(void *)((char *)work->table.data + k->spans), k->rows, &f);
    if (axes) {
        memset((char *)work->table.data + k->frame, 0, frame);
        draw_axes(p, axes, &f, k->f.hop / rate, (uint8_t *)work->table.data + k->frame);
    }
    float *to = (float *)work->table.data + 3 * SMP_SPECTROGRAM_COLORS;
    if (!k->f.fft.n)
        return fill_waves(to, k, window, err);
    fill_window(to, window, k->f.size);
    smp_fourier_fill(&k->f.fft, true, to + k->f.size);
    return SMP_OK;
}

static const smp_variant product_variants[3];

/* ------------------------------------------------------------------------------------------------ the plan */

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (p->size % 2 == 0)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "'size' must be even, not %lld", (long long)p->size);
    return smp_hint(err, "write %lld or %lld", (long long)p->size - 1, (long long)p->size + 1);
}

/* Samples from a column to the next. */
static int64_t hop_of(const params *p, int64_t frames)
{
    enum { HOP = 256, WIDTH = 2000 };
    const bool given = p->hop > 0;
    const int64_t width = p->width > 0 ? p->width : given ? INT64_MAX : WIDTH;
    return smp_max_i64(given ? p->hop : HOP, frames / width + (frames % width != 0));
}

/* Returns the rows of a channel. */
static int32_t rows_of(const params *p, int64_t bins, int channels)
{
    enum { HEIGHT = 2000 };
    const int64_t all = p->height > 0 ? p->height : p->colors == NONE ? bins * channels : HEIGHT;
    return (int32_t)smp_clamp_i64(all / channels, 1, bins);
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    if (hop_of(p, in->height) > INT32_MAX)
        return smp_fail(err, SMP_E_LIMIT, "the sound is too long for a picture of %lld columns", (long long)p->width);
    const int64_t hop = hop_of(p, in->height);
    const int64_t size = p->smooth ? 2 * smp_fourier_nearest(p->size / 2) : p->size;
    smp_spectrogram_params *k = SMP_PLAN_KERNEL(work, smp_spectrogram_params);
    *k = (smp_spectrogram_params){
        .f = smp_framing(size, hop, SMP_ZERO),
        .pitch = (int32_t)((size + SMP_MATMUL_BLOCK - 1) / SMP_MATMUL_BLOCK * SMP_MATMUL_BLOCK),
        .decibels = p->levels == DECIBELS,
        .colored = p->colors == FIRE,
        .rows = rows_of(p, size / 2, in->channels),
    };
    if (p->levels == DECIBELS) { /* 10 log10(power) = 3.01 log2(power); `top - range` is 0 and `top` is 1 */
        k->scale = (float)(10 * log10(2) / p->range);
        k->offset = (float)((p->range - p->top) / p->range);
    } else {
        k->scale = (float)pow(10, -p->top / 20);
    }
    const smp_axes axes = smp_axes_round((in->height + hop - 1) / hop, (int64_t)k->rows * in->channels, in->channels);
    const bool framed = p->axes && p->colors != NONE;
    if (framed)
        k->left = axes.left, k->right = axes.right, k->top = axes.top, k->bottom = axes.bottom;
    work->between = (smp_shape){.width = axes.columns,
                                .height = k->f.bins * (int64_t)in->channels,
                                .channels = 1,
                                .format = k->colored ? SMP_U8 : SMP_F32};
    work->out = (smp_shape){
        .kind = SMP_IMAGE,
        .width = k->left + axes.columns + k->right,
        .height = k->top + axes.rows + k->bottom,
        .channels = p->colors == FIRE ? 3 : 1,
        .format = p->colors == NONE ? SMP_F32 : SMP_U8,
    };
    if (k->f.fft.n) {
        work->ops = 5 * log2((double)size) / work->out.channels;
    } else {
        work->variants = product_variants;
        work->ops = 4. * (double)size / work->out.channels;
    }
    return make_table(p, k, framed ? &axes : NULL, in->rate > 0 ? in->rate : 1, work, err);
}

/* ------------------------------------------------------------------------------------------------ launches */

static void tiled_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_spectrogram_params *k = kernel;
    *grid = (smp_grid){
        .grid = {(unsigned)smp_clamp_i64((io->out.width + SMP_MATMUL_BLOCK - 1) / SMP_MATMUL_BLOCK, 1, INT32_MAX),
                 (unsigned)((k->f.bins + SMP_SPECTROGRAM_BINS - 1) / SMP_SPECTROGRAM_BINS), (unsigned)io->in.channels},
        .block = {SMP_MATMUL_THREADS, 1, 1},
    };
}

static size_t scratch(const smp_io *, const void *)
{
    return SMP_MATMUL_CPU_SCRATCH;
}

#define PAINT                                                                                                          \
    .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(spectrogram_paint), .cuda = "spectrogram_paint",                \
    .geometry = smp_geometry_pixels

static const smp_variant product_variants[3] = {
    {SMP_RUNG("naive", "bin by bin: a frame from memory for every one",
              SMP_LAUNCH_OVER(IN, SCRATCH, spectrogram_naive, .geometry = smp_geometry_pixels, .once = true), {PAINT})},
    {SMP_RUNG("register",
              "the matrix product of frames with cosines and sines as matmul's register, on a CPU as its tiled",
              SMP_LAUNCH_OVER(IN, SCRATCH, spectrogram_tiled, .geometry = tiled_geometry, .once = true), {PAINT}),
     .scratch = scratch},
    {0},
};

static int64_t groups(const smp_io *io, const void *)
{
    return (io->out.width + SMP_SPECTROGRAM_GROUP - 1) / SMP_SPECTROGRAM_GROUP;
}

static size_t fft_scratch(const smp_io *, const void *kernel)
{
    return smp_spectrogram_scratch(kernel);
}

/* A block of threads for each frame and channel. numbers: of one of the two memories. */
static void frame_geometry(const smp_io *io, const smp_spectrogram_params *k, int64_t numbers, smp_grid *grid)
{
    smp_framing_grid(&k->f, io->out.width, numbers, 0, grid);
    grid->grid[1] = (unsigned)io->in.channels;
}

static void plain_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_spectrogram_params *k = kernel;
    frame_geometry(io, k, k->f.bins, grid);
}

static const char *padded_kernel(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_spectrogram_params *k = kernel;
    smp_grid wanted = *grid;
    frame_geometry(io, k, smp_framing_padded(&k->f), &wanted);
    if (grid->shared_most && wanted.shared_bytes > grid->shared_most)
        return NULL;
    *grid = wanted;
    return "spectrogram_fft_padded";
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", SMP_FRAMING_NAIVE,
              SMP_LAUNCH_OVER_AS(IN, SCRATCH, spectrogram_one, .cuda = "spectrogram_fft", .geometry = plain_geometry,
                                 .once = true, .items = groups),
              {PAINT}),
     .scratch = fft_scratch},
    {SMP_RUNG(
         "padded", SMP_FRAMING_PADDED,
         SMP_LAUNCH_OVER_AS(IN, SCRATCH, spectrogram_lanes, .decide = padded_kernel, .once = true, .items = groups),
         {PAINT}),
     .scratch = fft_scratch},
    {0},
};

const smp_stage smp_stage_spectrogram = {
    .name = "spectrogram",
    .help = "the frequencies in a sound over time, as a picture",
    .about =
        "Time runs to the right, a column every `hop` samples; unless that or `width` is given, at most 2000 columns. "
        "Column x shows the `size` samples round sample x * hop, outside the sound silence. Frequency runs upwards, to "
        "half the sample rate: `size` / 2 rows, one every rate / size Hz. Where `height` leaves fewer, or scale=log or "
        "scale=mel pushes them together, a row shows the greatest of its levels. "
        "Channels lie one above the other, the first on top (`remix mono` before makes one of them).\n"
        "A frame is weighted with the window and goes through the discrete Fourier transform, in f32: the fast one of "
        "kernels/lib/fft.h where `size` / 2 has no prime factor above 7, else the product with a matrix of cosines and "
        "sines, many times slower; smooth=yes takes the nearest size that has none. Levels are those of sine waves: "
        "one of full scale has 0 dB. levels=db shows `range` dB below `top`; levels=linear shows magnitudes, `top` "
        "being white.\n"
        "axes=no leaves the picture alone. colors=none gives levels from 0 to 1 in float, without axes: `save` as .npy "
        "keeps them. NaN in a sound is black, and NaN with colors=none.",
    .example = "spectrogram size=44 hop=16 range=60dB",
    SMP_PLANNED(SMP_AUDIO, SMP_WHOLE, table, params, variants),
    .traits = SMP_TRAIT_GIVES_IMAGE,
    .check = check,
    SMP_ALSO({"sonogram spectrum showspectrumpic specgram", "spectrogram"}),
};
