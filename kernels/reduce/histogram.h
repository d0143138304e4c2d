/* histogram: how often each value occurs. Parameters, the rule that assigns a value to a bin, and the kernels. Stages
 * that adjust a picture to its histogram (equalize, levels, threshold) and percentiles use the same kernels: their own
 * kernel parameters begin with smp_histogram_params.
 *
 * Result (SMP_RESULT_COUNTS): uint64_t [planes][bins + 1]; the last of a plane counts NaN.
 *
 * The bin must not depend on how samples are stored: code values of 8 and 16 bits are rounded as the last store would
 * round them, then bin = code * bins / 2^8 (or 2^16) in integers. Float samples: bin = trunc((v - low) * scale), each
 * operation rounded to f32; the bins cover 0..1 for pictures and -1..1 for sound. Values outside count in the first and
 * the last bin, 1 itself in the last. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/tuning.h"

enum { SMP_MAX_BINS = 65536 };

typedef struct smp_histogram_params {
    int32_t bins;     /* 1..SMP_MAX_BINS */
    float low, scale; /* of float samples: the lower end of the first bin, and bins a unit */
    int32_t colours;  /* 0: each channel by itself; n: one histogram of the weighted sum of the first n channels */
    float weights[SMP_MAX_CHANNELS]; /* of those; summed in this order, each product and sum rounded to f32 */
} smp_histogram_params;

SMP_HOST_DEVICE int32_t smp_histogram_planes(const smp_histogram_params *p, int32_t channels)
{
    return p->colours ? 1 : channels;
}

/* Index of the count of `bin` in a plane; bin == bins: NaN. */
SMP_HOST_DEVICE int64_t smp_histogram_slot(int32_t bins, int32_t plane, int32_t bin)
{
    return (int64_t)plane * (bins + 1) + bin;
}

/* Parameters for `bins` bins a channel. */
SMP_HOST_DEVICE smp_histogram_params smp_histogram_over(int32_t bins, int sound)
{
    smp_histogram_params p = {bins, sound ? -1.f : 0.f, sound ? (float)bins / 2.f : (float)bins, 0, {0.f}};
    return p;
}

/* The bin of code value v, 0..bins-1, or bins for NaN. */
SMP_HOST_DEVICE int32_t smp_histogram_bin(float v, float white, const smp_histogram_params *p)
{
    int32_t bin;
    if (white == 1.f) {
        float s = (v - p->low) * p->scale, last = (float)(p->bins - 1);
        s = s > 0.f ? s : 0.f;
        s = s < last ? s : last;
        bin = (int32_t)s;
    } else {
        uint32_t code = (uint32_t)(int32_t)smp_round_to(v, white);
        bin = (int32_t)((code * (uint32_t)p->bins) >> (white == 255.f ? 8 : 16));
    }
    return v == v ? bin : p->bins;
}

/* The weighted sum of a pixel's first `colours` channels. `most`: a constant at least as large, so that GPUs unroll the
 * loop and keep the pixel in registers. */
SMP_HOST_DEVICE float smp_histogram_luma_of(const float *pixel, const smp_histogram_params *p, const int32_t most)
{
    float sum = p->weights[0] * pixel[0];
    for (int32_t c = 1; c < most; c++)
        if (c < p->colours)
            sum = sum + p->weights[c] * pixel[c];
    return sum;
}
SMP_HOST_DEVICE float smp_histogram_luma(const float *pixel, const smp_histogram_params *p)
{
    return smp_histogram_luma_of(pixel, p, p->colours);
}

/* The tiled CPU kernel has several tables of 32-bit counters, so that equal neighbours count in different ones. */
enum {
    SMP_HISTOGRAM_SPREAD = 8,            /* neighbouring samples that count in different tables, at least */
    SMP_HISTOGRAM_MAX_BINS = 1024,       /* the most bins for which that many tables are kept */
    SMP_HISTOGRAM_PAD = 16,              /* entries between tables, so that they start in different cache sets */
    SMP_HISTOGRAM_PAIRS = 256 * 257 / 2, /* of bytes, in any order */
    SMP_HISTOGRAM_PAIRS_FROM = 1 << 19   /* pixels of a call from which pairs are worth emptying */
};

/* Tables for `planes` histograms: a multiple of planes. */
SMP_HOST_DEVICE int32_t smp_histogram_tables(int32_t planes)
{
    return planes * ((SMP_HISTOGRAM_SPREAD + planes - 1) / planes);
}

/* u8 is counted by code value and sorted into bins at the end, other formats by bin. */
SMP_HOST_DEVICE int32_t smp_histogram_by_code(const smp_histogram_params *p, int32_t format)
{
    return format == SMP_U8 && !p->colours;
}

/* smp_variant.scratch of the tiled kernel; params begins with smp_histogram_params. */
static inline size_t smp_histogram_scratch(const smp_io *io, const void *params)
{
    const smp_histogram_params *p = (const smp_histogram_params *)params;
    int32_t bins = p->bins <= SMP_HISTOGRAM_MAX_BINS ? p->bins : 0;
    if (io->in.format == SMP_U8 && bins < 256)
        bins = 256;
    int32_t tables = smp_histogram_tables(smp_histogram_planes(p, io->in.channels));
    size_t pairs = smp_histogram_by_code(p, io->in.format) && io->in.channels == 1 ? SMP_HISTOGRAM_PAIRS : 0;
    return (size_t)tables * (size_t)(bins + 1 + SMP_HISTOGRAM_PAD) * sizeof(uint32_t) +
           pairs * (sizeof(uint32_t) + sizeof(uint8_t));
}

/* Counters that GPU kernels keep. */
SMP_HOST_DEVICE int32_t smp_histogram_counters(const smp_histogram_params *p, int32_t format, int32_t channels)
{
    return smp_histogram_by_code(p, format) ? 256 * channels : smp_histogram_planes(p, channels) * (p->bins + 1);
}
/* Counters of a block when the histogram is cut into `parts`, each counted by blocks of its own. */
SMP_HOST_DEVICE int32_t smp_histogram_part(int32_t counters, int32_t parts)
{
    return (counters + parts - 1) / parts;
}

SMP_CPU_DECLARE(histogram_naive);
SMP_CPU_DECLARE(histogram_tiled);
