/* denoise: a spectral gate. Parameters, the table, what both passes compute.
 *
 * The first pass counts levels: of frames end to end that lie in the stretch from .. to, each number's power falls in a
 * class of 1.5 dB; power of 2^-50 and less, digital silence, does not count. The second pass goes through frames a
 * quarter of their size apart (audio/frames.h): a number is open where its power passes its threshold. One that is open
 * and has an open one among two neighbours on each side stays; others are multiplied by least + (1 - least) times the
 * share of open ones among the five, numbers beyond the ends being the first or the last: a tone is open in two at
 * least, a chance peak of noise in one. Samples come back as in istft (audio/stft.h). */
#pragma once

#include "audio/stft.h"

enum { SMP_DENOISE_LEVELS = 160, SMP_DENOISE_ZERO = 100 /* the class of power 1 */, SMP_DENOISE_SIDE = 2 };

typedef struct smp_denoise {
    smp_frames f;
    int64_t frames;   /* second pass: that hold any sample */
    int64_t from, to; /* first pass: samples */
    float gain, least;
} smp_denoise;

/* io->table: that of the frames; second pass: then the thresholds, bins + 1 of each channel. io->result: counts of
 * classes, number by number, channel by channel. */
SMP_HOST_DEVICE const float *smp_denoise_thresholds(const smp_denoise *p, const float *table, int channel)
{
    return table + smp_frames_floats(&p->f) + (int64_t)channel * (p->f.bins + 1);
}

SMP_HOST_DEVICE int64_t smp_denoise_counts(const smp_denoise *p, int channel, int k)
{
    return ((int64_t)channel * (p->f.bins + 1) + k) * SMP_DENOISE_LEVELS;
}

/* The class of a power; -1: none. */
SMP_HOST_DEVICE int smp_denoise_class(float power)
{
    if (!(power > 0x1p-50f))
        return -1;
    const float level = smp_log2f_(power) * 2.f + (float)SMP_DENOISE_ZERO;
    return level < 0.f ? 0 : level < (float)SMP_DENOISE_LEVELS ? (int)level : SMP_DENOISE_LEVELS - 1;
}

/* First pass: whether frame t counts. */
SMP_HOST_DEVICE int smp_denoise_listens(const smp_denoise *p, int64_t t)
{
    const int64_t first = smp_frames_first(&p->f, t);
    return first >= p->from && first + p->f.size <= p->to;
}

/* own: 1 for a number that is open, else 0; open: how many of the five are. */
SMP_HOST_DEVICE float smp_denoise_factor(const smp_denoise *p, float own, float open)
{
    return own * open > 1.f ? 1.f : p->least + (1.f - p->least) * (open * 0.2f);
}

SMP_HOST_DEVICE int smp_denoise_beside(const smp_denoise *p, int k, int away)
{
    const int at = k + away;
    return at < 0 ? 0 : at > p->f.bins ? p->f.bins : at;
}

SMP_CPU_DECLARE(denoise_count_one);
SMP_CPU_DECLARE(denoise_count_lanes);
SMP_CPU_DECLARE(denoise_one);
SMP_CPU_DECLARE(denoise_lanes);
