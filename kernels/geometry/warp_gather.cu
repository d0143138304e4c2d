/* warp between pixels on GPUs without shared memory.
 *   gather  A thread makes whole pixels, one below the other: places are added to from row to row, and two neighbouring
 *           pixels of the input arrive as the words that hold them, not sample by sample. The first-level cache serves
 *           what a block's pixels share; its tile is compact, so that this depends little on the angle. Four pixels at
 *           a time take a path without tests where the first and the last lie in the picture, as those between do. */
#include "geometry/warp.h"

#include "lib/elementwise.cuh"

/* The samples of two neighbouring pixels. row: aligned to 4 bytes; i: the first sample. Words that hold none of them
 * are not read: the row may end before. */
template <int C> SMP_DEVICE void warp_pair(const uint8_t *row, int64_t i, float (&v)[2 * C])
{
    constexpr int words = (2 * C + 6) / 4; /* that the samples may spread over */
    const uint32_t *at = reinterpret_cast<const uint32_t *>(row + (i & ~(int64_t)3));
    const int off = (int)(i & 3);
    uint32_t w[words + 1] = {};
#pragma unroll
    for (int k = 0; k < words; k++)
        if (4 * k < 2 * C || off + 2 * C > 4 * k)
            w[k] = at[k];
#pragma unroll
    for (int k = 0; k < 2 * C; k++) {
        const uint32_t bytes = C == 4 ? w[k / 4] : __funnelshift_r(w[k / 4], w[k / 4 + 1], 8u * (unsigned)off);
        v[k] = (float)(bytes >> 8 * (k % 4) & 255);
    }
}
template <int C> SMP_DEVICE void warp_pair(const float *row, int64_t i, float (&v)[2 * C])
{
    typedef smp_pack<float, C == 4 ? 4 : 1> pack;
    constexpr int each = (int)(sizeof(pack) / sizeof(float));
#pragma unroll
    for (int k = 0; k < 2 * C; k += each) {
        const pack some = *reinterpret_cast<const pack *>(row + i + k);
#pragma unroll
        for (int j = 0; j < each; j++)
            v[k + j] = some.v[j];
    }
}

/* Between two neighbouring pixels of a row, t = p + fx (q - p) for each channel. x24: fx 2^24, a whole number.
 * A byte b of them is the low byte of 1/2 + b 2^-24: differences are exact, and fx 2^24 times (q - p) 2^-24 is the
 * product that fx (q - p) is, so that neither fractions nor bytes need a conversion of their own. */
SMP_DEVICE float warp_byte(uint32_t bytes, int k, uint32_t half)
{
    return __uint_as_float(__byte_perm(bytes, half, 0x7440u + (unsigned)k));
}
SMP_DEVICE float warp_between_bytes(float fx, float p, float q)
{
    return fmaf(fx, q - p, fmaf(p, 0x1p24f, -0x1p23f));
}
/* row: aligned to 4 bytes; x: of the left pixel. */
template <int C> SMP_DEVICE void warp_across(const uint8_t *row, uint32_t x, int32_t x24, float (&t)[C])
{
    uint32_t half = 0x3f000000; /* in a register: a permute takes one constant, which is the selector */
    if (C == 1) {
        const uint8_t *at = row + x;
        t[0] = warp_between_bytes((float)x24, __uint_as_float(half | at[0]), __uint_as_float(half | at[1]));
        return;
    }
    smp_opaque(half);
    const uint32_t off = C * x & 3, *words = reinterpret_cast<const uint32_t *>(row + (C * x - off));
    uint32_t w[2] = {words[0], words[1]};
    if (C == 3) {
        const uint32_t last = off == 3 ? words[2] : 0; /* a row may end before: then none of it is meant */
        w[0] = __funnelshift_r(w[0], w[1], 8 * off);
        w[1] = __funnelshift_r(w[1], last, 8 * off);
    }
#pragma unroll
    for (int c = 0; c < C; c++)
        t[c] = warp_between_bytes((float)x24, warp_byte(w[c / 4], c % 4, half),
                                  warp_byte(w[(C + c) / 4], (C + c) % 4, half));
}
template <int C> SMP_DEVICE void warp_across(const float *row, uint32_t x, int32_t x24, float (&t)[C])
{
    const float fx = (float)x24 * 0x1p-24f;
    float v[2 * C];
    warp_pair<C>(row, C * x, v);
#pragma unroll
    for (int c = 0; c < C; c++)
        t[c] = fmaf(fx, v[C + c] - v[c], v[c]);
}

