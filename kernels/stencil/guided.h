/* guided: a smoothing that keeps the edges of a guide (He, Sun, Tang 2010). In every window of side^2 samples the
 * result is to be a straight line of the guide I, out = a I + b, nearest to the picture p in the sense of least
 * squares; a sample gets the mean of the lines of all windows that it lies in: a = cov(I, p) / (var(I) + epsilon), b =
 * mean(p) - a mean(I);  out = mean(a) I + mean(b)
 *
 * Sums are double: along each row of a window in order, from 0, then over the rows' sums in order, from 0. Means are
 * sums / side^2, var = mean(I I) - mean(I) mean(I), cov alike. a and b are rounded to f32. Two launches: the lines go
 * to a scratch picture, a row of a and behind it a row of b; the second launch makes samples of them. Each channel by
 * itself; a guide of one channel serves all. Lines outside the picture come by the same border as samples; where that
 * is a value, lines outside are 0. */
#pragma once

#include "stencil/stencil.h"

enum {
    SMP_GUIDED_MOST = 128,        /* px, the largest radius */
    SMP_GUIDED_SUMS = 4,          /* I, p, I I, I p; of the second launch a and b */
    SMP_GUIDED_TILE = 256,        /* CPU: samples of a tile */
    SMP_GUIDED_ACROSS = 32,       /* GPU: samples of a block, */
    SMP_GUIDED_DOWN = 8,          /* and its rows */
    SMP_GUIDED_SHARED = 48 * 1024 /* GPU: bytes of shared memory at most */
};

typedef struct smp_guided {
    int32_t radius, edge;
    int32_t shared; /* the guide has one channel, the picture several */
    int32_t own;    /* the picture is its own guide */
    float fill;     /* of `constant`: a fraction of full scale */
    float scale;    /* from the guide's code values to the picture's */
    double epsilon; /* code values squared */
} smp_guided;

typedef struct smp_guided_sums {
    double v[SMP_GUIDED_SUMS];
} smp_guided_sums;

SMP_HOST_DEVICE smp_guided_sums smp_guided_none(void)
{
    const smp_guided_sums none = {{0., 0., 0., 0.}};
    return none;
}
SMP_HOST_DEVICE void smp_guided_add(smp_guided_sums *to, const smp_guided_sums *v)
{
    for (int k = 0; k < SMP_GUIDED_SUMS; k++)
        to->v[k] = to->v[k] + v->v[k];
}

/* The guide's sample beside sample (x, y) of channel c, which may lie outside. second: the guide. */
SMP_HOST_DEVICE float smp_guided_guide(const smp_guided *p, const smp_view *guide, float white, int64_t x, int64_t y,
                                       int c)
{
    return p->own
               ? smp_at_border(guide, x, y, c, p->edge, smp_outside(p->edge, p->fill, white))
               : smp_at_border(guide, x, y, p->shared ? 0 : c, p->edge, smp_outside(p->edge, p->fill, guide->white)) *
                     p->scale;
}

/* Returns what sample (x, y) of channel c adds to the sums of the first launch. */
SMP_HOST_DEVICE smp_guided_sums smp_guided_fit_of(const smp_guided *p, const smp_io *io, int64_t x, int64_t y, int c)
{
    const double v = (double)smp_at_border(&io->in, x, y, c, p->edge, smp_outside(p->edge, p->fill, io->in.white));
    const double guide = p->own ? v : (double)smp_guided_guide(p, &io->second, io->in.white, x, y, c);
    const smp_guided_sums sums = {{guide, v, guide * guide, guide * v}};
    return sums;
}

/* Columns of the scratch picture, which has twice as many as the picture: where a sample's b lies. */
SMP_HOST_DEVICE int64_t smp_guided_second_half(const smp_view *lines)
{
    return lines->width / 2 * lines->channels;
}

