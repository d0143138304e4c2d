/* stats: what the samples of a picture or a sound are like, per channel; the data passes on. */
#include "stats.h"

#include "stages/counting.h"
#include "stages/stage.h"
#include <math.h>
#include <stdio.h>

typedef struct params {
    const char *name;
    smp_matrix percentiles;
} params;

static const smp_param table[] = {
    {"percentiles", offsetof(params, percentiles), SMP_T_MATRIX, SMP_UNIT_NONE, 0, 100, NULL,
     "percentiles to report, 0 to 100, as in [5 50 95]", NULL, SMP_P_MAIN},
    {"name", offsetof(params, name), SMP_T_STRING, SMP_UNIT_NONE, 0, 0, NULL, "what reports call these results", NULL,
     0},
    {0},
};

enum { COUNTS_ALIGN = 64 /* bytes */ };

static int64_t percentile_count(const params *p)
{
    return (int64_t)p->percentiles.rows * p->percentiles.cols;
}

/* The leaves come first; when percentiles are asked for, a histogram of every value (8 and 16 bits) or of 65536 bins
 * (float) lies behind them, and the second launch of the variants counts into it. */
static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by, (void)err;
    const params *p = params_;
    smp_histogram_params *k = (smp_histogram_params *)(void *)work->kernel;
    *k = smp_histogram_over(in->format == SMP_U8 ? 256 : SMP_MAX_BINS, in->kind == SMP_AUDIO);
    work->kernel_size = sizeof *k;
    size_t leaves = (size_t)smp_leaf_count(in->width, in->height) * (size_t)in->channels * sizeof(smp_stats_leaf);
    work->result = SMP_RESULT_LEAVES;
    work->result_size = leaves;
    if (percentile_count(p) > 0) {
        work->result = SMP_RESULT_LEAVES_COUNTS;
        work->counts_at = (leaves + COUNTS_ALIGN - 1) / COUNTS_ALIGN * COUNTS_ALIGN;
        work->result_size = work->counts_at + (size_t)in->channels * (size_t)(k->bins + 1) * sizeof(uint64_t);
    }
    work->exactness = SMP_REAL; /* measures what flows by, before any rounding */
    work->ops = 6;
    return SMP_OK;
}

/* Folds the leaves of one channel as a binary tree over their numbers: subtree k of the stack holds 2^k leaves, as the
 * digits of a binary counter. */
static smp_stats_leaf fold(const smp_stats_leaf *leaves, int64_t count, int channels, int channel)
{
    smp_stats_leaf stack[64];
    int depth = 0;
    for (int64_t i = 0; i < count; i++) {
        smp_stats_leaf tree = leaves[i * channels + channel];
        for (int64_t rest = i; rest & 1; rest >>= 1)
            tree = smp_stats_join(stack[--depth], tree);
        stack[depth++] = tree;
    }
    smp_stats_leaf all = stack[--depth];
    while (depth > 0)
        all = smp_stats_join(stack[--depth], all);
    return all;
}

/* The value of the sample of rank `rank` (0: the smallest), as its bin says. */
static double ranked(const uint64_t *counts, const smp_histogram_params *k, uint64_t rank, const smp_shape *in,
                     const smp_stats_leaf *all)
{
    int32_t bin = 0;
    for (uint64_t below = counts[0]; bin < k->bins - 1 && below <= rank; below += counts[bin])
        bin++;
    if (in->format != SMP_F32)
        return bin;
    double middle = (double)k->low + (bin + 0.5) / (double)k->scale;
    return fmin(fmax(middle, (double)all->min), (double)all->max);
}

/* Linear between the two nearest ranks, as NumPy's default: rank (n - 1) * percent / 100. */
static double percentile(const uint64_t *counts, const smp_histogram_params *k, double percent, const smp_shape *in,
                         const smp_stats_leaf *all)
{
    uint64_t n = 0;
    for (int32_t i = 0; i < k->bins; i++)
        n += counts[i];
    if (n == 0)
        return (double)NAN;
    double at = (double)(n - 1) * percent / 100., low = floor(at);
    double a = ranked(counts, k, (uint64_t)low, in, all);
    return at > low ? a + (at - low) * (ranked(counts, k, (uint64_t)low + 1, in, all) - a) : a;
}

