/* stats: what the samples of a picture or a sound are like, per channel; the data passes on. */
#include "reduce/stats.h"

#include "base/alloc.h"
#include "stages/shared/reduce/counting.h"
#include "stages/shared/reduce/moments.h"
#include "stages/shared/reduce/reduction_chunks.h"
#include "stages/stage.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct params {
    const char *name;
    smp_matrix percentiles;
} params;

static const smp_param table[] = {
    SMP_PARAM_MATRIX(percentiles, NONE, 0, 100, NULL, "percentiles to report, 0 to 100, as in [5 50 95]", SMP_P_MAIN),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

static int64_t percentile_count(const params *p)
{
    return (int64_t)p->percentiles.rows * p->percentiles.cols;
}

/* The chunks come first; when percentiles are asked for, a histogram of every value (8 and 16 bits) or of 65536 bins
 * (float) lies behind them, and the second launch of the variants counts into it. */
static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = params_;
    smp_histogram_params *k = SMP_PLAN_KERNEL(work, smp_histogram_params);
    *k = smp_histogram_over(in->format == SMP_U8 ? 256 : SMP_MAX_BINS, in->kind == SMP_AUDIO);
    enum { COUNTS_ALIGN = 64 /* bytes */ };
    size_t chunks = smp_chunk_bytes(in);
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = chunks;
    if (percentile_count(p) > 0 || in->kind == SMP_AUDIO) { /* of a sound, the outermost bins are what is clipped */
        work->reduction.kind = SMP_RESULT_CHUNKS_COUNTS;
        work->reduction.counts_at = (chunks + COUNTS_ALIGN - 1) / COUNTS_ALIGN * COUNTS_ALIGN;
        work->reduction.size =
            work->reduction.counts_at + (size_t)in->channels * (size_t)(k->bins + 1) * sizeof(uint64_t);
    }
    work->values.exactness = SMP_REAL; /* measures what flows by, before any rounding */
    work->ops = 6;
    return SMP_OK;
}

/* Measurements of one file, or of several that were joined: records of the channels, the percentiles asked for, and the
 * counts that answer them, one after the other. */
typedef struct record {
    smp_moments moments;
    int64_t samples; /* with those that are not finite */
    int64_t clipped; /* of a sound: samples at full scale or beyond */
} record;

typedef struct partial {
    int32_t channels;
    smp_format format;
    bool sound;
    int64_t percentiles;
    smp_histogram_params k;
} partial;

static record *records(const partial *t)
{
    return (record *)(void *)((uintptr_t)t + sizeof *t);
}

static double *percents(const partial *t)
{
    return (double *)(void *)(records(t) + t->channels);
}

static uint64_t *counts_of(const partial *t)
{
    return (uint64_t *)(void *)(percents(t) + t->percentiles);
}

static size_t slots(const partial *t)
{
    return t->percentiles ? (size_t)t->channels * (size_t)(t->k.bins + 1) : 0;
}

/* Room for what the head says. */
static smp_code make(const partial *head, void **out, smp_error *err)
{
    const size_t size = sizeof *head + (size_t)head->channels * sizeof(record) +
                        (size_t)head->percentiles * sizeof(double) + slots(head) * sizeof(uint64_t);
    partial *t = smp_alloc(size);
    *out = t;
    SMP_NEED(t, "statistics", size, err);
    *t = *head;
    return SMP_OK;
}

static partial head_of(const smp_shape *in, int64_t percentiles)
{
    const bool sound = in->kind == SMP_AUDIO;
    return (partial){.channels = in->channels,
                     .format = in->format,
                     .sound = sound,
                     .percentiles = percentiles,
                     .k = smp_histogram_over(in->format == SMP_U8 ? 256 : SMP_MAX_BINS, sound)};
}