/* A pixel of which a tap lies outside the picture, as the definition has it. How many samples were clipped. */
template <typename T>
SMP_DEVICE_COLD unsigned warp_beside(const smp_io &io, const smp_warp &p, int64_t x, int64_t y, T *to)
{
    const smp_warp_place at = {x, y, 1};
    unsigned clipped = 0;
#pragma unroll 1
    for (int c = 0; c < io.in.channels; c++)
        to[c] = smp_point_rounded<T>(io, smp_warp_sample(&io, &p, &at, c, smp_sample<T>::format), &clipped);
    return clipped;
}

/* A result, of bytes by its sum with 2^23 alone: what lies between bytes is none that clips, nor NaN. */
template <typename T> SMP_DEVICE T warp_rounded(const smp_io &io, float v, unsigned *clipped)
{
#ifdef __CUDACC__
    if (sizeof(T) == 1)
        return (T)__float_as_uint(v + 8388608.f);
#endif
    return smp_point_rounded<T>(io, smp_one_nan(v), clipped);
}

/* Places of a pixel's taps: all in the picture, none of them, or some. */
enum warp_where { WARP_INSIDE, WARP_FILLED, WARP_BESIDE };
SMP_DEVICE warp_where warp_where_of(const smp_io &io, const smp_warp &p, const smp_warp_place &at)
{
    const int32_t x = (int32_t)smp_warp_whole(at.x), y = (int32_t)smp_warp_whole(at.y);
    const int32_t width = (int32_t)io.in.width, height = (int32_t)io.in.height;
    if (at.there && (uint32_t)x < (uint32_t)(width - 1) && (uint32_t)y < (uint32_t)(height - 1))
        return WARP_INSIDE;
    return !at.there || (p.edge == SMP_CONSTANT && (x < -1 || x >= width || y < -1 || y >= height)) ? WARP_FILLED
                                                                                                    : WARP_BESIDE;
}

template <typename T, int C> SMP_DEVICE void warp_put(const T (&made)[C], T *to)
{
    typedef smp_pack<T, C == 4 ? 4 : 1> pack;
    constexpr int each = (int)(sizeof(pack) / sizeof(T));
#pragma unroll
    for (int c = 0; c < C; c += each) {
        pack some;
#pragma unroll
        for (int j = 0; j < each; j++)
            some.v[j] = made[c + j];
        *reinterpret_cast<pack *>(to + c) = some;
    }
}

/* False: nothing was stored, the pixel is one for warp_beside(). */
template <typename T, int C>
SMP_DEVICE bool warp_pixel(const smp_io &io, const smp_warp &p, const smp_warp_place &at, T *to, unsigned *clipped)
{
    const warp_where where = warp_where_of(io, p, at);
    float v[C];
    if (where == WARP_INSIDE) {
        const int64_t x = smp_warp_whole(at.x);
        const char *row = static_cast<const char *>(io.in.data) +
                          (int32_t)smp_warp_whole(at.y) * io.in.stride; /* all rows are there */
        float upper[2 * C], lower[2 * C];
        warp_pair<C>(reinterpret_cast<const T *>(row), x * C, upper);
        warp_pair<C>(reinterpret_cast<const T *>(row + io.in.stride), x * C, lower);
        const float fx = smp_warp_fraction(at.x), fy = smp_warp_fraction(at.y);
#pragma unroll
        for (int c = 0; c < C; c++)
            v[c] = smp_warp_between(upper[c], upper[C + c], lower[c], lower[C + c], fx, fy);
    } else if (where == WARP_FILLED) {
#pragma unroll
        for (int c = 0; c < C; c++)
            v[c] = p.fill[c];
    } else {
        return false;
    }
    T made[C];
#pragma unroll
    for (int c = 0; c < C; c++)
        made[c] = warp_rounded<T>(io, v[c], clipped);
    warp_put<T, C>(made, to);
    return true;
}

