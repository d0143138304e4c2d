/* quality on the CPU.
 *   naive  window by window, pixel by pixel: the definition.
 *   tiled  sums along a row once, of eleven rows in a ring; down the columns a vector at a time. */
#include "reduce/quality.h"

#include <string.h>

/* Lanes of one chunk in one channel, in raster order of its pixels. */
typedef struct chunk_lanes {
    smp_quality_lane lane[SMP_LANES];
    int64_t windows;
} chunk_lanes;

static void finish_chunk(const smp_io *io, chunk_lanes *lanes, int64_t y, int64_t across, int c)
{
    const int64_t number = y / smp_chunk_rows(io->in.width) * smp_chunks_across(io->in.width) + across;
    for (int distance = SMP_LANES / 2; distance > 0; distance /= 2)
        for (int i = 0; i < distance; i++)
            smp_quality_join(&lanes->lane[i], &lanes->lane[i + distance]);
    ((smp_quality_chunk *)io->result)[number * smp_quality_colours(&io->in) + c] =
        smp_quality_close(&lanes->lane[0], lanes->windows);
    memset(lanes, 0, sizeof *lanes);
}

SMP_CPU_KERNEL(quality_naive)
{
    const smp_quality *p = params;
    const int64_t rows = smp_chunk_rows(io->in.width), width = io->in.width;
    chunk_lanes lanes;
    memset(&lanes, 0, sizeof lanes);
    for (int c = 0; c < smp_quality_colours(&io->in); c++)
        for (int64_t top = y0; top < y1; top += rows)
            for (int64_t left = 0; left < width; left += SMP_CHUNK) {
                const int64_t end = top + rows < y1 ? top + rows : y1;
                const int64_t right = width - left < SMP_CHUNK ? width : left + SMP_CHUNK;
                int64_t i = 0;
                for (int64_t y = top; y < end; y++)
                    for (int64_t x = left; x < right; x++, i++) {
                        smp_quality_lane *lane = &lanes.lane[i % SMP_LANES];
                        smp_quality_meet(lane, smp_quality_first(io, x, y, c), smp_quality_second(p, io, x, y, c));
                        if (!smp_quality_inside(&io->in, x, y))
                            continue;
                        lane->ssim = lane->ssim + smp_quality_ssim(p, io, x, y, c);
                        lanes.windows++;
                    }
                finish_chunk(io, &lanes, top, left / SMP_CHUNK, c);
            }
}

typedef struct quality_walk {
    const smp_io *io;
    const smp_quality *p;
    float *pixels;   /* a row of one picture, all channels */
    float *a, *b;    /* a channel of both */
    double *ring;    /* [11][5][pitch]: sums along rows */
    double *moments; /* [5][pitch] */
    double *index;
    int64_t pitch;
} quality_walk;

/* One channel of picture row y of both. */
static void load_channel(const quality_walk *w, int64_t y, int c)
{
    const smp_io *io = w->io;
    const int64_t n = io->in.width;
    const smp_view *views[] = {&io->in, &io->second};
    for (int k = 0; k < 2; k++) {
        const int channels = views[k]->channels;
        float *restrict to = k ? w->b : w->a;
        const float scale = k ? w->p->scale : 1.f, *restrict from = w->pixels;
        smp_load_row(w->pixels, smp_row(views[k], y), views[k]->format, n * channels);
        for (int64_t x = 0; x < n; x++)
            to[x] = from[x * channels + c] * scale;
    }
}

/* Sums along the row, of the windows that begin at pixels 0 .. n-1. */
SMP_INLINE void sums_along(double *restrict to, int64_t pitch, const float *restrict a, const float *restrict b,
                           int64_t n, const double *window)
{
    double weights[SMP_QUALITY_WINDOW];
    for (int k = 0; k < SMP_QUALITY_WINDOW; k++)
        weights[k] = window[k];
    for (int64_t x = 0; x < n; x++) {
        smp_quality_moments m = {{0., 0., 0., 0., 0.}};
        for (int k = 0; k < SMP_QUALITY_WINDOW; k++)
            smp_quality_add(&m, weights[k], (double)a[x + k], (double)b[x + k]);
        to[x] = m.m[0];
        to[x + pitch] = m.m[1];
        to[x + 2 * pitch] = m.m[2];
        to[x + 3 * pitch] = m.m[3];
        to[x + 4 * pitch] = m.m[4];
    }
}

