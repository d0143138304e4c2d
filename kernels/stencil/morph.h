/* Grey morphology: the least or the largest sample under a flat, symmetric shape, and what two such passes make.
 *
 * A shape is one chord for each of its rows: columns -r .. r of row dy, r = smp_morph_chord(m, dy). Samples are
 * compared as keys, integers of which the least wins: a byte or 16-bit sample itself, or with all bits turned where the
 * largest wins; for floats the bits that order like IEEE totalOrder (-0 before +0). The key of NaN is the largest in
 * both, so that NaN loses against numbers. Samples are moved, none are computed, but for one difference at the end of
 * some operations. */
#pragma once

#include "lib/tuning.h"
#include "stencil/stencil.h"

enum { SMP_MORPH_MOST = 1001 }; /* pixels on a side */

/* From OPEN on: in the order of the choices of the stage that has them. */
enum {
    SMP_MORPH_ERODE,
    SMP_MORPH_DILATE,
    SMP_MORPH_OPEN,
    SMP_MORPH_CLOSE,
    SMP_MORPH_TOPHAT,
    SMP_MORPH_BLACKHAT,
    SMP_MORPH_GRADIENT,
    SMP_MORPH_INNER,
    SMP_MORPH_OUTER
};
enum { SMP_SHAPE_SQUARE, SMP_SHAPE_DISK, SMP_SHAPE_DIAMOND, SMP_SHAPE_CROSS };

typedef struct smp_morph {
    int32_t op;     /* SMP_MORPH_* */
    int32_t rx, ry; /* columns and rows beside the middle; unequal only for SMP_SHAPE_SQUARE, a rectangle */
    int32_t shape;  /* SMP_SHAPE_* */
    int32_t edge;   /* smp_edge */
    float fill;     /* of `constant`: a fraction of full scale */
} smp_morph;

/* disk: dx^2 + dy^2 <= r^2 (skimage.disk). The root is exact enough: r is below 2^12. */
SMP_HOST_DEVICE int32_t smp_morph_chord(const smp_morph *m, int32_t dy)
{
    const int32_t away = dy < 0 ? -dy : dy;
    return m->shape == SMP_SHAPE_DISK      ? (int32_t)sqrtf((float)(m->rx * m->rx - dy * dy))
           : m->shape == SMP_SHAPE_DIAMOND ? m->rx - away
           : m->shape == SMP_SHAPE_CROSS   ? (dy ? 0 : m->rx)
                                           : m->rx;
}

/* Launch kinds: of one pass, or the first or the last of two. The first writes a scratch picture that the last reads,
 * with the stage's input as the second picture. */
enum { SMP_MORPH_ONLY, SMP_MORPH_FIRST, SMP_MORPH_LAST };

/* Work of one launch: a window over a picture, and a difference with the other picture at the same place. */
typedef struct smp_morph_pass {
    int32_t most;      /* 1: the largest sample wins */
    int32_t moves;     /* 0: the window is one sample */
    int32_t of_second; /* 1: the window lies on io->second, and the other picture is io->in */
    int32_t combine;   /* 0: what won; 1: the other less that; 2: that less the other */
} smp_morph_pass;
SMP_HOST_DEVICE smp_morph_pass smp_morph_pass_of(const smp_morph *m, int launch)
{
    const int32_t op = m->op;
    smp_morph_pass pass = {
        op == SMP_MORPH_DILATE || op == SMP_MORPH_CLOSE || op == SMP_MORPH_BLACKHAT || op == SMP_MORPH_OUTER, 1, 0, 0};
    if (launch != SMP_MORPH_LAST)
        return pass;
    pass.most = !pass.most;
    pass.moves = op != SMP_MORPH_INNER && op != SMP_MORPH_OUTER;
    pass.of_second = op == SMP_MORPH_GRADIENT;
    pass.combine = op == SMP_MORPH_TOPHAT || op == SMP_MORPH_INNER ? 1
                   : op == SMP_MORPH_OPEN || op == SMP_MORPH_CLOSE ? 0
                                                                   : 2;
    return pass;
}

/* The code value outside; samples are moved, so it is one that the format holds. */
SMP_HOST_DEVICE float smp_morph_outside(const smp_morph *m, float white)
{
    const float v = smp_outside(m->edge, m->fill, white);
    return white > 1.f ? smp_round_to(v, white) : v;
}

/* Keys of floats: NaN is the largest. */
enum { SMP_MORPH_NAN = 0x7fc00000 };
SMP_HOST_DEVICE int32_t smp_morph_key(float v, int most)
{
    const uint32_t bits = smp_bits(v), turned = bits ^ ((uint32_t)((int32_t)bits >> 31) >> 1);
    return v == v ? (int32_t)(most ? ~turned : turned) : SMP_MORPH_NAN;
}
SMP_HOST_DEVICE float smp_morph_value(int32_t key, int most)
{
    const uint32_t turned = most && key != SMP_MORPH_NAN ? ~(uint32_t)key : (uint32_t)key;
    return smp_from_bits(turned ^ ((uint32_t)((int32_t)turned >> 31) >> 1));
}

/* The sample at (x, y), which may lie outside. Rows that are not present, for results that nobody reads (see below),
 * are replaced by the nearest that is. */
SMP_HOST_DEVICE float smp_morph_at(const smp_view *in, int64_t x, int64_t y, int c, int edge, float outside)
{
    x = smp_border(x, in->width, edge);
    y = smp_border(y, in->height, edge);
    if (x < 0 || y < 0)
        return outside;
    y = y < in->y0 ? in->y0 : y < in->y0 + in->rows ? y : in->y0 + in->rows - 1;
    return smp_load(smp_row(in, y), x * in->channels + c, in->format);
}