static smp_code finish(const void *params_, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_findings *findings, smp_error *err)
{
    const params *p = params_;
    const smp_histogram_params *k = (const smp_histogram_params *)(const void *)work->kernel;
    for (int c = 0; c < in->channels; c++) {
        smp_stats_leaf all = fold(result, smp_leaf_count(in->width, in->height), in->channels, c);
        double samples = (double)in->width * (double)in->height, n = (double)all.count;
        bool some = all.count > 0;
        double mean = some ? all.sum / n : (double)NAN;
        const struct {
            const char *name;
            double value;
        } values[] = {
            {"count", samples},
            {"nonfinite", samples - n},
            {"min", some ? (double)all.min : (double)NAN},
            {"max", some ? (double)all.max : (double)NAN},
            {"mean", mean},
            {"deviation", some ? sqrt(all.squares / n) : (double)NAN},
            {"sum", all.sum},
            {"rms", some ? sqrt(all.squares / n + mean * mean) : (double)NAN},
            {"peak", some ? fmax(fabs((double)all.min), fabs((double)all.max)) : (double)NAN},
        };
        smp_code code = SMP_OK;
        for (size_t i = 0; i < sizeof values / sizeof values[0] && !code; i++)
            if (i != 1 || in->format == SMP_F32 || all.count < (int64_t)samples)
                code = smp_findings_add(findings, values[i].name, c, values[i].value, err);
        for (int64_t i = 0; i < percentile_count(p) && !code; i++) {
            char name[32];
            const double percent = p->percentiles.values[i];
            const uint64_t *counts = (const uint64_t *)(const void *)((const char *)result + work->counts_at);
            snprintf(name, sizeof name, "p%g", percent);
            code = smp_findings_add(findings, name, c,
                                    percentile(counts + smp_histogram_slot(k->bins, c, 0), k, percent, in, &all), err);
        }
        if (code)
            return code;
    }
    return SMP_OK;
}

/* Leaves of the launch, of every channel by itself when apart, `threads` threads each. */
static void leaf_grid(const smp_io *io, bool apart, int threads, int block, smp_grid *grid)
{
    const int64_t rows = smp_leaf_rows(io->in.width);
    const int64_t leaves = smp_leaves_across(io->in.width) * ((io->out.rows + rows - 1) / rows);
    const int64_t blocks = (leaves * (apart ? io->in.channels : 1) * threads + block - 1) / block;
    *grid = (smp_grid){.grid = {(unsigned)blocks, 1, 1}, .block = {(unsigned)block, 1, 1}};
}

enum { NAIVE_BLOCK = 64 /* threads */ };

static void geometry_naive(const smp_io *io, const void *params_, smp_grid *grid)
{
    (void)params_;
    leaf_grid(io, true, 1, NAIVE_BLOCK, grid);
}

static void geometry_tree(const smp_io *io, const void *params_, smp_grid *grid)
{
    (void)params_;
    leaf_grid(io, true, SMP_LANES, SMP_STATS_THREADS, grid);
}

static void geometry_shuffle(const smp_io *io, const void *params_, smp_grid *grid)
{
    (void)params_;
    leaf_grid(io, io->in.channels > SMP_STATS_TOGETHER, SMP_LANES, SMP_STATS_SHUFFLE, grid);
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "sample by sample, lane sums in memory",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(stats_naive), "stats_naive", geometry_naive, false},
                  {SMP_IN, SMP_OUT, SMP_CPU(histogram_naive), "histogram_naive", smp_geometry_count_each, true}}},
    {.name = "interleaved",
     .help = "on GPUs a tree in shared memory with growing strides: bank conflicts",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(stats_tiled), "stats_interleaved", geometry_tree, false},
                  {SMP_IN, SMP_OUT, SMP_CPU(histogram_tiled), "histogram_tiled", smp_geometry_count_tiled, true}},
     .scratch = smp_stats_scratch},
    {.name = "tiled",
     .help = "one accumulator for each position of a block of samples; on GPUs a tree over neighbours: no conflicts",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(stats_tiled), "stats_tiled", geometry_tree, false},
                  {SMP_IN, SMP_OUT, SMP_CPU(histogram_tiled), "histogram_tiled", smp_geometry_count_tiled, true}},
     .scratch = smp_stats_scratch},
    {.name = "shuffle",
     .help = "on GPUs lanes add through registers, 16-byte loads: no shared memory",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(stats_tiled), "stats_shuffle", geometry_shuffle, false},
                  {SMP_IN, SMP_OUT, SMP_CPU(histogram_tiled), "histogram_private", smp_geometry_count_private, true}},
     .scratch = smp_stats_scratch},
    {0},
};

const smp_stage smp_stage_stats = {
    .name = "stats",
    .help = "count, min, max, mean, deviation, sum, rms, peak and percentiles per channel; passes data on",
    .about =
        "Values are code values: 0..255, 0..65535, or full scale 1 for float pictures and sound. The deviation is the "
        "population's: the root of the mean squared distance from the mean; rms is the root of the mean square; peak "
        "the "
        "largest magnitude. Samples that are not finite are counted and otherwise left out. Sums are exact for 8 and "
        "16 bits; for others they are made in double in a fixed tree over leaves of 4096 pixels, so that they depend "
        "neither on threads nor on the device (joining of leaves: Chan, Golub, LeVeque 1983).\n"
        "Percentiles interpolate between the nearest ranks, as NumPy does by default; they are exact for 8 and 16 "
        "bits, "
        "float samples come from 65536 bins over full scale.",
    .example = "stats percentiles=[5 50 95]",
    .domain = SMP_BOTH,
    .access = SMP_REDUCE,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .finish = finish,
    .variants = variants,
    .aliases = (const smp_alias[]){{"statistics", "stats"},
                                   {"mean", "stats"},
                                   {"minmax", "stats"},
                                   {"stat", "stats"},
                                   {"percentile", "stats percentiles=[50]"},

                                   {0}},
};
