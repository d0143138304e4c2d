/* loudness: the energy of a sound as the ear weights it, and its peaks between the samples, piece by piece. Parameters,
 * records, kernels. Sources: ITU-R BS.1770-4, annexes 1 and 2; EBU Tech 3341 and 3342.
 *
 * The definition. A channel goes through two filters in a row (biquad.h, in double, not rounded between). A segment is
 * a whole number of pieces. A record has, of a piece and channel: energy  the sum of squares of the filtered frames, in
 * order, in double; of a piece that the sound's end cuts 0, or infinity where that sum is not finite, so that this is
 * told peak    the largest magnitude of the frames and, with `phases`, of the values between them: frame y's are h[0]
 * x[y] + h[1] x[y-1] + .. + h[11] x[y-11], in double, k ascending. The last piece also has those of the 11 frames that
 * follow the sound's end */
#pragma once

#include "audio/biquad.h"
#include "audio/gain_offset.h"

enum {
    SMP_PEAK_TAPS = 12,
    SMP_PEAK_PHASES = 4,
    SMP_LOUDNESS_TILE = 64,  /* CPU: frames that are turned into lanes at a time */
    SMP_LOUDNESS_FRAMES = 32 /* GPU: the same, of a warp */
};

typedef struct smp_loudness {
    smp_gain_offset gain; /* of a stage that multiplies afterwards; its kernels see this member alone */
    smp_biquad shelf, high;
    int64_t piece; /* frames */
    smp_segments segments;
    int32_t phases; /* values for a frame: 0, 2 or 4 */
} smp_loudness;

typedef struct smp_loudness_piece {
    double energy, peak;
} smp_loudness_piece;

/* Coefficient k of phase p: those of BS.1770-4, which are multiples of 2^-13: products with an f32 are exact in double.
 * Phases 2 and 3 are 1 and 0 backwards. */
SMP_HOST_DEVICE double smp_peak_tap(int p, int k)
{
    const double taps[2][SMP_PEAK_TAPS] = {
        {14 / 8192., 90 / 8192., -161 / 8192., 272 / 8192., -487 / 8192., 1125 / 8192., 7964 / 8192., -838 / 8192.,
         390 / 8192., -218 / 8192., 122 / 8192., -68 / 8192.},
        {-239 / 8192., 240 / 8192., -424 / 8192., 730 / 8192., -1364 / 8192., 3810 / 8192., 6388 / 8192., -1641 / 8192.,
         832 / 8192., -477 / 8192., 271 / 8192., -155 / 8192.}};
    return p < 2 ? taps[p][k] : taps[3 - p][SMP_PEAK_TAPS - 1 - k];
}

/* Phase n of so many: all four, or 0 and 2. */
SMP_HOST_DEVICE int smp_peak_phase(int n, int phases)
{
    return phases == SMP_PEAK_PHASES ? n : 2 * n;
}

SMP_HOST_DEVICE double smp_larger(double most, double v)
{
    const double size = v < 0 ? -v : v;
    return size > most && size < (double)INFINITY ? size : most; /* what is not finite is left out */
}

SMP_HOST_DEVICE double smp_cut_energy(double sum)
{
    return sum - sum == 0 ? 0 : (double)INFINITY;
}

/* The pieces that a launch over rows y0 .. y1-1 writes: those whose last frame is one of them. */
SMP_HOST_DEVICE int64_t smp_pieces_before(const smp_loudness *p, int64_t y, int64_t height)
{
    return y >= height ? (height + p->piece - 1) / p->piece : y / p->piece;
}

/* CPU scratch: a tile of lanes, as floats and as doubles. */
SMP_HOST_DEVICE size_t smp_loudness_scratch(void)
{
    return (size_t)(SMP_LOUDNESS_TILE * 8) * sizeof(float) +
           (size_t)((SMP_LOUDNESS_TILE + SMP_PEAK_TAPS - 1) * 8) * sizeof(double);
}

SMP_CPU_DECLARE(loudness_naive);
SMP_CPU_DECLARE(loudness_tiled);
