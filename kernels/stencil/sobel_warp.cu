/* sobel on GPUs, one warp a strip (column_walk.cuh), for u8 into u8 and f32 into f32 with 1, 3 or 4 channels, none of
 * them alpha: the magnitude, x, or y. A lane makes 16 bytes, or 4 floats, of every row that comes by and keeps what the
 * next two rows need. f32 has the definition's own order, each column sum made once a lane.
 *
 * Bytes: all sums are exact integers, so their order is free: x = d(a) + 2 d(b) + d(c) with d = right - left in a row,
 * y = s(c) - s(a) with s = left + 2 middle + right. Two samples share a register as halves in units of 2^-24: a byte
 * extended by zeros is one (a denormal), integers up to 2048 are exact, and adding and multiplying halves leaves the
 * integer units, of which an SM has half as many, to the permutes. As bits such a half is the integer itself, with a
 * sign: x and y are clamped as they are, two samples an instruction. Squares, root and rounding of the magnitude are
 * those of the definition in f32, but for the root: an approximation serves, for roots of integers up to 255.5^2 keep a
 * relative distance of 1.9e-6 from where rounding changes, and it errs by 2^-22 at most. What is clipped, in noise most
 * samples, is counted a pair at a time, and added to the picture's count once a warp: an atomic of every lane to one
 * address takes six times as long as all the rest. */
#include "stencil/sobel.h"

#include "stencil/column_walk.cuh"

/* The square root with an error below 2^-22 of it. */
SMP_DEVICE float sobel_root(float v)
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

