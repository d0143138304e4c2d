/* warp: a picture turned, sheared or seen in perspective. Each output pixel is looked up in the input, where the
 * inverse transform puts it, between pixels.
 *
 * Affine: the six numbers of the inverse are whole 2^-32 of a pixel, and X = a x + b y + c is exact in 64-bit integers:
 * column X >> 32, fraction its next 24 bits, which are an f32 exactly. Perspective: u = (a x + b y + c) / (g x + h y +
 * 1) in double, in this order, and X = llrint(u 2^32). A lens: by its distortion, in double, likewise. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_WARP_BILINEAR, SMP_WARP_BICUBIC, SMP_WARP_NEAREST };
enum {
    SMP_WARP_ACROSS = 32, /* output pixels of a GPU tile */
    SMP_WARP_DOWN = 16,
    SMP_WARP_WORDS = 12 * 1024,  /* of shared memory that a tile's input may take */
    SMP_WARP_GATHER = 64,        /* gather: rows of a tile of 32 columns: what a thread prepares serves eight pixels */
    SMP_WARP_GATHER_THREADS = 8, /* and rows of threads */
    SMP_WARP_BITS = 32           /* of a coordinate's fraction */
};

enum { SMP_WARP_AFFINE, SMP_WARP_PERSPECTIVE, SMP_WARP_LENS };

/* Brown's model of a lens, as OpenCV has it: pixels, and coefficients k1 k2 k3, p1 p2. */
typedef struct smp_warp_lens {
    double focal[2], axis[2], radial[3], tangential[2];
} smp_warp_lens;

typedef struct smp_warp {
    int64_t affine[6];   /* output to input pixels: X = [0] x + [1] y + [2], Y = [3] x + [4] y + [5]; 2^-32 pixels */
    double inverse[8];   /* perspective: row by row, the last number is 1 */
    int32_t filter;      /* SMP_WARP_* */
    int32_t perspective; /* SMP_WARP_AFFINE .. */
    int32_t edge;        /* an smp_edge */
    int32_t words[2];    /* GPU: of shared memory for the input of any tile, without and with padding; 0: too many */
    float fill[SMP_MAX_CHANNELS]; /* code values, premultiplied */
    int32_t unused;
    smp_warp_lens lens;
} smp_warp;

/* A place in the input: 2^-32 pixels. */
typedef struct smp_warp_place {
    int64_t x, y;
    int32_t there; /* 0: behind the horizon, or too far away: the fill */
} smp_warp_place;

/* A double of pixels as a place. */
SMP_HOST_DEVICE void smp_warp_put(smp_warp_place *at, double u, double v)
{
    const double far = 1073741824., unit = 4294967296.;
    at->there = at->there && u > -far && u < far && v > -far && v < far;
    if (at->there) {
        at->x = (int64_t)llrint(u * unit);
        at->y = (int64_t)llrint(v * unit);
    }
}

SMP_HOST_DEVICE void smp_warp_through(const smp_warp_lens *p, double column, double row, smp_warp_place *at)
{
    const double x = (column - p->axis[0]) / p->focal[0], y = (row - p->axis[1]) / p->focal[1];
    const double xx = x * x, yy = y * y, r2 = xx + yy, xy = 2. * x * y;
    const double k = 1. + ((p->radial[2] * r2 + p->radial[1]) * r2 + p->radial[0]) * r2;
    const double *t = p->tangential;
    smp_warp_put(at, p->focal[0] * (x * k + t[0] * xy + t[1] * (r2 + 2. * xx)) + p->axis[0],
                 p->focal[1] * (y * k + t[0] * (r2 + 2. * yy) + t[1] * xy) + p->axis[1]);
}

SMP_HOST_DEVICE smp_warp_place smp_warp_place_of(const smp_warp *p, int64_t x, int64_t y)
{
    smp_warp_place at = {0, 0, 1};
    if (!p->perspective) {
        at.x = p->affine[0] * x + p->affine[1] * y + p->affine[2];
        at.y = p->affine[3] * x + p->affine[4] * y + p->affine[5];
    } else if (p->perspective == SMP_WARP_LENS) {
        smp_warp_through(&p->lens, (double)x, (double)y, &at);
    } else {
        const double *m = p->inverse;
        const double column = (double)x, row = (double)y, d = m[6] * column + m[7] * row + 1.;
        const double u = (m[0] * column + m[1] * row + m[2]) / d, v = (m[3] * column + m[4] * row + m[5]) / d;
        at.there = d > 0.;
        smp_warp_put(&at, u, v);
    }
    if (p->filter == SMP_WARP_NEAREST) {
        at.x += INT64_C(1) << (SMP_WARP_BITS - 1);
        at.y += INT64_C(1) << (SMP_WARP_BITS - 1);
    }
    return at;
}