/* The same of the second launch: a and b. */
SMP_HOST_DEVICE smp_guided_sums smp_guided_line_of(const smp_guided *p, const smp_io *io, int64_t x, int64_t y, int c)
{
    smp_guided_sums sums = smp_guided_none();
    const int64_t at = smp_border(x, io->in.width / 2, p->edge), line = smp_border(y, io->in.height, p->edge);
    if (at >= 0 && line >= 0) {
        const float *row = (const float *)smp_row(&io->in, line) + at * io->in.channels + c;
        sums.v[0] = (double)row[0];
        sums.v[1] = (double)row[smp_guided_second_half(&io->in)];
    }
    return sums;
}

typedef struct smp_guided_line {
    float a, b;
} smp_guided_line;

SMP_HOST_DEVICE smp_guided_line smp_guided_fit(const smp_guided *p, const smp_guided_sums *s, double n)
{
    const double guide = s->v[0] / n, v = s->v[1] / n, variance = s->v[2] / n - guide * guide;
    const double a = (s->v[3] / n - guide * v) / (variance + p->epsilon);
    const smp_guided_line line = {smp_one_nan((float)a), smp_one_nan((float)(v - a * guide))};
    return line;
}

/* The result: a sample of the guide on the mean line. */
SMP_HOST_DEVICE float smp_guided_result(const smp_guided_sums *s, double n, float guide)
{
    return smp_one_nan((float)(s->v[0] / n * (double)guide + s->v[1] / n));
}

/* The sums of the window about (x, y): the definition. fit: of the first launch. */
SMP_HOST_DEVICE smp_guided_sums smp_guided_window(const smp_guided *p, const smp_io *io, int64_t x, int64_t y, int c,
                                                  int fit)
{
    smp_guided_sums all = smp_guided_none();
    for (int64_t dy = -p->radius; dy <= p->radius; dy++) {
        smp_guided_sums row = smp_guided_none();
        for (int64_t dx = -p->radius; dx <= p->radius; dx++) {
            const smp_guided_sums one =
                fit ? smp_guided_fit_of(p, io, x + dx, y + dy, c) : smp_guided_line_of(p, io, x + dx, y + dy, c);
            smp_guided_add(&row, &one);
        }
        smp_guided_add(&all, &row);
    }
    return all;
}

SMP_HOST_DEVICE double smp_guided_count(const smp_guided *p)
{
    const double side = 2. * (double)p->radius + 1.;
    return side * side;
}

/* Whether sample i of a row is alpha, which the second launch passes on. guide: io.second of that launch, or the
 * picture. */
SMP_HOST_DEVICE int smp_guided_is_alpha(const smp_view *v, int64_t i)
{
    return v->alpha && i % v->channels == v->channels - 1;
}

/* GPU, tiled: bytes of shared memory: sums along rows of a block and its halo. */
SMP_HOST_DEVICE uint32_t smp_guided_bytes(const smp_guided *p)
{
    return (uint32_t)(SMP_GUIDED_DOWN + 2 * p->radius) * SMP_GUIDED_ACROSS * (uint32_t)sizeof(smp_guided_sums);
}

/* CPU scratch: samples of a line, its sums along rows in a ring of rows, sums of windows. */
static inline size_t smp_guided_scratch(const smp_io *io, const void *params)
{
    const smp_guided *p = (const smp_guided *)params;
    const size_t side = 2 * (size_t)p->radius + 1, halo = 2 * (size_t)p->radius * (size_t)io->out.channels;
    return ((SMP_GUIDED_TILE + halo + 16) + SMP_GUIDED_TILE * (side + 1)) * SMP_GUIDED_SUMS * sizeof(double) +
           SMP_GUIDED_TILE * sizeof(float);
}

SMP_CPU_DECLARE(guided_fit_naive);
SMP_CPU_DECLARE(guided_apply_naive);
SMP_CPU_DECLARE(guided_fit_tiled);
SMP_CPU_DECLARE(guided_apply_tiled);