/* Down the columns; rows[k]: sums of the window's k-th row. */
SMP_INLINE void sums_down(double *restrict to, const double *const rows[SMP_QUALITY_WINDOW], int64_t n,
                          const double *window)
{
    for (int64_t x = 0; x < n; x++) {
        double sum = 0.;
        for (int k = 0; k < SMP_QUALITY_WINDOW; k++)
            sum = sum + window[k] * rows[k][x];
        to[x] = sum;
    }
}

static double *ring_row(const quality_walk *w, int64_t y)
{
    return w->ring + (y % SMP_QUALITY_WINDOW) * SMP_QUALITY_MOMENTS * w->pitch;
}

/* The indices of row y, of pixels 5 .. width-6. */
static void index_row(const quality_walk *w, int64_t y, int64_t n)
{
    for (int m = 0; m < SMP_QUALITY_MOMENTS; m++) {
        const double *rows[SMP_QUALITY_WINDOW];
        for (int k = 0; k < SMP_QUALITY_WINDOW; k++)
            rows[k] = ring_row(w, y - SMP_QUALITY_REACH + k) + m * w->pitch;
        sums_down(w->moments + m * w->pitch, rows, n, w->p->window);
    }
    const double *restrict m = w->moments, c1 = w->p->c1, c2 = w->p->c2;
    const int64_t pitch = w->pitch;
    double *restrict index = w->index;
    for (int64_t x = 0; x < n; x++)
        index[x] = smp_quality_index(m[x], m[x + pitch], m[x + 2 * pitch], m[x + 3 * pitch], m[x + 4 * pitch], c1, c2);
}

static void channel_rows(const quality_walk *w, int64_t y0, int64_t y1, int c)
{
    const smp_view *in = &w->io->in;
    const int64_t width = in->width, rows = smp_chunk_rows(width), inner = width - 2 * SMP_QUALITY_REACH;
    chunk_lanes lanes;
    memset(&lanes, 0, sizeof lanes);
    int64_t made = y0 - SMP_QUALITY_REACH; /* rows of the ring before this one are there */
    made = made < 0 ? 0 : made;
    for (int64_t y = y0; y < y1; y++) {
        const int windows = inner > 0 && y >= SMP_QUALITY_REACH && y < in->height - SMP_QUALITY_REACH;
        for (; windows && made <= y + SMP_QUALITY_REACH; made++) {
            load_channel(w, made, c);
            sums_along(ring_row(w, made), w->pitch, w->a, w->b, inner, w->p->window);
        }
        if (windows)
            index_row(w, y, inner);
        load_channel(w, y, c);
        for (int64_t left = 0; left < width; left += SMP_CHUNK) {
            const int64_t right = width - left < SMP_CHUNK ? width : left + SMP_CHUNK;
            const int64_t first = y % rows * width; /* the pixel's number in its chunk; 0 where it is a row's part */
            for (int64_t x = left; x < right; x++) {
                smp_quality_lane *lane = &lanes.lane[(first + x - left) % SMP_LANES];
                smp_quality_meet(lane, w->a[x], w->b[x]);
                if (windows && x >= SMP_QUALITY_REACH && x < width - SMP_QUALITY_REACH) {
                    lane->ssim = lane->ssim + w->index[x - SMP_QUALITY_REACH];
                    lanes.windows++;
                }
            }
            if (y % rows == rows - 1 || y == y1 - 1)
                finish_chunk(w->io, &lanes, y, left / SMP_CHUNK, c);
        }
    }
}

SMP_CPU_KERNEL(quality_tiled)
{
    quality_walk w = {.io = io, .p = params, .pitch = io->in.width + 16};
    w.ring = scratch;
    w.moments = w.ring + SMP_QUALITY_WINDOW * SMP_QUALITY_MOMENTS * w.pitch;
    w.index = w.moments + SMP_QUALITY_MOMENTS * w.pitch;
    w.a = (float *)(void *)(w.index + w.pitch);
    w.b = w.a + w.pitch;
    w.pixels = w.b + w.pitch;
    for (int c = 0; c < smp_quality_colours(&io->in); c++)
        channel_rows(&w, y0, y1, c);
}