/* Pairs of halves in units of 2^-24, integers of at most 2047: a + b, a - b, a + 2 b. */
#ifdef __CUDACC__
SMP_DEVICE unsigned sobel_plus(unsigned a, unsigned b)
{
    unsigned sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
SMP_DEVICE unsigned sobel_minus(unsigned a, unsigned b)
{
    unsigned sum;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
SMP_DEVICE unsigned sobel_twice(unsigned a, unsigned b)
{
    unsigned sum;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(b), "r"(0x40004000u), "r"(a));
    return sum;
}
/* The high or the low one of a pair, times 2^-24. */
SMP_DEVICE float sobel_part(unsigned pair, bool high)
{
    float v;
    if (high)
        asm("{.reg .f16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, b;}" : "=f"(v) : "r"(pair));
    else
        asm("{.reg .f16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, a;}" : "=f"(v) : "r"(pair));
    return v;
}
#else /* the bits of such a half: a sign, and the integer */
SMP_DEVICE int sobel_integer(unsigned half)
{
    return half & 0x8000 ? -(int)(half & 0x7fff) : (int)(half & 0x7fff);
}
SMP_DEVICE unsigned sobel_half(int v)
{
    return v < 0 ? 0x8000u | (unsigned)-v : (unsigned)v;
}
SMP_DEVICE unsigned sobel_sum(unsigned a, unsigned b, int times)
{
    const int low = sobel_integer(a & 0xffff) + times * sobel_integer(b & 0xffff);
    const int high = sobel_integer(a >> 16) + times * sobel_integer(b >> 16);
    return sobel_half(low) | sobel_half(high) << 16;
}
SMP_DEVICE unsigned sobel_plus(unsigned a, unsigned b)
{
    return sobel_sum(a, b, 1);
}
SMP_DEVICE unsigned sobel_minus(unsigned a, unsigned b)
{
    return sobel_sum(a, b, -1);
}
SMP_DEVICE unsigned sobel_twice(unsigned a, unsigned b)
{
    return sobel_sum(a, b, 2);
}
SMP_DEVICE float sobel_part(unsigned pair, bool high)
{
    return (float)sobel_integer(high ? pair >> 16 : pair & 0xffff) * 0x1p-24f;
}
#endif

/* WHAT: a smp_sobel_output, magnitude, x or y. */
template <int C, int WHAT> struct sobel_bytes {
    static constexpr int PAIRS = 8;
    static constexpr bool X = WHAT != SMP_SOBEL_Y, Y = WHAT != SMP_SOBEL_X;
    /* For the last two rows, in turn, so that none moves to another register: d, d + that of the row above, s. */
    unsigned slope[2][PAIRS], slopes[2][PAIRS], smooth[2][PAIRS];
    unsigned x[PAIRS], y[PAIRS]; /* of the last row */
    unsigned pairs[PAIRS];       /* results before they are clamped: integers, of x and y halves */
    unsigned clipped;
    bool counts;

    SMP_DEVICE_MEMBER void begin()
    {
#pragma unroll
        for (int k = 0; k < PAIRS; k++)
            slope[1][k] = slopes[1][k] = smooth[0][k] = smooth[1][k] = 0;
    }
    /* Samples 2k and 2k + 1 of the window, 16 bits each: k = 8 is the first pair of the lane's own. */
    static SMP_DEVICE_MEMBER unsigned even(const unsigned *words, int k)
    {
        return __byte_perm(words[k / 2], 0, k & 1 ? 0x4342 : 0x4140);
    }
    static SMP_DEVICE_MEMBER unsigned magnitude(float x, float y)
    {
        return __float_as_uint(fmaf(sobel_root(fmaf(y, y, x * x)), 16777216.f, 8388608.f));
    }
    SMP_DEVICE_MEMBER void add(const unsigned *words, int turn)
    {
        constexpr int LEFT = 8 - (C + 1) / 2, SPAN = 8 + 2 * ((C + 1) / 2); /* pairs of the window that are wanted */
        unsigned e[SPAN], odd[SPAN];
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            e[k] = even(words, LEFT + k);
#pragma unroll
        for (int k = 0; k + 1 < SPAN; k++) /* samples 2k + 1 and 2k + 2 */
            odd[k] = C % 2 ? __byte_perm(e[k], e[k + 1], 0x5432) : 0;
#pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            const unsigned middle = e[k + (C + 1) / 2];
            const unsigned left = C % 2 ? odd[k] : e[k], right = C % 2 ? odd[k + C] : e[k + C];
            if (X) {
                slope[turn][k] = sobel_minus(right, left);
                slopes[turn][k] = sobel_plus(slope[0][k], slope[1][k]);
                x[k] = sobel_plus(slopes[0][k], slopes[1][k]);
            }
            if (Y) {
                const unsigned sum = sobel_twice(sobel_plus(left, right), middle);
                y[k] = sobel_minus(sum, smooth[turn][k]);
                smooth[turn][k] = sum;
            }
        }
    }
    SMP_DEVICE_MEMBER strip_pack operator()()
    {
        strip_pack result;
#pragma unroll
        for (int k = 0; k < PAIRS; k++)
            if (X && Y)
                pairs[k] = __byte_perm(magnitude(sobel_part(x[k], false), sobel_part(y[k], false)),
                                       magnitude(sobel_part(x[k], true), sobel_part(y[k], true)), 0x5410);
            else
                pairs[k] = X ? x[k] : y[k];
#pragma unroll
        for (int k = 0; k < PAIRS; k += 2)
            result.v[k / 2] = __byte_perm(__vimin_s16x2_relu(pairs[k], 0x00ff00ff),
                                          __vimin_s16x2_relu(pairs[k + 1], 0x00ff00ff), 0x6420);
        return result;
    }
    /* 1 for each of a pair that is clipped: above 255, or negative, which has its sign above all others. No half is
     * minus zero: no sum here is one of two. */
    static SMP_DEVICE_MEMBER unsigned clips(unsigned pair)
    {
        if (X && Y)
            return __viaddmin_s16x2_relu(pair, 0xff01ff01, 0x00010001);
        return __viaddmin_u16x2(__vmaxu2(pair, 0x00ff00ff), 0xff01ff01, 0x00010001);
    }
    /* For the last row; n samples exist from the lane's first on. */
    SMP_DEVICE_MEMBER void count(int n)
    {
        unsigned both = 0;
        if (!counts)
            return;
#pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            const unsigned exist = 2 * k + 1 < n ? 0x00010001 : 2 * k < n ? 1 : 0;
            both += n >= 2 * PAIRS ? clips(pairs[k]) : clips(pairs[k]) & exist;
        }
        clipped = __dp4a(both, 0x01010101u, clipped);
    }
    static SMP_DEVICE_MEMBER uint8_t sample(const strip_pack &p, int i)
    {
        return (uint8_t)(p.v[i / 4] >> 8 * (i & 3));
    }
};

