/* guided on the CPU.
 *   naive  every window from its samples: the definition.
 *   tiled  a tile of columns: sums along rows of the last rows in a ring, four or eight windows a vector. */
#include "stencil/guided.h"

static void put_line(const smp_io *io, int64_t y, int64_t i, smp_guided_line line)
{
    float *row = smp_row(&io->out, y);
    row[i] = line.a;
    row[smp_guided_second_half(&io->out) + i] = line.b;
}

/* Alpha goes along as the second number of a line. */
static smp_guided_line alpha_line(const smp_io *io, int64_t y, int64_t i)
{
    return (smp_guided_line){0.f, smp_load(smp_row(&io->in, y), i, io->in.format)};
}
static float alpha_of(const smp_io *io, int64_t y, int64_t i)
{
    return ((const float *)smp_row(&io->in, y))[smp_guided_second_half(&io->in) + i];
}

SMP_CPU_KERNEL(guided_fit_naive)
{
    const smp_guided *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->in.width * channels; i++) {
            const smp_guided_sums sums = smp_guided_window(p, io, i / channels, y, (int)(i % channels), 1);
            put_line(io, y, i,
                     smp_guided_is_alpha(&io->in, i) ? alpha_line(io, y, i)
                                                     : smp_guided_fit(p, &sums, smp_guided_count(p)));
        }
}

SMP_CPU_KERNEL(guided_apply_naive)
{
    const smp_guided *p = params;
    const int channels = io->out.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->out.width * channels; i++) {
            const int64_t x = i / channels;
            const int c = (int)(i % channels);
            const smp_guided_sums sums = smp_guided_window(p, io, x, y, c, 0);
            const float guide = smp_guided_guide(p, &io->second, io->out.white, x, y, c);
            stencil_put(io, y, i,
                        smp_guided_is_alpha(&io->out, i) ? alpha_of(io, y, i)
                                                         : smp_guided_result(&sums, smp_guided_count(p), guide));
        }
}

typedef struct guided_walk {
    const smp_io *io;
    const smp_guided *p;
    double *line;         /* [SMP_GUIDED_SUMS][length] */
    double *ring;         /* [side][SMP_GUIDED_SUMS][SMP_GUIDED_TILE] */
    double *all;          /* [SMP_GUIDED_SUMS][SMP_GUIDED_TILE] */
    int64_t first, lanes; /* samples of the tile */
    int64_t length, channels, halo;
    int planes[SMP_GUIDED_SUMS], count; /* which sums are made */
    int fit;
} guided_walk;

static int64_t samples_of(const guided_walk *w)
{
    return (w->fit ? w->io->in.width : w->io->in.width / 2) * w->channels;
}

/* Sample s of row y, which lies inside. */
SMP_INLINE void load_inside(const guided_walk *w, const void *row, int64_t s, int64_t i)
{
    if (w->fit) {
        const double v = (double)smp_load(row, s, w->io->in.format);
        w->line[i] = v;
        w->line[2 * w->length + i] = v * v;
    } else {
        w->line[i] = (double)((const float *)row)[s];
        w->line[w->length + i] = (double)((const float *)row)[samples_of(w) + s];
    }
}

static void load_line(const guided_walk *w, int64_t y)
{
    const smp_view *in = &w->io->in;
    const int64_t n = samples_of(w), channels = w->channels;
    const int inside = y >= 0 && y < in->height && (!w->fit || w->p->own);
    const void *row = inside ? smp_row(in, y) : NULL;
    for (int64_t i = 0; i < w->lanes + 2 * w->halo; i++) {
        const int64_t s = w->first - w->halo + i;
        if (inside && s >= 0 && s < n) {
            load_inside(w, row, s, i);
            continue;
        }
        const int64_t x = s >= 0 ? s / channels : -((channels - 1 - s) / channels);
        const int c = (int)(s - x * channels);
        const smp_guided_sums one =
            w->fit ? smp_guided_fit_of(w->p, w->io, x, y, c) : smp_guided_line_of(w->p, w->io, x, y, c);
        for (int k = 0; k < SMP_GUIDED_SUMS; k++)
            w->line[k * w->length + i] = one.v[k];
    }
}

/* to[i] = sum of n rows from `from` on, `step` apart, in order. */
SMP_INLINE void sums_of(double *restrict to, const double *restrict from, int64_t step, int64_t n, int64_t lanes)
{
    memset(to, 0, (size_t)lanes * sizeof *to);
    for (int64_t k = 0; k < n; k++, from += step)
        for (int64_t i = 0; i < lanes; i++)
            to[i] = to[i] + from[i];
}