/* A number that stays in its registers instead of being made of others for each use. */
SMP_DEVICE int64_t warp_kept(int64_t v)
{
    unsigned low = (unsigned)v, high = (unsigned)((uint64_t)v >> 32);
    smp_opaque(low);
    smp_opaque(high);
    return (int64_t)((uint64_t)high << 32 | low);
}

/* Whether all taps of n pixels, `step` apart, lie in the picture: those of the first and the last do. */
SMP_DEVICE bool warp_inside(const smp_io &io, const smp_warp &p, const smp_warp_place &at, const smp_warp_place &step,
                            uint32_t n)
{
    const smp_warp_place last = {at.x + (int64_t)(n - 1) * step.x, at.y + (int64_t)(n - 1) * step.y, 1};
    return warp_where_of(io, p, at) == WARP_INSIDE && warp_where_of(io, p, last) == WARP_INSIDE;
}

/* Makes WARP_GROUP pixels of a thread, all of whose taps lie in the picture, and goes on to the next. step: from one to
 * the next. */
enum { WARP_GROUP = 4 };
template <typename T, int C>
SMP_DEVICE void warp_group(const smp_io &io, smp_warp_place &at, const smp_warp_place &step, char *&to, int64_t down,
                           unsigned *clipped)
{
    const char *data = static_cast<const char *>(io.in.data); /* all rows are there, of less than 2^31 bytes each */
    const uint32_t stride = (uint32_t)io.in.stride;
    T made[WARP_GROUP][C];
#pragma unroll
    for (int k = 0; k < WARP_GROUP; k++) {
        const char *row = data + (uint64_t)(uint32_t)smp_warp_whole(at.y) * stride;
        const uint32_t x = (uint32_t)smp_warp_whole(at.x);
        const int32_t x24 = (int32_t)((uint32_t)at.x >> 8);
        const float fy = smp_warp_fraction(at.y);
        float upper[C], lower[C];
        warp_across<C>(reinterpret_cast<const T *>(row), x, x24, upper);
        warp_across<C>(reinterpret_cast<const T *>(row + stride), x, x24, lower);
#pragma unroll
        for (int c = 0; c < C; c++)
            made[k][c] = warp_rounded<T>(io, fmaf(fy, lower[c] - upper[c], upper[c]), clipped);
        at.x += step.x;
        at.y += step.y;
    }
#pragma unroll
    for (int k = 0; k < WARP_GROUP; k++, to += down) /* after all loads, which else would wait for the stores before */
        warp_put<T, C>(made[k], reinterpret_cast<T *>(to));
}

/* The place of an output pixel; without a branch where the transform is known to be affine. */
template <bool AFFINE> SMP_DEVICE smp_warp_place warp_place(const smp_warp &p, uint32_t x, uint32_t y)
{
    if (!AFFINE)
        return smp_warp_place_of(&p, x, y);
    return {p.affine[0] * (int64_t)x + p.affine[1] * (int64_t)y + p.affine[2],
            p.affine[3] * (int64_t)x + p.affine[4] * (int64_t)y + p.affine[5], 1};
}

/* A thread's pixels. beside: those alone that the walk before left to warp_beside(), in a walk of their own, since what
 * lives across a call takes registers from all. Whether some are left to it. */