template <int C, int WHAT> SMP_DEVICE void sobel_warp_bytes(const smp_io &io, const smp_sobel &g)
{
    typedef strip_walk<uint8_t, C, 1, SMP_SOBEL_WARP_ROWS, 0, (16 - C) / 4, (31 + C) / 4, 4> walk;
    typedef typename walk::rows_type rows_type;
    SMP_SHARED(rows_type, s);
    sobel_bytes<C, WHAT> row;
    row.clipped = 0;
    row.counts = io.clipped != nullptr;
    column_walk<walk, 3>(io, g.edge, 1, C, s, row);
    smp_count_clipped<uint8_t>(io, row.clipped);
}

/* ---------------------------------------------------------------------------------------------- f32 */

template <int C, int WHAT> struct sobel_reals {
    float a[4 + 2 * C], b[4 + 2 * C];          /* the rows above and at, from C samples before the lane's own on */
    float smooth[4 + 2 * C], slope[4 + 2 * C]; /* of their columns and the last row's */
    SMP_DEVICE_MEMBER void begin()
    {
#pragma unroll
        for (int i = 0; i < 4 + 2 * C; i++)
            a[i] = b[i] = 0.f;
    }
    SMP_DEVICE_MEMBER void add(const unsigned *words, int)
    {
#pragma unroll
        for (int i = 0; i < 4 + 2 * C; i++) {
            const float c = __uint_as_float(words[4 - C + i]);
            smooth[i] = smp_sobel_smooth(a[i], b[i], c);
            slope[i] = smp_sobel_slope(a[i], c);
            a[i] = b[i];
            b[i] = c;
        }
    }
    SMP_DEVICE_MEMBER strip_pack operator()()
    {
        strip_pack result;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float x = smp_sobel_x(smooth[i], smooth[i + 2 * C]);
            const float y = smp_sobel_y(slope[i], slope[i + C], slope[i + 2 * C]);
            const float v = WHAT == SMP_SOBEL_X ? x : WHAT == SMP_SOBEL_Y ? y : smp_sobel_magnitude(x, y);
            result.v[i] = __float_as_uint(smp_one_nan(v));
        }
        return result;
    }
    SMP_DEVICE_MEMBER void count(int) {}
    static SMP_DEVICE_MEMBER float sample(const strip_pack &p, int i)
    {
        return __uint_as_float(p.v[i]);
    }
};

template <int C, int WHAT> SMP_DEVICE void sobel_warp_reals(const smp_io &io, const smp_sobel &g)
{
    typedef strip_walk<float, C, 1, SMP_SOBEL_WARP_ROWS, 0, 4 - C, 7 + C> walk;
    typedef typename walk::rows_type rows_type;
    SMP_SHARED(rows_type, s);
    sobel_reals<C, WHAT> row;
    column_walk<walk, 3>(io, g.edge, 1, C, s, row);
}

#define SOBEL_WARP(NAME, WHAT, C)                                                                                      \
    SMP_KERNEL_BOUNDS(32, SMP_SOBEL_WARPS_U8, NAME##C##_u8_u8, smp_sobel, io, p)                                       \
    {                                                                                                                  \
        sobel_warp_bytes<C, WHAT>(io, p);                                                                              \
    }                                                                                                                  \
    SMP_KERNEL_BOUNDS(32, SMP_SOBEL_WARPS_F32, NAME##C##_f32_f32, smp_sobel, io, p)                                    \
    {                                                                                                                  \
        sobel_warp_reals<C, WHAT>(io, p);                                                                              \
    }
#define SOBEL_WARP_ALL(NAME, WHAT) SOBEL_WARP(NAME, WHAT, 1) SOBEL_WARP(NAME, WHAT, 3) SOBEL_WARP(NAME, WHAT, 4)
SOBEL_WARP_ALL(sobel_warp, SMP_SOBEL_MAGNITUDE)
SOBEL_WARP_ALL(sobel_warp_x, SMP_SOBEL_X)
SOBEL_WARP_ALL(sobel_warp_y, SMP_SOBEL_Y)