static smp_code make_partial(const void *params_, const smp_shape *in, const smp_node_plan *work, const void *result,
                             void **out, smp_error *err)
{
    const params *p = params_;
    const partial head = head_of(in, percentile_count(p));
    SMP_TRY(make(&head, out, err));
    partial *t = *out;
    const uint64_t *counts = (const uint64_t *)(const void *)((const char *)result + work->reduction.counts_at);
    for (int c = 0; c < in->channels; c++) {
        const smp_stats_chunk all = smp_chunks_fold(result, in, c);
        smp_moments_of(&all, &records(t)[c].moments);
        records(t)[c].samples = in->width * in->height;
        if (head.sound) {
            const uint64_t *plane = counts + smp_histogram_slot(head.k.bins, c, 0);
            records(t)[c].clipped = (int64_t)(plane[0] + plane[head.k.bins - 1]);
        }
    }
    for (int64_t i = 0; i < head.percentiles; i++)
        percents(t)[i] = p->percentiles.values[i];
    if (slots(t))
        memcpy(counts_of(t), counts, slots(t) * sizeof(uint64_t));
    return SMP_OK;
}

static bool measure_alike(const partial *a, const partial *b)
{
    if (a->channels != b->channels || a->format != b->format || a->sound != b->sound ||
        a->percentiles != b->percentiles ||
        (a->percentiles && memcmp(percents(a), percents(b), (size_t)a->percentiles * sizeof(double)) != 0))
        return false;
    for (int c = 0; c < a->channels; c++)
        if (records(b)[c].samples > SMP_MOMENTS_MOST - records(a)[c].samples)
            return false;
    return true;
}

