/* warp between pixels on GPUs without shared memory.
 *   gather  A thread makes whole pixels, one below the other: places are added to from row to row, and two neighbouring
 *           pixels of the input arrive as the words that hold them, not sample by sample. The first-level cache serves
 *           what a block's pixels share; its tile is square, so that this depends little on the angle. */
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

/* Where the taps of a pixel lie: all in the picture, none of them, or some. */
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
    typedef smp_pack<T, C == 4 ? 4 : 1> pack;
    constexpr int each = (int)(sizeof(pack) / sizeof(T));
#pragma unroll
    for (int c = 0; c < C; c += each) {
        pack some;
#pragma unroll
        for (int j = 0; j < each; j++)
            some.v[j] = warp_rounded<T>(io, v[c + j], clipped);
        *reinterpret_cast<pack *>(to + c) = some;
    }
    return true;
}

/* The place of an output pixel; without a branch where the transform is known to be affine. */
template <bool AFFINE> SMP_DEVICE smp_warp_place warp_place(const smp_warp &p, int64_t x, int64_t y)
{
    if (!AFFINE)
        return smp_warp_place_of(&p, x, y);
    return {p.affine[0] * x + p.affine[1] * y + p.affine[2], p.affine[3] * x + p.affine[4] * y + p.affine[5], 1};
}

/* A thread's pixels. beside: those alone that the walk before left to warp_beside(), in a walk of their own, since what
 * lives across a call takes registers from all. Whether some are left to it. */
template <typename T, int C, bool AFFINE>
SMP_DEVICE bool warp_walk(const smp_io &io, const smp_warp &p, bool beside, unsigned *clipped)
{
    const int64_t end = io.out.y0 + io.out.rows, x = (int64_t)blockIdx.x * 32 + threadIdx.x;
    bool left = false;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * SMP_WARP_GATHER; top < end && x < io.out.width;
         top += (int64_t)gridDim.y * SMP_WARP_GATHER) {
        int64_t y = top + threadIdx.y;
        const int tall = end - top < SMP_WARP_GATHER ? (int)(end - top) : SMP_WARP_GATHER;
        const int rows = (tall - (int)threadIdx.y + SMP_WARP_GATHER_THREADS - 1) / SMP_WARP_GATHER_THREADS;
        smp_warp_place at = warp_place<AFFINE>(p, x, y);
        T *to = reinterpret_cast<T *>(static_cast<char *>(io.out.data) + (y - io.out.y0) * io.out.stride) + x * C;
#pragma unroll 1
        for (int k = 0; k < rows; k++) {
            if (!beside) {
                left |= !warp_pixel<T, C>(io, p, at, to, clipped);
            } else if (warp_where_of(io, p, at) == WARP_BESIDE) {
                smp_converge();
                *clipped += warp_beside<T>(io, p, at.x, at.y, to);
            }
            y += SMP_WARP_GATHER_THREADS;
            to = reinterpret_cast<T *>(reinterpret_cast<char *>(to) + SMP_WARP_GATHER_THREADS * io.out.stride);
            if (AFFINE) {
                at.x += SMP_WARP_GATHER_THREADS * p.affine[1];
                at.y += SMP_WARP_GATHER_THREADS * p.affine[4];
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