static double *ring_at(const guided_walk *w, int64_t y, int plane)
{
    const int64_t side = 2 * (int64_t)w->p->radius + 1, slot = (y % side + side) % side;
    return w->ring + (slot * SMP_GUIDED_SUMS + plane) * SMP_GUIDED_TILE;
}

static void enter_row(const guided_walk *w, int64_t y)
{
    const int64_t side = 2 * (int64_t)w->p->radius + 1;
    load_line(w, y);
    for (int k = 0; k < w->count; k++)
        sums_of(ring_at(w, y, w->planes[k]), w->line + w->planes[k] * w->length, w->channels, side, w->lanes);
}

/* Sums of the windows about row y, oldest row first. */
static void window_sums(const guided_walk *w, int64_t y)
{
    for (int k = 0; k < w->count; k++) {
        double *restrict to = w->all + w->planes[k] * SMP_GUIDED_TILE;
        memset(to, 0, (size_t)w->lanes * sizeof *to);
        for (int64_t dy = -w->p->radius; dy <= w->p->radius; dy++) {
            const double *restrict from = ring_at(w, y + dy, w->planes[k]);
            for (int64_t i = 0; i < w->lanes; i++)
                to[i] = to[i] + from[i];
        }
    }
}

static void put_row(const guided_walk *w, int64_t y)
{
    const smp_io *io = w->io;
    const double n = smp_guided_count(w->p);
    for (int64_t i = 0; i < w->lanes; i++) {
        const int64_t at = w->first + i;
        smp_guided_sums sums;
        for (int k = 0; k < SMP_GUIDED_SUMS; k++)
            sums.v[k] = w->all[(w->fit && w->p->own ? k & 2 : k) * SMP_GUIDED_TILE + i];
        if (w->fit) {
            put_line(io, y, at,
                     smp_guided_is_alpha(&io->in, at) ? alpha_line(io, y, at) : smp_guided_fit(w->p, &sums, n));
            continue;
        }
        const int64_t x = at / w->channels;
        const float guide = w->p->own
                                ? smp_load(smp_row(&io->second, y), at, io->second.format)
                                : smp_guided_guide(w->p, &io->second, io->out.white, x, y, (int)(at - x * w->channels));
        stencil_put(io, y, at,
                    smp_guided_is_alpha(&io->out, at) ? alpha_of(io, y, at) : smp_guided_result(&sums, n, guide));
    }
}

static void guided_rows(guided_walk *w, void *scratch, int64_t y0, int64_t y1)
{
    const int64_t side = 2 * (int64_t)w->p->radius + 1, n = samples_of(w);
    w->halo = w->p->radius * w->channels;
    w->length = SMP_GUIDED_TILE + 2 * w->halo + 16;
    w->line = scratch;
    w->ring = w->line + SMP_GUIDED_SUMS * w->length;
    w->all = w->ring + side * SMP_GUIDED_SUMS * SMP_GUIDED_TILE;
    memset(w->all, 0, SMP_GUIDED_SUMS * SMP_GUIDED_TILE * sizeof *w->all);
    for (w->first = 0; w->first < n; w->first += SMP_GUIDED_TILE) {
        w->lanes = n - w->first < SMP_GUIDED_TILE ? n - w->first : SMP_GUIDED_TILE;
        for (int64_t y = y0 - w->p->radius; y < y0 + w->p->radius; y++)
            enter_row(w, y);
        for (int64_t y = y0; y < y1; y++) {
            enter_row(w, y + w->p->radius);
            window_sums(w, y);
            put_row(w, y);
        }
    }
}

SMP_CPU_KERNEL(guided_fit_tiled)
{
    const smp_guided *p = params;
    guided_walk w = {.io = io, .p = p, .fit = 1, .channels = io->in.channels};
    w.count = p->own ? 2 : SMP_GUIDED_SUMS;
    for (int k = 0; k < w.count; k++)
        w.planes[k] = p->own ? 2 * k : k;
    guided_rows(&w, scratch, y0, y1);
}

SMP_CPU_KERNEL(guided_apply_tiled)
{
    guided_walk w = {.io = io, .p = params, .channels = io->out.channels, .planes = {0, 1}, .count = 2};
    guided_rows(&w, scratch, y0, y1);
}
