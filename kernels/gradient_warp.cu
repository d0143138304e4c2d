/* The magnitude of sobel on GPUs, one warp a strip (strip.cuh), for u8 into u8 and f32 into f32 with 1, 3 or 4
 * channels, none of them alpha. A lane makes 16 bytes, or 4 floats, of every row that comes by and keeps what the next
 * two rows need.
 *
 *   bytes  All sums are exact integers, so their order is free: x = d(a) + 2 d(b) + d(c) with d = right - left in a
 * row, y = s(c) - s(a) with s = left + 2 middle + right. Two samples share a 32-bit register, 16 bits each; as one
 * integer high * 65536 + low they add and subtract in one instruction, and a bias keeps both parts positive where they
 * are taken apart. Byte permutes make floats (2^23 + part), and squares, root and rounding are those of the definition,
 * but for the root: an approximation serves, for roots of integers up to 255.5^2 keep a relative distance of 1.9e-6
 * from where rounding changes, and it errs by 2^-22 at most. Clamping and packing are again two samples an instruction.
 *   f32    The definition's own order, each column sum made once a lane. */
#include "gradient.h"

#include "strip.cuh"

/* The square root with an error below 2^-22 of it. */
SMP_DEVICE float gradient_root(float v)
{
#ifdef __CUDACC__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
    return root;
#else
    return sqrtf(v);
#endif
}

/* ---------------------------------------------------------------------------------------------- bytes */

template <int C> struct gradient_bytes {
    static constexpr int PAIRS = 8;
    static constexpr unsigned BIAS = 0x04000400; /* |x| and |y| are at most 1020 */
    unsigned before[PAIRS], above[PAIRS];        /* d(a) + 2 d(b), d(b) */
    unsigned smooth_a[PAIRS], smooth_b[PAIRS];   /* s(a), s(b) */
    unsigned pairs[PAIRS];                       /* results before they are clamped */
    unsigned clipped;
    bool counts;

    SMP_MEMBER void begin()
    {
#pragma unroll
        for (int k = 0; k < PAIRS; k++)
            before[k] = above[k] = smooth_a[k] = smooth_b[k] = 0;
    }
    /* Samples 2k and 2k + 1 of the window, 16 bits each: k = 8 is the first pair of the lane's own. */
    static SMP_MEMBER unsigned even(const unsigned *words, int k)
    {
        return __byte_perm(words[k / 2], 0, k & 1 ? 0x4342 : 0x4140);
    }
    static SMP_MEMBER float part(unsigned biased, bool high)
    {
        return __uint_as_float(__byte_perm(biased, 0x4b000000, high ? 0x7432 : 0x7410)) - (8388608.f + 1024.f);
    }
    SMP_MEMBER strip_pack operator()(const unsigned *words)
    {
        constexpr int LEFT = 8 - (C + 1) / 2, SPAN = 8 + 2 * ((C + 1) / 2); /* pairs of the window that are wanted */
        unsigned e[SPAN], odd[SPAN];
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            e[k] = even(words, LEFT + k);
#pragma unroll
        for (int k = 0; k + 1 < SPAN; k++) /* samples 2k + 1 and 2k + 2 */
            odd[k] = C % 2 ? __byte_perm(e[k], e[k + 1], 0x5432) : 0;
        strip_pack result;
#pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            const unsigned middle = e[k + (C + 1) / 2];
            const unsigned left = C % 2 ? odd[k] : e[k], right = C % 2 ? odd[k + C] : e[k + C];
            const unsigned d = right - left, smooth = left + right + 2 * middle;
            const unsigned x = before[k] + d + BIAS, y = smooth - smooth_a[k] + BIAS;
            before[k] = above[k] + 2 * d;
            above[k] = d;
            smooth_a[k] = smooth_b[k];
            smooth_b[k] = smooth;
            unsigned bits[2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float px = part(x, h), py = part(y, h);
                bits[h] = __float_as_uint(gradient_root(fmaf(py, py, px * px)) + 8388608.f);
            }
            pairs[k] = __byte_perm(bits[0], bits[1], 0x5410);
        }
#pragma unroll
        for (int k = 0; k < PAIRS; k += 2)
            result.v[k / 2] = __byte_perm(__vminu2(pairs[k], 0x00ff00ff), __vminu2(pairs[k + 1], 0x00ff00ff), 0x6420);
        return result;
    }
    /* Of the last row; n samples exist from the lane's first on. */
    SMP_MEMBER void count(int n)
    {
        unsigned some = 0;
        if (!counts)
            return;
#pragma unroll
        for (int k = 0; k < PAIRS; k++)
            some |= pairs[k];
        if (some & 0xff00ff00)
#pragma unroll
            for (int k = 0; k < PAIRS; k++)
                clipped += (unsigned)(2 * k < n && (pairs[k] & 0xff00)) + (unsigned)(2 * k + 1 < n && pairs[k] >> 24);
    }
    static SMP_MEMBER uint8_t sample(const strip_pack &p, int i)
    {
        return (uint8_t)(p.v[i / 4] >> 8 * (i & 3));
    }
};

