/* canny on the CPU: candidates and seeds.
 *   naive  pixel by pixel, each neighbour's gradient anew.
 *   tiled  three rows of samples and of gradients in rings, in vectors; thinning where a vector has anything above low.
 */
#include "stencil/canny.h"

#include <string.h>

/* Nothing is joined here. */
static void begin(const smp_io *io, const smp_canny *p, int64_t y0)
{
    if (y0 == 0)
        *(uint64_t *)(void *)((char *)io->result + p->sets.head_at) = 0;
}

SMP_CPU_KERNEL(canny_naive)
{
    begin(io, params, y0);
    const int64_t words = smp_bits_words(io->in.width);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t w = 0; w < words; w++) {
            uint32_t some = 0, seeds = 0;
            for (int64_t i = 0; i < SMP_BITS_WORD && w * SMP_BITS_WORD + i < io->in.width; i++) {
                const int kind = smp_canny_pixel(params, &io->in, w * SMP_BITS_WORD + i, y);
                some |= (uint32_t)(kind & 1) << i;
                seeds |= (uint32_t)(kind >> 1) << i;
            }
            smp_canny_plane(io, 0)[y * words + w] = some;
            smp_canny_plane(io, 1)[y * words + w] = seeds;
        }
}

typedef struct canny_walk {
    const smp_io *io;
    const smp_canny *p;
    float *samples[3], *sizes[3], *dx[3], *dy[3]; /* of rows y % 3; a value beside both ends */
} canny_walk;

static void load_samples(const canny_walk *w, int64_t y)
{
    const smp_view *in = &w->io->in;
    const int64_t n = in->width, inside = y < 0 ? 0 : y < in->height ? y : in->height - 1;
    const void *row = smp_row(in, inside);
    float *to = w->samples[(y + 3) % 3];
    if (in->channels == 1)
        smp_load_row(to + 1, row, in->format, n);
    else
        for (int64_t x = 0; x < n; x++)
            to[1 + x] = smp_load(row, x * in->channels, in->format);
    to[0] = to[1];
    to[n + 1] = to[n];
}

SMP_INLINE void gradients(float *restrict sizes, float *restrict dx, float *restrict dy, const float *restrict a,
                          const float *restrict m, const float *restrict b, int64_t n, const int squares)
{
    for (int64_t x = 0; x < n; x++) {
        const float p[9] = {a[x], a[x + 1], a[x + 2], m[x], m[x + 1], m[x + 2], b[x], b[x + 1], b[x + 2]};
        const smp_canny_gradient g = smp_canny_of(p);
        dx[x] = g.dx;
        dy[x] = g.dy;
        sizes[x] = smp_canny_size(g.dx, g.dy, squares);
    }
}

/* Gradients of row y, from samples of the rows y - 1 .. y + 1; zeros outside the picture. */
static void make_gradients(const canny_walk *w, int64_t y)
{
    const int64_t n = w->io->in.width;
    const int at = (int)((y + 3) % 3);
    float *sizes = w->sizes[at];
    sizes[0] = sizes[n + 1] = 0.f;
    if (y < 0 || y >= w->io->in.height) {
        memset(sizes, 0, (size_t)(n + 2) * sizeof *sizes);
        return;
    }
    const float *a = w->samples[(y + 2) % 3], *m = w->samples[y % 3], *b = w->samples[(y + 1) % 3];
    if (w->p->squares)
        gradients(sizes + 1, w->dx[at], w->dy[at], a, m, b, n, 1);
    else
        gradients(sizes + 1, w->dx[at], w->dy[at], a, m, b, n, 0);
}

/* The words of pixels x .. x+31; loops over as many, of which the first n exist. */
SMP_INLINE void thin(const canny_walk *w, int64_t y, int64_t x, int64_t n, uint32_t *some, uint32_t *seeds)
{
    const float *restrict m = w->sizes[y % 3] + 1 + x, *restrict a = w->sizes[(y + 2) % 3] + 1 + x;
    const float *restrict b = w->sizes[(y + 1) % 3] + 1 + x;
    const float *restrict dx = w->dx[y % 3] + x, *restrict dy = w->dy[y % 3] + x;
    const float low = w->p->low, high = w->p->high;
    int32_t flags[SMP_BITS_WORD], any = 0;
    for (int i = 0; i < SMP_BITS_WORD; i++)
        any |= m[i] > low;
    *some = *seeds = 0;
    if (!any)
        return;
    for (int i = 0; i < SMP_BITS_WORD; i++) {
        const int largest = smp_canny_largest(dx[i], dy[i], m[i], m[i - 1], m[i + 1], a[i], b[i], a[i - 1], a[i + 1],
                                              b[i - 1], b[i + 1]);
        flags[i] = (largest & (m[i] > low)) ? 1 : 0;
    }
    for (int i = 0; i < n; i++) {
        *some |= (uint32_t)flags[i] << i;
        *seeds |= (uint32_t)(flags[i] & (m[i] > high)) << i;
    }
}

SMP_CPU_KERNEL(canny_tiled)
{
    canny_walk w = {.io = io, .p = params};
    const int64_t n = io->in.width, pitch = n + 128, words = smp_bits_words(n);
    float *memory = scratch;
    memset(scratch, 0, smp_canny_scratch(io, params));
    for (int k = 0; k < 3; k++, memory += 4 * pitch) {
        w.samples[k] = memory;
        w.sizes[k] = memory + pitch;
        w.dx[k] = memory + 2 * pitch;
        w.dy[k] = memory + 3 * pitch;
    }
    begin(io, params, y0);
    load_samples(&w, y0 - 2);
    load_samples(&w, y0 - 1);
    for (int64_t y = y0 - 2; y < y1; y++) { /* row y + 2 arrives, y + 1 gets gradients, y is thinned */
        load_samples(&w, y + 2);
        make_gradients(&w, y + 1);
        for (int64_t k = 0; k < words && y >= y0; k++) {
            uint32_t some = 0, seeds = 0;
            const int64_t x = k * SMP_BITS_WORD, left = n - x < SMP_BITS_WORD ? n - x : SMP_BITS_WORD;
            if (left > 0)
                thin(&w, y, x, left, &some, &seeds);
            smp_canny_plane(io, 0)[y * words + k] = some;
            smp_canny_plane(io, 1)[y * words + k] = seeds;
        }
    }
}