/* The value of sample i of row y: `won` of the window, with the other picture where the launch takes a difference.
 * Alpha of a difference is that of the stage's input. No difference is negative: a border of one value, which each
 * pass has on its own input, can put what is opened above the picture, and what is closed below it. */
SMP_HOST_DEVICE float smp_morph_result(const smp_io *io, const smp_morph_pass *pass, int64_t y, int64_t i, float won)
{
    if (!pass->combine)
        return won;
    const smp_view *other = pass->of_second ? &io->in : &io->second;
    const float v = smp_load(smp_row(other, y), i, other->format);
    if (io->in.alpha && i % io->in.channels == io->in.channels - 1)
        return smp_load(smp_row(&io->second, y), i, io->second.format);
    const float rest = pass->combine == 1 ? v - won : won - v;
    return rest < 0.f ? 0.f : rest;
}

/* The definition: the least key under the shape at (x, y). A border that repeats or folds gives samples that lie under
 * the shape already, since it is symmetric and its chords grow shorter with |dy|: only `wrap` and values can add one.
 * Rows of the first launch of two whose window is not all there lie outside what the last launch reads. */
SMP_HOST_DEVICE float smp_morph_window(const smp_io *io, const smp_morph *m, const smp_morph_pass *pass, int64_t y,
                                       int64_t i)
{
    const smp_view *in = pass->of_second ? &io->second : &io->in;
    const int64_t x = i / in->channels, width = in->width, height = in->height;
    const int c = (int)(i - x * in->channels), wraps = m->edge == SMP_WRAP;
    const int64_t ry = pass->moves ? (m->ry < height ? m->ry : height) : 0;
    const float outside = smp_morph_outside(m, in->white);
    int32_t least = SMP_MORPH_NAN;
    int leaves = 0;
    for (int64_t dy = -ry; dy <= ry; dy++) {
        const int32_t chord = pass->moves ? smp_morph_chord(m, (int32_t)dy) : 0;
        int64_t from = x - (chord < width ? chord : width), to = x + (chord < width ? chord : width);
        const int inside = y + dy >= 0 && y + dy < height;
        leaves = leaves || !inside || from < 0 || to >= width;
        if (!inside && !wraps)
            continue;
        from = from < 0 && !wraps ? 0 : from;
        to = to >= width && !wraps ? width - 1 : to;
        for (int64_t at = from; at <= to; at++) {
            const int32_t key = smp_morph_key(smp_morph_at(in, at, y + dy, c, m->edge, outside), pass->most);
            least = key < least ? key : least;
        }
    }
    if (leaves && (m->edge == SMP_ZERO || m->edge == SMP_CONSTANT)) {
        const int32_t key = smp_morph_key(outside, pass->most);
        least = key < least ? key : least;
    }
    return smp_morph_result(io, pass, y, i, smp_morph_value(least, pass->most));
}

/* CPU scratch: bytes a thread. Lines of a tile with its halo; for a rectangle two blocks of ry * 2 + 1 lines, for other
 * shapes as many, each with its minima of 2, 4 .. columns. */
enum { SMP_MORPH_TILE = 3072, SMP_MORPH_SMALL = 1024, SMP_MORPH_LEVELS = 10 };
SMP_HOST_DEVICE int64_t smp_morph_line(const smp_morph *m, int channels)
{
    const int64_t tile = m->shape == SMP_SHAPE_SQUARE ? SMP_MORPH_TILE : SMP_MORPH_SMALL;
    return (tile + 2 * (int64_t)m->rx * channels * 4 + 127) / 64 * 64;
}
SMP_HOST_DEVICE int smp_morph_levels(const smp_morph *m)
{
    int levels = 1;
    while (2 << (levels - 1) <= 2 * m->rx + 1)
        levels++;
    return levels;
}
SMP_HOST_DEVICE size_t smp_morph_scratch(const smp_morph *m, int channels)
{
    const int64_t lines = m->shape == SMP_SHAPE_SQUARE ? 2 : smp_morph_levels(m);
    return (size_t)(smp_morph_line(m, channels) * (lines * (2 * m->ry + 1) + 4));
}

/* GPU: shared memory of a tile of SMP_MORPH_ACROSS samples by SMP_MORPH_DOWN rows with its halo, as 32-bit keys, twice.
 * Its rows have an odd number of words, so that a column meets all banks. 0: it does not fit. */
enum { SMP_MORPH_ACROSS = 32, SMP_MORPH_DOWN = 16, SMP_MORPH_SHARED = 48 << 10 };
SMP_HOST_DEVICE int smp_morph_pitch(const smp_morph *m, int channels)
{
    return (SMP_MORPH_ACROSS + 2 * m->rx * channels) | 1;
}
SMP_HOST_DEVICE uint32_t smp_morph_shared(const smp_morph *m, int channels)
{
    const int64_t bytes = 2 * 4 * (int64_t)smp_morph_pitch(m, channels) * (SMP_MORPH_DOWN + 2 * (int64_t)m->ry);
    return bytes <= SMP_MORPH_SHARED ? (uint32_t)bytes : 0;
}

SMP_CPU_DECLARE(morph_only_naive);
SMP_CPU_DECLARE(morph_first_naive);
SMP_CPU_DECLARE(morph_last_naive);
SMP_CPU_DECLARE(morph_only_tiled);
SMP_CPU_DECLARE(morph_first_tiled);
SMP_CPU_DECLARE(morph_last_tiled);
