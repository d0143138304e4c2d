/* limit, compress, gate: a gain that follows the level of a sound. Parameters, definition, kernels.
 *
 * Gains are whole numbers of 2^-16 dB, so that minimum and sum have no order. For frame i, with 0 outside the sound:
 *   e  what the frame's peak asks for: floor(slope over 2^16), from `least` to 0, where over is by how many dB the peak
 *      passes the ceiling, and (over + knee / 2)^2 / (2 knee) within knee / 2 of it
 *   r  the least e[i - k] + k s, k = 0 .. back: gains rise by s a frame
 *   h  the least of r[i] .. r[i + window]
 *   g  sum over k = 0 .. ahead of W[k] h[i - k], divided by 2^16, rounded down; W (io->table) adds up to 2^16
 * and the frame becomes x 2^((base + sign g) / (2^16 20 log10 2)). limit has slope -1, window = ahead and base 0. A
 * gate is shut where g = 0: base is its range below 0, sign -1. */
#pragma once

#include "audio/loudness.h"
#include "lib/exact_math.h"

enum {
    SMP_LIMIT_DB = 65536,      /* a dB */
    SMP_LIMIT_CHUNK = 4096,    /* CPU: frames at a time */
    SMP_LIMIT_SEGMENT = 16384, /* GPU: frames whose releases a thread follows */
    SMP_LIMIT_TILE = 256,      /* GPU: frames that a block makes at a time */
    SMP_LIMIT_BEHIND = 6       /* frames after a frame that its peaks between samples read */
};

typedef struct smp_limit {
    double ceiling, knee; /* dB */
    double bend;          /* 1 / (2 knee); 0: none */
    double slope;         /* dB for each dB above the ceiling: below 0 */
    int32_t least;        /* 2^-16 dB */
    int32_t ahead, rise;  /* frames; 2^-16 dB a frame */
    int32_t window;       /* frames, at most `ahead` */
    int32_t back;         /* frames after which any gain has risen to 0 */
    int32_t phases;       /* values between frames: 0 (samples alone), 2 or 4 */
    int32_t base, sign;   /* 2^-16 dB; 1 or -1 */
    int32_t key;          /* the first channel that is looked at; those before it are the result's */
} smp_limit;

/* The largest magnitude of a frame's channels, from `key` on; with phases, of the values up to the frames beside it
 * too. */
SMP_HOST_DEVICE double smp_limit_peak(const smp_limit *p, const smp_view *in, int64_t y)
{
    double most = 0;
    for (int c = p->key; c < in->channels; c++) {
        most = smp_larger(most, (double)smp_frame_at(in, y, c));
        for (int n = 0; n < 2 * p->phases; n++) {
            double s = 0;
            for (int k = 0; k < SMP_PEAK_TAPS; k++)
                s += smp_peak_tap(smp_peak_phase(n / 2, p->phases), k) *
                     (double)smp_frame_at(in, y + SMP_LIMIT_BEHIND - n % 2 - k, c);
            most = smp_larger(most, s);
        }
    }
    return most;
}

/* e of a peak. */
SMP_HOST_DEVICE int32_t smp_limit_wish(const smp_limit *p, double peak)
{
    const double least = p->least, octave = 6.02059991327962390; /* dB of a factor of 2 */
    float whole;
    const float size = (float)peak, part = smp_log2_parts(size, &whole);
    const double over = octave * ((double)whole + (double)part) - p->ceiling, half = p->knee * 0.5;
    const double bent = (over + half) * (over + half) * p->bend;
    double wish = p->slope * (over < half && over > -half ? bent : over) * SMP_LIMIT_DB;
    wish = size > 0.f ? wish : 0;
    wish = size < INFINITY ? wish : least;
    wish = wish < least ? least : wish;
    wish = wish < 0 ? wish : 0;
    return (int32_t)(wish - least) + p->least; /* rounds down */
}

/* r, from that of the frame before. */
SMP_HOST_DEVICE int32_t smp_limit_release(const smp_limit *p, int32_t before, int32_t wish)
{
    const int32_t risen = before + p->rise;
    return risen < wish ? risen : wish;
}

SMP_HOST_DEVICE float smp_limit_factor(const smp_limit *p, int32_t gain)
{
    return smp_exp2f_((float)((double)(p->base + p->sign * gain) * (1 / (65536 * 6.02059991327962390))));
}

/* CPU scratch. naive: e (then r) and h of all frames; tiled: r and h of a chunk, and what lies before and behind. */
SMP_HOST_DEVICE size_t smp_limit_naive_scratch(const smp_limit *p, int64_t rows)
{
    return (size_t)(2 * (rows + p->back + 3 * (int64_t)p->ahead)) * sizeof(int32_t);
}
SMP_HOST_DEVICE size_t smp_limit_scratch(const smp_limit *p)
{
    return ((size_t)p->ahead * 5 + 4 * SMP_LIMIT_CHUNK + 64) * sizeof(double);
}

SMP_CPU_DECLARE(limit_naive);
SMP_CPU_DECLARE(limit_tiled);
