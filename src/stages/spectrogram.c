/* spectrogram: the frequencies in a sound, moment by moment, as a picture. */
#include "matmul/spectrogram.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/fourier.h"
#include "stages/shared/framing.h"
#include "stages/shared/launch_shapes.h"

typedef struct params {
    int64_t size, hop;
    int window, scale, colors;
    double range, top;
    bool smooth;
    int64_t width;
} params;

enum { DECIBELS, LINEAR };
static const char *const scales[] = {"db", "linear", NULL};
enum { FIRE, GRAY, NONE };
static const char *const colors[] = {"fire", "gray", "none", NULL};

static const smp_param table[] = {
    {"size", offsetof(params, size), SMP_T_INT, SMP_UNIT_NONE, 16, 8192, "1024",
     "samples of a frame, an even number: more tell frequencies apart, fewer tell moments apart", NULL, 0},
    {"hop", offsetof(params, hop), SMP_T_INT, SMP_UNIT_NONE, 1, 1e9, "auto",
     "samples from a frame to the next: a column of the picture each; auto: 256, or more to have 2000 columns", NULL,
     SMP_P_AUTO},
    {"width", offsetof(params, width), SMP_T_INT, SMP_UNIT_PX, 1, 1000000, "auto",
     "columns at most: the hop grows to fit; auto: as many as `hop` makes", NULL, SMP_P_AUTO},
    {"window", offsetof(params, window), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "hann", "how a frame fades at its ends",
     smp_taper_names, 0},
    {"scale", offsetof(params, scale), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "db",
     "what brightness stands for: the level in dB, or the magnitude", scales, 0},
    {"range", offsetof(params, range), SMP_T_FLOAT, SMP_UNIT_DB, 1, 400, "80dB",
     "with scale=db: how far below the brightest level black is", NULL, 0},
    {"top", offsetof(params, top), SMP_T_FLOAT, SMP_UNIT_DB, -200, 200, "0dB",
     "the brightest level; 0dB is a sine wave of full scale", NULL, 0},
    {"colors", offsetof(params, colors), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "fire",
     "the colour map; none: levels from 0 to 1 as float", colors, 0},
    {"smooth", offsetof(params, smooth), SMP_T_BOOL, SMP_UNIT_NONE, 0, 0, "no",
     "yes: in place of `size` the nearest one that the fast transform takes", NULL, 0},
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
    const int64_t size = k->size;
    double *turns = smp_alloc_array((size_t)size, sizeof *turns), sum = 0;
    if (!turns)
        return smp_fail_memory(err, "a table of cosines", (uint64_t)size * sizeof *turns);
    for (int64_t n = 0; n < size; n++) {
        turns[n] = cos(2 * 3.14159265358979323846 * (double)n / (double)size);
        sum += smp_taper_at(window, n, size);
    }
    for (int64_t n = 0; n < size; n++) {
        const double weight = smp_taper_at(window, n, size) * 2 / sum;
        for (int64_t bin = 0, at = 0; bin < k->bins; bin++) { /* at: n * bin modulo size */
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

static smp_code make_table(const smp_spectrogram_params *k, int window, smp_node_plan *work, smp_error *err)
{
    const size_t samples = k->fft.n ? (size_t)(k->size + smp_fourier_floats(&k->fft, true))
                                    : (size_t)smp_spectrogram_rows(k->size) * (size_t)k->pitch;
    work->table_size = (samples + 3 * SMP_SPECTROGRAM_COLORS) * sizeof(float);
    work->table = smp_alloc(work->table_size);
    if (!work->table)
        return smp_fail_memory(err, "the table of a spectrogram", work->table_size);
    fill_map(work->table);
    float *to = (float *)work->table + 3 * SMP_SPECTROGRAM_COLORS;
    if (!k->fft.n)
        return fill_waves(to, k, window, err);
    fill_window(to, window, k->size);
    smp_fourier_fill(&k->fft, true, to + k->size);
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

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by;
    const params *p = params_;
    if (hop_of(p, in->height) > INT32_MAX)
        return smp_fail(err, SMP_E_LIMIT, "the sound is too long for a picture of %lld columns", (long long)p->width);
    const int64_t hop = hop_of(p, in->height);
    const int64_t size = p->smooth ? 2 * smp_fourier_nearest(p->size / 2) : p->size;
    smp_spectrogram_params *k = (smp_spectrogram_params *)(void *)work->kernel;
    *k = (smp_spectrogram_params){
        .size = (int32_t)size,
        .hop = (int32_t)hop,
        .bins = (int32_t)(size / 2),
        .pitch = (int32_t)((size + SMP_MATMUL_BLOCK - 1) / SMP_MATMUL_BLOCK * SMP_MATMUL_BLOCK),
        .decibels = p->scale == DECIBELS,
        .colored = p->colors == FIRE,
    };
    if (p->scale == DECIBELS) { /* 10 log10(power) = 3.01 log2(power); `top - range` is 0 and `top` is 1 */
        k->scale = (float)(10 * log10(2) / p->range);
        k->offset = (float)((p->range - p->top) / p->range);
    } else {
        k->scale = (float)pow(10, -p->top / 20);
    }
    work->kernel_size = sizeof *k;
    work->out = (smp_shape){
        .kind = SMP_IMAGE,
        .width = (in->height + hop - 1) / hop,
        .height = k->bins * (int64_t)in->channels,
        .channels = p->colors == FIRE ? 3 : 1,
        .format = p->colors == NONE ? SMP_F32 : SMP_U8,
    };
    if (smp_fourier_plan(k->bins, &k->fft)) {
        work->between = (smp_shape){.width = work->out.width,
                                    .height = work->out.height,
                                    .channels = 1,
                                    .format = k->colored ? SMP_U8 : SMP_F32};
        work->ops = 5 * log2((double)size) / work->out.channels;
    } else {
        k->fft.n = 0;
        work->variants = product_variants;
        work->ops = 4. * (double)size / work->out.channels;
    }
    return make_table(k, p->window, work, err);
}

/* ------------------------------------------------------------------------------------------------ launches */

static void tiled_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_spectrogram_params *k = kernel;
    *grid = (smp_grid){
        .grid = {(unsigned)smp_clamp_i64((io->out.width + SMP_MATMUL_BLOCK - 1) / SMP_MATMUL_BLOCK, 1, INT32_MAX),
                 (unsigned)((k->bins + SMP_SPECTROGRAM_BINS - 1) / SMP_SPECTROGRAM_BINS), (unsigned)io->in.channels},
        .block = {SMP_MATMUL_THREADS, 1, 1},
    };
}

static size_t scratch(const smp_io *io, const void *kernel)
{
    (void)io, (void)kernel;
    return SMP_MATMUL_CPU_SCRATCH;
}

static const smp_variant product_variants[3] = {
    {.name = "naive",
     .help = "bin by bin: a frame from memory for every one",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(spectrogram_naive),
                   .cuda = "spectrogram_naive",
                   .geometry = smp_geometry_pixels}}},
    {.name = "register",
     .help = "the matrix product of frames with cosines and sines as matmul's register, on a CPU as its tiled; levels "
             "and colours at once",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(spectrogram_tiled),
                   .cuda = "spectrogram_tiled",
                   .geometry = tiled_geometry}},
     .scratch = scratch},
    {0},
};

