/* template: how well a small picture T fits at each place of a larger one I: the correlation coefficient of Pearson
 * over the n samples under it, all colours together (cv2.TM_CCOEFF_NORMED, skimage.feature.match_template).
 *   score = (n S_IT - S_I S_T) / sqrt((n S_II - S_I^2) (n S_TT - S_T^2)), cut to -1 .. 1; 0 where either is flat
 *
 * Sums are double: rows of T from the top, in each row from the left, a pixel's colours in turn. Of 8 and 16 bits they
 * are whole numbers below 2^53, exact in any order. Every operation is rounded. A place is that of T's first pixel, and
 * counts where T lies inside.
 *
 * Two passes. Counting: float [down][across], the scores. Applying: the same as io->table; out is 0 where T does not
 * fit. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum {
    SMP_TEMPLATE_LANES = 32,  /* CPU: places side by side */
    SMP_TEMPLATE_BAND = 4,    /* CPU, bytes: rows of places at a time */
    SMP_TEMPLATE_ACROSS = 128 /* GPU: places of a block, one a thread */
};

typedef struct smp_template {
    int64_t width, height; /* of the template */
    int64_t across, down;  /* places */
    int32_t colours;
    int32_t in_pairs; /* CPU: bytes are multiplied in pairs where the processor takes four, too; for tests */
} smp_template;

typedef struct smp_template_sums {
    double i, ii, it, t, tt;
} smp_template_sums;

SMP_HOST_DEVICE smp_template_sums smp_template_none(void)
{
    const smp_template_sums none = {0., 0., 0., 0., 0.};
    return none;
}

SMP_HOST_DEVICE void smp_template_add(smp_template_sums *s, double i, double t)
{
    s->i = s->i + i;
    s->ii = s->ii + i * i;
    s->it = s->it + i * t;
    s->t = s->t + t;
    s->tt = s->tt + t * t;
}

/* n S_vv - S_v^2; 0 where that is no more than what sums of floats lose. */
SMP_HOST_DEVICE double smp_template_spread(double n, double squares, double sum)
{
    const double all = n * squares, spread = all - sum * sum;
    return spread > all * 1e-12 ? spread : 0.;
}

/* Divides in any case, so that a CPU's loop over places has no branch. */
SMP_HOST_DEVICE float smp_template_score(const smp_template *p, const smp_template_sums *s)
{
    const double n = (double)p->width * (double)p->height * (double)p->colours;
    const double one = smp_template_spread(n, s->ii, s->i), two = smp_template_spread(n, s->tt, s->t);
    const double quotient = (n * s->it - s->i * s->t) / sqrt(one * two), score = one > 0. && two > 0. ? quotient : 0.;
    return (float)(score > 1. ? 1. : score < -1. ? -1. : score == score ? score : 0.);
}

/* The score of place (x, y): the definition. */
SMP_HOST_DEVICE float smp_template_at(const smp_template *p, const smp_io *io, int64_t x, int64_t y)
{
    const smp_view *in = &io->in, *by = &io->second;
    smp_template_sums sums = smp_template_none();
    for (int64_t dy = 0; dy < p->height; dy++) {
        const void *row = smp_row(in, y + dy), *small = smp_row(by, dy);
        for (int64_t dx = 0; dx < p->width; dx++)
            for (int32_t c = 0; c < p->colours; c++)
                smp_template_add(&sums, (double)smp_load(row, (x + dx) * in->channels + c, in->format),
                                 (double)smp_load(small, dx * by->channels + c, by->format));
    }
    return smp_template_score(p, &sums);
}

/* Pixel x of row y of the picture of scores. */
SMP_HOST_DEVICE float smp_template_pixel(const smp_template *p, const smp_io *io, int64_t x, int64_t y)
{
    return x < p->across && y < p->down ? ((const float *)io->table)[y * p->across + x] : 0.f;
}

/* GPU, tiled: samples of the picture that a block's places read of a row. */
SMP_HOST_DEVICE int64_t smp_template_line(const smp_template *p)
{
    return (SMP_TEMPLATE_ACROSS + p->width - 1) * p->colours;
}

/* CPU: samples of a row of bytes, with room for vectors that read beyond its end. */
static inline size_t smp_template_room(const smp_io *io, const smp_template *p)
{
    return ((size_t)io->in.width * (size_t)p->colours + 64 + 15) / 16 * 16;
}

/* CPU scratch (template_u8.c): words of the rows under a band of places; the band's products, sums of columns; words of
 * the template with empty rows round it. */
static inline size_t smp_template_scratch(const smp_io *io, const void *params)
{
    const smp_template *p = (const smp_template *)params;
    const size_t line = smp_template_room(io, p), rows = (size_t)p->height + 2 * SMP_TEMPLATE_BAND;
    return line * rows * sizeof(uint32_t) + line * (SMP_TEMPLATE_BAND + 2) * sizeof(double) +
           line * (sizeof(uint64_t) + sizeof(uint32_t)) +
           rows * ((size_t)p->width * (size_t)p->colours + 2) * sizeof(uint32_t);
}

SMP_CPU_DECLARE(template_scores_naive);
SMP_CPU_DECLARE(template_scores_tiled);
SMP_CPU_DECLARE(template_naive);

#ifdef SMP_ISA
/* template_u8.c: 0, and nothing done: not for this work. */
int SMP_PASTE(template_bytes, SMP_ISA)(const smp_io *io, const smp_template *p, void *scratch, int64_t y0, int64_t y1);
#endif