template <int C> SMP_DEVICE void gradient_warp_bytes(const smp_io &io, const smp_gradient &g)
{
    typedef strip_walk<uint8_t, C, 1, SMP_GRADIENT_WARP_ROWS> walk;
    typedef typename walk::rows_type rows_type;
    SMP_SMEM(rows_type, s);
    gradient_bytes<C> row;
    row.clipped = 0;
    row.counts = io.clipped != nullptr;
    strip_march<walk, 3>(io, g.edge, 1, C, s, row);
    smp_count_clipped(io, row.clipped);
}

/* ---------------------------------------------------------------------------------------------- f32 */

template <int C> struct gradient_reals {
    float a[4 + 2 * C], b[4 + 2 * C]; /* the rows above and at, from C samples before the lane's own on */
    SMP_MEMBER void begin()
    {
#pragma unroll
        for (int i = 0; i < 4 + 2 * C; i++)
            a[i] = b[i] = 0.f;
    }
    SMP_MEMBER strip_pack operator()(const unsigned *words)
    {
        float smooth[4 + 2 * C], slope[4 + 2 * C];
#pragma unroll
        for (int i = 0; i < 4 + 2 * C; i++) {
            const float c = __uint_as_float(words[4 - C + i]);
            smooth[i] = smp_sobel_smooth(a[i], b[i], c);
            slope[i] = smp_sobel_slope(a[i], c);
            a[i] = b[i];
            b[i] = c;
        }
        strip_pack result;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float x = smp_sobel_x(smooth[i], smooth[i + 2 * C]);
            const float y = smp_sobel_y(slope[i], slope[i + C], slope[i + 2 * C]);
            result.v[i] = __float_as_uint(smp_one_nan(smp_sobel_magnitude(x, y)));
        }
        return result;
    }
    SMP_MEMBER void count(int) {}
    static SMP_MEMBER float sample(const strip_pack &p, int i)
    {
        return __uint_as_float(p.v[i]);
    }
};

template <int C> SMP_DEVICE void gradient_warp_reals(const smp_io &io, const smp_gradient &g)
{
    typedef strip_walk<float, C, 1, SMP_GRADIENT_WARP_ROWS> walk;
    typedef typename walk::rows_type rows_type;
    SMP_SMEM(rows_type, s);
    gradient_reals<C> row;
    strip_march<walk, 3>(io, g.edge, 1, C, s, row);
}

#define GRADIENT_WARP(C)                                                                                               \
    SMP_KERNEL_BOUNDS(32, 16, gradient_warp##C##_u8_u8, smp_gradient, io, p)                                           \
    {                                                                                                                  \
        gradient_warp_bytes<C>(io, p);                                                                                 \
    }                                                                                                                  \
    SMP_KERNEL_BOUNDS(32, 24, gradient_warp##C##_f32_f32, smp_gradient, io, p)                                         \
    {                                                                                                                  \
        gradient_warp_reals<C>(io, p);                                                                                 \
    }
GRADIENT_WARP(1)
GRADIENT_WARP(3)
GRADIENT_WARP(4)