static smp_code merge(void **total_, const void *more_, bool *alike, smp_error *)
{
    partial *total = *total_;
    const partial *more = more_;
    *alike = measure_alike(total, more);
    if (!*alike)
        return SMP_OK;
    for (int c = 0; c < total->channels; c++) {
        smp_moments_join(&records(total)[c].moments, &records(more)[c].moments);
        records(total)[c].samples += records(more)[c].samples;
        records(total)[c].clipped += records(more)[c].clipped;
    }
    for (size_t i = 0; i < slots(total); i++)
        counts_of(total)[i] += counts_of(more)[i];
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ bytes */

static void pack(const void *partial_, smp_packer *to)
{
    const partial *t = partial_;
    smp_pack_uint(to, (uint64_t)t->percentiles);
    for (int64_t i = 0; i < t->percentiles; i++)
        smp_pack_double(to, percents(t)[i]);
    for (int c = 0; c < t->channels; c++) {
        const record *r = &records(t)[c];
        smp_pack_uint(to, (uint64_t)r->samples);
        smp_pack_uint(to, (uint64_t)r->moments.count);
        smp_pack_uint(to, (uint64_t)r->clipped);
        smp_moments_pack(&r->moments, to);
    }
    for (size_t i = 0; i < slots(t); i++)
        smp_pack_uint(to, counts_of(t)[i]);
}

static void unpack_into(partial *t, smp_unpacker *from)
{
    for (int64_t i = 0; i < t->percentiles; i++) {
        const double percent = percents(t)[i] = smp_unpack_double(from);
        from->failed |= !(percent >= 0 && percent <= 100);
    }
    for (int c = 0; c < t->channels; c++) {
        record *r = &records(t)[c];
        r->samples = (int64_t)smp_unpack_upto(from, SMP_MOMENTS_MOST);
        r->moments.count = (int64_t)smp_unpack_upto(from, (uint64_t)r->samples);
        r->clipped = (int64_t)smp_unpack_upto(from, (uint64_t)r->samples);
        smp_moments_unpack(from, &r->moments);
    }
    for (size_t i = 0, each = (size_t)t->k.bins + 1; i < slots(t); i += each) { /* each sample is in a bin */
        uint64_t rest = (uint64_t)records(t)[i / each].samples;
        for (size_t bin = 0; bin < each && !from->failed; bin++)
            rest -= counts_of(t)[i + bin] = smp_unpack_upto(from, rest);
        from->failed |= rest != 0;
    }
}

static smp_code unpack(const smp_shape *in, smp_unpacker *from, void **out, smp_error *err)
{
    const partial head = head_of(in, (int64_t)smp_unpack_count(from, sizeof(double)));
    SMP_TRY(make(&head, out, err));
    unpack_into(*out, from);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ measurements */

/* The value of the sample of rank `rank` of n (0: the smallest), as its bin says. Sound beyond full scale is in the
 * first and the last bin, and counts as full scale: but the least and the most sample are known. */
static double ranked(const partial *t, const uint64_t *counts, uint64_t rank, uint64_t n, const smp_stats_chunk *all)
{
    int32_t bin = 0;
    for (uint64_t below = counts[0]; bin < t->k.bins - 1 && below <= rank; below += counts[bin])
        bin++;
    if (t->format != SMP_F32)
        return bin;
    if (t->sound && bin == 0 && all->min < -1)
        return rank == 0 ? (double)all->min : -1;
    if (t->sound && bin == t->k.bins - 1 && all->max > 1)
        return rank == n - 1 ? (double)all->max : 1;
    double middle = (double)t->k.low + (bin + 0.5) / (double)t->k.scale;
    return fmin(fmax(middle, (double)all->min), (double)all->max);
}

/* Linear between the two nearest ranks, as NumPy's default: rank (n - 1) * percent / 100. */
static double percentile(const partial *t, int channel, double percent, const smp_stats_chunk *all)
{
    const uint64_t *counts = counts_of(t) + smp_histogram_slot(t->k.bins, channel, 0);
    uint64_t n = 0;
    for (int32_t i = 0; i < t->k.bins; i++)
        n += counts[i];
    if (n == 0)
        return (double)NAN;
    double at = (double)(n - 1) * percent / 100., low = floor(at);
    double a = ranked(t, counts, (uint64_t)low, n, all);
    return at > low ? a + (at - low) * (ranked(t, counts, (uint64_t)low + 1, n, all) - a) : a;
}

/* Reports levels as sound engineers do: levels below full scale, in dB. A sine of full scale has an rms of -3.01
 * dBFS. */
static smp_code report_levels(const smp_stats_chunk *all, int64_t clipped, int channel, smp_measurements *measurements,
                              smp_error *err)
{
    const double n = (double)all->count, mean = all->sum / n;
    const double rms = sqrt(all->squares / n + mean * mean);
    const double peak = fmax(fabs((double)all->min), fabs((double)all->max));
    const struct {
        const char *name;
        double value;
    } values[] = {
        {"peak_dbfs", 20 * log10(peak)},
        {"rms_dbfs", 20 * log10(rms)},
        {"crest_db", peak > 0 ? 20 * log10(peak / rms) : (double)NAN},
        {"dc", mean},
        {"clipped", (double)clipped},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        SMP_TRY(smp_measurements_add(measurements, values[i].name, channel, values[i].value, err));
    return SMP_OK;
}

static smp_code report(const void *partial_, smp_measurements *measurements, smp_error *err)
{
    const partial *t = partial_;
    for (int c = 0; c < t->channels; c++) {
        const smp_stats_chunk all = smp_moments_read(&records(t)[c].moments);
        double samples = (double)records(t)[c].samples, n = (double)all.count;
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
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
            if (i != 1 || t->format == SMP_F32 || all.count < records(t)[c].samples)
                SMP_TRY(smp_measurements_add(measurements, values[i].name, c, values[i].value, err));
        if (t->sound && some)
            SMP_TRY(report_levels(&all, records(t)[c].clipped, c, measurements, err));
        for (int64_t i = 0; i < t->percentiles; i++) {
            char name[32];
            snprintf(name, sizeof name, "p%g", percents(t)[i]);
            SMP_TRY(smp_measurements_add(measurements, name, c, percentile(t, c, percents(t)[i], &all), err));
        }
    }
    return SMP_OK;
}

/* Whether a percentile lies in the first or the last bin, beside samples that lie outside the bins. */
static bool reaches_outside(const partial *t, int channel, smp_extent *extent)
{
    const uint64_t *counts = counts_of(t) + smp_histogram_slot(t->k.bins, channel, 0);
    const record *r = &records(t)[channel];
    const smp_stats_chunk all = smp_moments_read(&r->moments);
    uint64_t n = 0;
    bool low = false, high = false;
    for (int32_t i = 0; i < t->k.bins; i++)
        n += counts[i];
    for (int64_t i = 0; n && i < t->percentiles; i++) {
        const double at = (double)(n - 1) * percents(t)[i] / 100.;
        low |= floor(at) < (double)counts[0];
        high |= ceil(at) >= (double)(n - counts[t->k.bins - 1]);
    }
    smp_extent_add(extent, &t->k, &all, (uint64_t)(r->samples - all.count), counts[t->k.bins]);
    return (low && extent->below) || (high && extent->above);
}

static smp_code finish(const void *params_, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    void *made;
    smp_code code = make_partial(params_, in, work, result, &made, err);
    const partial *t = made;
    code = code ? code : report(t, measurements, err);
    work->reduction.outside[0] = '\0';
    for (int c = 0; !code && t->format == SMP_F32 && t->percentiles && c < t->channels; c++) {
        smp_extent extent = {.least = 1, .most = 0};
        if (reaches_outside(t, c, &extent) && (!t->sound || extent.infinite))
            smp_count_outside(&extent, &t->k, work);
    }
    smp_free(made);
    return code;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample, lane sums in memory",
              SMP_LAUNCH(stats_naive, .geometry = smp_geometry_chunk_naive),
              SMP_LAUNCH(histogram_naive, .geometry = smp_geometry_count_each, .counts = true))},
    {SMP_RUNG("interleaved", "on GPUs a tree in shared memory with growing strides: bank conflicts",
              SMP_LAUNCH_AS(stats_tiled, .cuda = "stats_interleaved", .geometry = smp_geometry_chunk_tree),
              SMP_LAUNCH(histogram_tiled, .geometry = smp_geometry_count_tiled, .counts = true)),
     .scratch = smp_stats_scratch},
    {SMP_RUNG("tiled",
              "one accumulator for each position of a block of samples; on GPUs a tree over neighbours: no conflicts",
              SMP_LAUNCH(stats_tiled, .geometry = smp_geometry_chunk_tree),
              SMP_LAUNCH(histogram_tiled, .geometry = smp_geometry_count_tiled, .counts = true)),
     .scratch = smp_stats_scratch},
    {SMP_RUNG("shuffle", "on GPUs lanes add through registers, 16-byte loads: no shared memory",
              SMP_LAUNCH_AS(stats_tiled, .cuda = "stats_shuffle", .geometry = smp_geometry_chunk_shuffle),
              SMP_LAUNCH_AS(histogram_tiled, .counts = true, .decide = smp_count_private)),
     .scratch = smp_stats_scratch},
    {0},
};

const smp_stage smp_stage_stats = {
    .name = "stats",
    .help = "count, min, max, mean, deviation, sum, rms, peak and percentiles per channel; passes data on",
    .about = "Values are code values: 0..255, 0..65535, or full scale 1 for float pictures and sound. The deviation is "
             "the population's: the root of the mean squared distance from the mean; rms is the root of the mean "
             "square; peak the largest magnitude. Samples that are not finite are counted and otherwise left out. Sums "
             "are exact for 8 and 16 bits; for others they are made in double in a fixed tree over chunks of 4096 "
             "pixels, so that they depend neither on threads nor on the device (joining of chunks: Chan, Golub, "
             "LeVeque 1983). Over several files sums are exact, and the same in any order.\n"
             "Percentiles interpolate between the nearest ranks, as NumPy does by default; they are exact for 8 and 16 "
             "bits, float samples come from 65536 bins over full scale, which the percentiles must not lie outside. "
             "Samples of "
             "sound beyond full scale count as full scale, 1 or -1; percentiles 0 and 100 are the least and the most.\n"
             "Of sound also: peak_dbfs and rms_dbfs, relative to full scale 1 (a sine of full scale has an rms of "
             "-3.01 dBFS); crest_db, the peak over the rms; dc, the mean; clipped, the samples at full scale or "
             "beyond: the highest and the lowest code of 16 bits, and what lies outside them.",
    .example = "stats percentiles=[5 50 95]",
    SMP_PLANNED(SMP_BOTH, SMP_REDUCE, table, params, variants),
    .reduction =
        SMP_REDUCTION(.finish = finish, .partials = SMP_PARTIALS(.make = make_partial, .merge = merge, .report = report,
                                                                 .pack = pack, .unpack = unpack)),
    SMP_ALSO({"statistics mean minmax stat astats volumedetect", "stats"}, {"percentile", "stats percentiles=[50]"}),
};