static int64_t groups(const smp_io *io, const void *kernel)
{
    (void)kernel;
    return (io->out.width + SMP_SPECTROGRAM_GROUP - 1) / SMP_SPECTROGRAM_GROUP;
}

static size_t fft_scratch(const smp_io *io, const void *kernel)
{
    (void)io;
    return smp_spectrogram_scratch(kernel);
}

/* A block of threads for each frame and channel. numbers: of one of the two memories. */
static void frame_geometry(const smp_io *io, int bins, int numbers, smp_grid *grid)
{
    enum { WARP = 32, MOST = 256 };
    const int threads = (int)smp_clamp_i64((bins / 4 + WARP - 1) / WARP * WARP, WARP, MOST);
    smp_grid_striding_line(io->out.width, 1, threads, grid);
    grid->grid[1] = (unsigned)io->in.channels;
    grid->shared_bytes = (unsigned)(2 * numbers * (int)(2 * sizeof(float)));
}

static void plain_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_spectrogram_params *k = kernel;
    frame_geometry(io, k->bins, k->bins, grid);
}

static const char *padded_kernel(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_spectrogram_params *k = kernel;
    smp_grid wanted = *grid;
    frame_geometry(io, k->bins, k->bins + k->bins / 16 + 1, &wanted);
    if (grid->shared_most && wanted.shared_bytes > grid->shared_most)
        return NULL;
    *grid = wanted;
    return "spectrogram_fft_padded";
}

#define PAINT                                                                                                          \
    {                                                                                                                  \
        .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(spectrogram_paint), .cuda = "spectrogram_paint",            \
        .geometry = smp_geometry_pixels                                                                                \
    }

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "frame by frame through the Fourier transform; on GPUs in shared memory, with conflicts",
     .launches = {{.from = SMP_IN,
                   .to = SMP_SCRATCH,
                   .cpu = SMP_CPU(spectrogram_one),
                   .cuda = "spectrogram_fft",
                   .geometry = plain_geometry,
                   .once = true,
                   .items = groups},
                  PAINT},
     .scratch = fft_scratch},
    {.name = "padded",
     .help = "several frames side by side in vectors; on GPUs a number more after every sixteen: fewer conflicts",
     .launches = {{.from = SMP_IN,
                   .to = SMP_SCRATCH,
                   .cpu = SMP_CPU(spectrogram_lanes),
                   .decide = padded_kernel,
                   .once = true,
                   .items = groups},
                  PAINT},
     .scratch = fft_scratch},
    {0},
};

const smp_stage smp_stage_spectrogram = {
    .name = "spectrogram",
    .help = "the frequencies in a sound over time, as a picture",
    .about =
        "Time runs to the right, a column every `hop` samples; unless that or `width` is given, at most 2000 columns. "
        "Column x shows the `size` samples round sample x * hop, "
        "outside the sound silence. Frequency runs upwards, linearly: `size` / 2 rows from 0 at the bottom to just "
        "below half "
        "the sample rate, a row every rate / size Hz. Channels lie one above the other, the first on top (`remix mono` "
        "before makes one of them).\n"
        "A frame is weighted with the window and goes through the discrete Fourier transform, in f32: the fast one of "
        "kernels/lib/fft.h where `size` / 2 has no prime factor above 7, else the product with a matrix of cosines and "
        "sines, many times slower; smooth=yes takes the nearest size that has none. Levels are those of sine waves: "
        "one of full scale has 0 "
        "dB. scale=db shows `range` dB below `top`; scale=linear shows magnitudes, `top` being white.\n"
        "colors=none gives levels from 0 to 1 in float: `save` as .npy keeps them. NaN in a sound is black, and NaN "
        "with "
        "colors=none.",
    .example = "spectrogram size=44 hop=16 range=60dB",
    .domain = SMP_AUDIO,
    .gives = SMP_IMAGE,
    .access = SMP_WHOLE,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"sonogram", "spectrogram"},
                                   {"spectrum", "spectrogram"},
                                   {"showspectrumpic", "spectrogram"},
                                   {"specgram", "spectrogram"},
                                   {0}},
};
