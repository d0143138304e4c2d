/* Loudness by EBU R 128: see loudness.h. */
#include "stages/shared/sound/loudness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/loudness.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/order.h"
#include "media/speakers.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/sound/biquads.h"

enum { WARP = 32 };

static int64_t segments(const smp_io *io, const smp_loudness *p)
{
    const int64_t each = p->segments.length / p->piece, first = smp_pieces_before(p, io->out.y0, io->in.height),
                  end = smp_pieces_before(p, io->out.y0 + io->out.rows, io->in.height);
    return first < end ? (end + each - 1) / each - first / each : 0;
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_grid_line(segments(io, kernel) * io->in.channels, WARP, WARP, grid);
}

static void tiled_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_grid_line(segments(io, kernel), WARP / io->in.channels, WARP, grid);
}

static size_t scratch(const smp_io *, const void *)
{
    return smp_loudness_scratch();
}

const smp_variant smp_loudness_variants[] = {
    {SMP_RUNG("naive",
              "one segment after the other; on GPUs a thread a segment and channel, which reads its own frames",
              SMP_LAUNCH(loudness_naive, .geometry = naive_geometry)),
     .band = SMP_BIQUAD_SEGMENT},
    {SMP_RUNG("tiled",
              "segments and channels side by side in vectors; on GPUs frames turned in shared memory, with conflicts",
              SMP_LAUNCH(loudness_tiled, .geometry = tiled_geometry)),
     .scratch = scratch, .band = SMP_BIQUAD_SEGMENT},
    {SMP_RUNG("padded", "a frame more in each row of shared memory: no conflicts (GPU; on a CPU as tiled)",
              SMP_LAUNCH_AS(loudness_tiled, .cuda = "loudness_padded", .geometry = tiled_geometry)),
     .scratch = scratch, .band = SMP_BIQUAD_SEGMENT},
    {0},
};

/* The filters of BS.1770-4, annex 1, for any rate: the analogue ones behind its tables at 48 kHz, by the bilinear
 * transform. */
static void design(double rate, smp_biquad *shelf, smp_biquad *high)
{
    const double pi = 3.14159265358979323846;
    double frequency = 1681.974450955533, q = 0.7071752369554196, k = tan(pi * frequency / rate),
           a0 = 1 + k / q + k * k;
    const double gain = pow(10, 3.999843853973347 / 20), middle = pow(gain, 0.4996667741545416);
    *shelf = (smp_biquad){(gain + middle * k / q + k * k) / a0, 2 * (k * k - gain) / a0,
                          (gain - middle * k / q + k * k) / a0, 2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0};
    frequency = 38.13547087602444, q = 0.5003270373238773, k = tan(pi * frequency / rate), a0 = 1 + k / q + k * k;
    *high = (smp_biquad){1, -2, 1, 2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0};
}

static int64_t pieces(const smp_loudness *p, const smp_shape *in)
{
    return smp_pieces_before(p, in->height, in->height);
}

smp_code smp_loudness_plan(const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    enum { LEAST = 4000, TWICE = 96000, NONE = 192000 /* Hz */ };
    smp_loudness *p = SMP_PLAN_KERNEL(work, smp_loudness);
    if (!(in->rate >= LEAST))
        return smp_fail(err, SMP_E_PIPE, "loudness is defined for rates of %d Hz and more; the sound has %.6g Hz",
                        LEAST, in->rate),
               smp_hint(err, "measure its level with stats");
    design(in->rate, &p->shelf, &p->high);
    const smp_biquad both[] = {p->shelf, p->high};
    SMP_TRY(smp_segments_of(both, 2, &p->segments, err));
    p->piece = (int64_t)floor((in->rate + 5) / 10);
    p->segments.length = (p->segments.length + p->piece - 1) / p->piece * p->piece;
    p->phases = in->rate < TWICE ? SMP_PEAK_PHASES : in->rate < NONE ? SMP_PEAK_PHASES / 2 : 0;
    work->rows.up = smp_segments_reach(&p->segments, in->height);
    work->rows.unit = SMP_BIQUAD_SEGMENT;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    SMP_NEED(
        smp_mul_size((size_t)pieces(p, in), (size_t)in->channels * sizeof(smp_loudness_piece), &work->reduction.size),
        "the loudness of a sound", UINT64_MAX, err);
    work->ops = 18 + 2. * SMP_PEAK_TAPS * p->phases;
    return SMP_OK;
}

/* Rear and side speakers count 1.5 dB more, low frequency effects nothing. The bits of WAV's dwChannelMask. */
static double weight(const smp_shape *in, int channel)
{
    enum { LFE = 1 << 3, BACK = 1 << 4 | 1 << 5 | 1 << 8, SIDE = 1 << 9 | 1 << 10 };
    uint32_t mask = in->speakers ? in->speakers : smp_usual_speakers(in->channels);
    for (int i = 0; i < channel; i++)
        mask &= mask - 1;
    const uint32_t speaker = mask & (0 - mask);
    return speaker & LFE ? 0 : speaker & (BACK | SIDE) ? 1.41 : 1;
}

