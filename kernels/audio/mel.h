/* mel: a mel spectrogram, or the cepstrum of one, as a picture of floats: a row a frame, a column a band.
 * Parameters, the table, what is done with a band's power.
 *
 * The power re re + im im of a frame's spectrum (audio/frames.h) is weighted by triangles, that of a band's bins added
 * up in ascending order. What follows is the band's logarithm; the cepstrum is a sum over the row's logarithms, bands
 * ascending, with the cosines of the table. All are plain f32 operations. */
#pragma once

#include "audio/frames.h"
#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_mel {
    smp_frames f;
    int64_t frames;         /* rows */
    int32_t bands, outputs; /* outputs: coefficients, or bands */
    int32_t cepstrum;
    int32_t logs;                    /* the rows hold logarithms */
    float scale, floor;              /* of the logarithm to base 2; the least power that it takes */
    int32_t spans, weights, cosines; /* where they begin in the table, floats */
} smp_mel;

/* io->table: that of the frames; then, for each band, three int32_t: its first bin, how many, and where their weights
 * are; the weights; the cosines, coefficient by coefficient. */
SMP_HOST_DEVICE const int32_t *smp_mel_span(const smp_mel *p, const float *table, int band)
{
    return (const int32_t *)(const void *)(table + p->spans) + 3 * band;
}

SMP_HOST_DEVICE float smp_mel_level(const smp_mel *p, float power)
{
    const float v = power < p->floor ? p->floor : power;
    return p->logs ? smp_log2f_(v) * p->scale : power;
}

/* whisper: 8 below the most of all is the least; most: log10. */
SMP_HOST_DEVICE float smp_mel_whisper(float v, float most)
{
    const float least = most - 8.f;
    return smp_one_nan(((v < least ? least : v) + 4.f) * 0.25f);
}

/* CPU scratch: of up to 16 lanes samples, both memories of a transform, spectrum, levels. */
SMP_HOST_DEVICE size_t smp_mel_scratch(const smp_mel *p)
{
    return (size_t)16 * ((size_t)p->f.size * 4 + 16 + (size_t)p->bands + (size_t)p->outputs) * sizeof(float);
}

SMP_CPU_DECLARE(mel_one);
SMP_CPU_DECLARE(mel_lanes);
SMP_CPU_DECLARE(mel_most);
SMP_CPU_DECLARE(mel_whisper);