SMP_HOST_DEVICE int64_t smp_warp_whole(int64_t at)
{
    return at >> SMP_WARP_BITS;
}
SMP_HOST_DEVICE float smp_warp_fraction(int64_t at)
{
    return (float)(int32_t)((uint32_t)at >> 8) * 0x1p-24f;
}

/* The pixels that a filter reads: whole - before .. whole + after. */
SMP_HOST_DEVICE int smp_warp_before(int filter)
{
    return filter == SMP_WARP_BICUBIC;
}
SMP_HOST_DEVICE int smp_warp_after(int filter)
{
    return filter == SMP_WARP_BICUBIC ? 2 : filter == SMP_WARP_BILINEAR;
}

/* Keys' cubic with a = -1/2: the weights of the four pixels round a fraction. */
SMP_HOST_DEVICE float smp_warp_weight(int k, float t)
{
    switch (k) {
    case 0:
        return t * fmaf(t, fmaf(-0.5f, t, 1.f), -0.5f);
    case 1:
        return fmaf(t * t, fmaf(1.5f, t, -2.5f), 1.f);
    case 2:
        return t * fmaf(t, fmaf(-1.5f, t, 2.f), 0.5f);
    default:
        return t * t * fmaf(0.5f, t, -0.5f);
    }
}

/* Between four samples. */
SMP_HOST_DEVICE float smp_warp_between(float p00, float p10, float p01, float p11, float fx, float fy)
{
    const float t = fmaf(fx, p10 - p00, p00), s = fmaf(fx, p11 - p01, p01);
    return fmaf(fy, s - t, t);
}

/* A sample of the input, by the border rule outside. */
SMP_HOST_DEVICE float smp_warp_tap(const smp_io *io, const smp_warp *p, int64_t x, int64_t y, int c, int format)
{
    const int64_t column = smp_border(x, io->in.width, p->edge), row = smp_border(y, io->in.height, p->edge);
    if (column < 0 || row < 0)
        return p->fill[c];
    return smp_load(smp_row(&io->in, row), column * io->in.channels + c, format);
}

/* Channel c of the output pixel that lies at `at`: the definition. */
SMP_HOST_DEVICE float smp_warp_sample(const smp_io *io, const smp_warp *p, const smp_warp_place *at, int c, int format)
{
    const int64_t x = smp_warp_whole(at->x), y = smp_warp_whole(at->y);
    if (!at->there)
        return p->fill[c];
    if (p->filter == SMP_WARP_NEAREST)
        return smp_warp_tap(io, p, x, y, c, format);
    const float fx = smp_warp_fraction(at->x), fy = smp_warp_fraction(at->y);
    if (p->filter == SMP_WARP_BILINEAR)
        return smp_one_nan(smp_warp_between(
            smp_warp_tap(io, p, x, y, c, format), smp_warp_tap(io, p, x + 1, y, c, format),
            smp_warp_tap(io, p, x, y + 1, c, format), smp_warp_tap(io, p, x + 1, y + 1, c, format), fx, fy));
    float sum = 0.f;
    for (int j = 0; j < 4; j++) {
        float v = 0.f;
        for (int k = 0; k < 4; k++)
            v = fmaf(smp_warp_weight(k, fx), smp_warp_tap(io, p, x + k - 1, y + j - 1, c, format), v);
        sum = fmaf(smp_warp_weight(j, fy), v, sum);
    }
    return smp_one_nan(sum);
}

/* GPU: words of shared memory from a row of a tile's input to the next. */
SMP_HOST_DEVICE int64_t smp_warp_pitch(int64_t samples, int padded)
{
    return (samples + 31) / 32 * 32 + padded;
}

SMP_CPU_DECLARE(warp_naive);
SMP_CPU_DECLARE(warp_tiled);