double smp_lufs(double mean)
{
    return -0.691 + 10 * log10(mean);
}

/* Means of `length` pieces from every piece on. Returns how many, and the largest. */
static int64_t blocks(const double *energy, int64_t count, int length, double frames, double *mean, double *most)
{
    *most = 0;
    int64_t made = 0;
    for (int64_t i = 0; i + length <= count; i++) {
        double sum = 0;
        for (int k = 0; k < length; k++)
            sum += energy[i + k];
        if (!isfinite(sum)) /* samples that are not numbers spoil what they are part of */
            continue;
        mean[made++] = sum / (frames * length);
        *most = fmax(*most, mean[made - 1]);
    }
    return made;
}

/* Keeps those of at least so many LUFS; their mean in *mean. */
static int64_t gate(double *values, int64_t count, double least, double *mean)
{
    int64_t kept = 0;
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        if (smp_lufs(values[i]) >= least) {
            values[kept++] = values[i];
            sum += values[i];
        }
    *mean = kept ? sum / (double)kept : 0;
    return kept;
}

smp_code smp_loudness_blocks_of(const smp_shape *in, const smp_node_plan *work, const void *result,
                                smp_loudness_blocks *found, smp_error *err)
{
    enum { MOMENTARY = 4, SHORT = 30 /* pieces */ };
    const smp_loudness *p = (const smp_loudness *)(const void *)work->kernel.bytes;
    const smp_loudness_piece *records = result;
    const int64_t all = pieces(p, in), whole = in->height / p->piece;
    *found = (smp_loudness_blocks){.momentary = smp_alloc_array((size_t)smp_max_i64(1, all), 3 * sizeof(double))};
    SMP_NEED(found->momentary, "the loudness of a sound", (uint64_t)all * 3 * sizeof(double), err);
    found->shortterm = found->momentary + all;
    double *energy = found->shortterm + all;
    for (int64_t i = 0; i < all; i++)
        for (int c = 0; c < in->channels; c++) {
            energy[i] += weight(in, c) * records[i * in->channels + c].energy;
            found->peak = fmax(found->peak, records[i * in->channels + c].peak);
        }
    for (int64_t i = 0; i < all; i++)
        found->spoiled += !isfinite(energy[i]);
    const double frames = (double)p->piece;
    found->momentary_count = blocks(energy, whole, MOMENTARY, frames, found->momentary, &found->most_momentary);
    found->shortterm_count = blocks(energy, whole, SHORT, frames, found->shortterm, &found->most_shortterm);
    return SMP_OK;
}

void smp_loudness_tell_spoiled(const char *stage, const smp_shape *in, const smp_node_plan *work, int64_t spoiled,
                               smp_measurements *measurements)
{
    const smp_loudness *p = (const smp_loudness *)(const void *)work->kernel.bytes;
    const size_t used = strlen(measurements->warning);
    if (spoiled) /* beside what the stage has to tell */
        snprintf(measurements->warning + used, sizeof measurements->warning - used,
                 "%s'%s' measures without %lld of %lld tenths of a second, since samples in them or before them are "
                 "not finite (NaN, infinity)",
                 used ? "; " : "", stage, (long long)spoiled, (long long)pieces(p, in));
}

smp_code smp_loudness_levels_of(const smp_shape *in, const smp_node_plan *work, const void *result,
                                smp_loudness_levels *levels, smp_error *err)
{
    smp_loudness_blocks found;
    SMP_TRY(smp_loudness_blocks_of(in, work, result, &found, err));
    double level, *mean = found.momentary;
    *levels = (smp_loudness_levels){.momentary = smp_lufs(found.most_momentary),
                                    .shortterm = smp_lufs(found.most_shortterm),
                                    .true_peak = 20 * log10(found.peak),
                                    .spoiled = found.spoiled};
    int64_t count = gate(mean, found.momentary_count, SMP_LOUDNESS_SILENCE, &level);
    gate(mean, count, smp_lufs(level) - SMP_LOUDNESS_GATE, &level);
    levels->integrated = smp_lufs(level);
    mean = found.shortterm;
    count = gate(mean, found.shortterm_count, SMP_LOUDNESS_SILENCE, &level);
    count = gate(mean, count, smp_lufs(level) - SMP_LOUDNESS_RANGE_GATE, &level);
    qsort(mean, (size_t)count, sizeof *mean, smp_by_double);
    if (count) {
        const double low = mean[(int64_t)floor((double)(count - 1) * 0.1 + 0.5)],
                     high = mean[(int64_t)floor((double)(count - 1) * 0.95 + 0.5)];
        levels->range = smp_lufs(high) - smp_lufs(low);
    }
    smp_free(found.momentary);
    return SMP_OK;
}
