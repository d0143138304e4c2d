/* canny: edges one pixel wide (Canny 1986), as OpenCV finds them. Gradients and the thinning; then GPUs, or the host,
 * keep the candidates that hang together with a seed.
 *
 * Gradients: sobel of 3 x 3 with clamped borders, in f32, exact for 8 and 16 bits. m = |dx| + |dy|, or dx^2 + dy^2 with
 * squared thresholds; outside the picture 0. A pixel is a candidate where m > low and m is the largest across the edge:
 *   |dy| < tan(22.5) |dx|   m > left and m >= right      tan(22.5) is 13573 / 2^15
 *   |dy| > tan(67.5) |dx|   m > above and m >= below     tan(67.5) is that + 2
 *   else                    m > both on the diagonal that the signs tell
 * and a seed where m > high as well. Result (SMP_RESULT_CHUNKS): two bit planes (lib/bits.h), candidates and seeds, and
 * what union_find.h says. */
#pragma once

#include "lib/union_find.h"
#include "stencil/sobel.h"

enum {
    SMP_CANNY_REACH = 2, /* rows up and down */
    SMP_CANNY_ACROSS = 32,
    SMP_CANNY_DOWN = 8 /* GPU, tiled: pixels of a block */
};

typedef struct smp_canny {
    smp_union_find sets; /* first: kernels that only join take it alone */
    float low, high; /* of m */
    int32_t squares; /* m = dx^2 + dy^2 */
} smp_canny;

typedef struct smp_canny_gradient {
    float dx, dy;
} smp_canny_gradient;

/* p: 3 x 3 samples, row by row. */
SMP_HOST_DEVICE smp_canny_gradient smp_canny_of(const float p[9])
{
    const smp_canny_gradient g = {
        smp_sobel_x(smp_sobel_smooth(p[0], p[3], p[6]), smp_sobel_smooth(p[2], p[5], p[8])),
        smp_sobel_y(smp_sobel_slope(p[0], p[6]), smp_sobel_slope(p[1], p[7]), smp_sobel_slope(p[2], p[8]))};
    return g;
}

SMP_HOST_DEVICE float smp_canny_size(float dx, float dy, int squares)
{
    return squares ? dx * dx + dy * dy : smp_abs(dx) + smp_abs(dy);
}

/* Whether m is the largest across the edge; m's neighbours: left, right, above, below, and the corners. All products
 * are exact for 8 bits. */
SMP_HOST_DEVICE int smp_canny_largest(float dx, float dy, float m, float l, float r, float a, float b, float al,
                                      float ar, float bl, float br)
{
    const float x = smp_abs(dx), y = smp_abs(dy), slope = x * 13573.f;
    const int flat = y * 32768.f < slope, steep = (y - 2.f * x) * 32768.f > slope, other = (dx < 0.f) != (dy < 0.f);
    const int across = (m > l) & (m >= r), down = (m > a) & (m >= b);
    const int rising = (m > ar) & (m > bl), falling = (m > al) & (m > br);
    return flat ? across : steep ? down : other ? rising : falling;
}

/* The gradient at (x, y), inside the picture. */
SMP_HOST_DEVICE smp_canny_gradient smp_canny_at(const smp_view *in, int64_t x, int64_t y)
{
    float p[9];
    for (int k = 0; k < 9; k++)
        p[k] = smp_at_border(in, x - 1 + k % 3, y - 1 + k / 3, 0, SMP_CLAMP, 0.f);
    return smp_canny_of(p);
}
SMP_HOST_DEVICE float smp_canny_size_at(const smp_view *in, int64_t x, int64_t y, int squares)
{
    if (x < 0 || y < 0 || x >= in->width || y >= in->height)
        return 0.f;
    const smp_canny_gradient g = smp_canny_at(in, x, y);
    return smp_canny_size(g.dx, g.dy, squares);
}

/* 0: nothing, 1: a candidate, 3: a seed. The definition. */
SMP_HOST_DEVICE int smp_canny_pixel(const smp_canny *p, const smp_view *in, int64_t x, int64_t y)
{
    const smp_canny_gradient g = smp_canny_at(in, x, y);
    const float m = smp_canny_size(g.dx, g.dy, p->squares);
    float n[9];
    if (!(m > p->low))
        return 0;
    for (int k = 0; k < 9; k++)
        n[k] = k == 4 ? m : smp_canny_size_at(in, x - 1 + k % 3, y - 1 + k / 3, p->squares);
    return smp_canny_largest(g.dx, g.dy, m, n[3], n[5], n[1], n[7], n[0], n[2], n[6], n[8]) ? m > p->high ? 3 : 1 : 0;
}

/* Returns the words of a plane in a picture. */
SMP_HOST_DEVICE uint32_t *smp_canny_plane_of(const smp_io *io, const smp_view *picture, int plane)
{
    return (uint32_t *)io->result + (int64_t)plane * picture->height * smp_bits_words(picture->width);
}
SMP_HOST_DEVICE uint32_t *smp_canny_plane(const smp_io *io, int plane)
{
    return smp_canny_plane_of(io, &io->in, plane);
}

/* CPU scratch: three rows of samples with a pixel beside them, of sizes, a row of gradients, of flags. */
static inline size_t smp_canny_scratch(const smp_io *io, const void *params)
{
    (void)params;
    return ((size_t)io->in.width + 128) * (3 + 3 + 6 + 1) * sizeof(float);
}

SMP_CPU_DECLARE(canny_naive);
SMP_CPU_DECLARE(canny_tiled);
