/* compand: a gain that follows the level of a sound by a curve through points. Parameters, definition, kernels.
 *
 * The level v follows the magnitude m of each frame, that of its loudest channel, at most full scale: v += (m - v)
 * attack where m is above v, else (m - v) release; in double. Frame y is multiplied by the gain of the level of frame
 * y + ahead, or of the sound's last one: x = log2 of the level, rounded to f32, lies in the last piece that begins
 * below it, at t behind its beginning, and the gain is 2^(y + t (a t + b)); before all pieces 2^base. Frames are shared
 * out in segments (biquad.h), each of which begins with the level `start`. */
#pragma once

#include "audio/biquad.h"
#include "lib/exact_math.h"

enum { SMP_COMPAND_POINTS = 16, SMP_COMPAND_PIECES = 2 * SMP_COMPAND_POINTS + 2 };

typedef struct smp_compand_piece {
    double x, y, a, b; /* of log2 */
} smp_compand_piece;

typedef struct smp_compand {
    double attack, release, start;
    int64_t ahead; /* frames */
    smp_segments segments;
    double base;
    int32_t count;
    smp_compand_piece pieces[SMP_COMPAND_PIECES];
} smp_compand;

SMP_HOST_DEVICE float smp_compand_size(const smp_view *in, int64_t y)
{
    const float *frame = (const float *)smp_row(in, y);
    float most = 0.f;
    for (int c = 0; c < in->channels; c++)
        most = smp_abs(frame[c]) > most ? smp_abs(frame[c]) : most;
    return most < 1.f ? most : 1.f;
}

/* By the larger step or the smaller one, which is that of the side without a branch that the sound would mislead. */
SMP_HOST_DEVICE double smp_compand_next(const smp_compand *p, double level, double size)
{
    const double more = size - level, up = more * p->attack, down = more * p->release;
    const double most = up > down ? up : down, least = up > down ? down : up;
    return level + (p->attack > p->release ? most : least);
}

SMP_HOST_DEVICE double smp_compand_log(float level)
{
    float whole;
    const float part = smp_log2_parts(level, &whole);
    return level > 0.f ? (double)whole + (double)part : -1000;
}

/* The exponent of the gain at x, where `before` is that of the pieces before this one. */
SMP_HOST_DEVICE double smp_compand_curve(const smp_compand_piece *piece, double x, double before)
{
    const double t = x - piece->x;
    return t > 0 ? piece->y + t * (piece->a * t + piece->b) : before;
}

SMP_HOST_DEVICE float smp_compand_gain(double exponent)
{
    const float near = (float)exponent;
    return smp_exp2_parts(near, (float)(exponent - (double)near));
}

/* The frames of segment `index` of those that a launch makes: levels from *from on, of which that of frame *first is
 * the first output frame's, or would be if the sound went on; output frames up to *to. */
SMP_HOST_DEVICE void smp_compand_segment(const smp_compand *p, const smp_view *out, int64_t index, int64_t *from,
                                         int64_t *first, int64_t *to)
{
    const int64_t start = (out->y0 / p->segments.length + index) * p->segments.length, end = out->y0 + out->rows,
                  warm = start + p->ahead - p->segments.warm;
    *from = warm > 0 ? warm : 0;
    *first = (start > out->y0 ? start : out->y0) + p->ahead;
    *to = start + p->segments.length < end ? start + p->segments.length : end;
}

SMP_CPU_DECLARE(compand_naive);