template <typename T, int C, bool AFFINE>
SMP_DEVICE bool warp_walk(const smp_io &io, const smp_warp &p, bool beside, unsigned *clipped)
{
    const uint32_t begin = (uint32_t)io.out.y0, end = begin + (uint32_t)io.out.rows;
    const uint32_t x = blockIdx.x * 32 + threadIdx.x, stride = (uint32_t)io.out.stride;
    const int64_t down = warp_kept((int64_t)stride * SMP_WARP_GATHER_THREADS);
    const smp_warp_place step = {warp_kept(SMP_WARP_GATHER_THREADS * p.affine[1]),
                                 warp_kept(SMP_WARP_GATHER_THREADS * p.affine[4]), 1};
    bool left = false;
    for (uint32_t top = begin + blockIdx.y * SMP_WARP_GATHER; top < end && x < (uint32_t)io.out.width;
         top += gridDim.y * SMP_WARP_GATHER) {
        uint32_t y = top + threadIdx.y;
        const uint32_t below = end - top < SMP_WARP_GATHER ? end : top + SMP_WARP_GATHER;
        const uint32_t rows = (below - y + SMP_WARP_GATHER_THREADS - 1) / SMP_WARP_GATHER_THREADS;
        smp_warp_place at = warp_place<AFFINE>(p, x, y);
        char *to = static_cast<char *>(io.out.data) + (uint64_t)(y - begin) * stride + x * (uint32_t)(sizeof(T) * C);
        const bool all = AFFINE && !beside && rows >= WARP_GROUP && warp_inside(io, p, at, step, rows);
        uint32_t k = 0;
#pragma unroll 1
        while (k < rows) {
            smp_converge();
            if (AFFINE && !beside && k + WARP_GROUP <= rows && (all || warp_inside(io, p, at, step, WARP_GROUP))) {
                warp_group<T, C>(io, at, step, to, down, clipped);
                k += WARP_GROUP;
                continue;
            }
            if (!beside) {
                left |= !warp_pixel<T, C>(io, p, at, reinterpret_cast<T *>(to), clipped);
            } else if (warp_where_of(io, p, at) == WARP_BESIDE) {
                smp_converge();
                *clipped += warp_beside<T>(io, p, at.x, at.y, reinterpret_cast<T *>(to));
            }
            k++;
            y += SMP_WARP_GATHER_THREADS;
            to += down;
            if (AFFINE) {
                at.x += step.x;
                at.y += step.y;
            } else {
                at = warp_place<AFFINE>(p, x, y);
            }
        }
    }
    return left;
}
template <typename T, int C, bool AFFINE>
SMP_DEVICE void warp_columns(const smp_io &io, const smp_warp &p, unsigned *clipped)
{
    if (warp_walk<T, C, AFFINE>(io, p, false, clipped))
        warp_walk<T, C, AFFINE>(io, p, true, clipped);
}

template <bool AFFINE, typename T> SMP_DEVICE void warp_gather(const smp_io &io, const smp_warp &p)
{
    unsigned clipped = 0;
    if (io.in.channels == 1)
        warp_columns<T, 1, AFFINE>(io, p, &clipped);
    else if (io.in.channels == 3)
        warp_columns<T, 3, AFFINE>(io, p, &clipped);
    else
        warp_columns<T, 4, AFFINE>(io, p, &clipped);
    smp_count_clipped<T>(io, clipped);
}
SMP_KERNEL_BOUNDS(256, 4, warp_gather_u8_u8, smp_warp, io, p)
{
    warp_gather<true, uint8_t>(io, p);
}
SMP_KERNEL_BOUNDS(256, 4, warp_gather_f32_f32, smp_warp, io, p)
{
    warp_gather<true, float>(io, p);
}
SMP_KERNEL_BOUNDS(256, 2, warp_gather_far_u8_u8, smp_warp, io, p)
{
    warp_gather<false, uint8_t>(io, p);
}
SMP_KERNEL_BOUNDS(256, 2, warp_gather_far_f32_f32, smp_warp, io, p)
{
    warp_gather<false, float>(io, p);
}
