/* The blur of small radii in one launch, one warp a strip (column_walk.cuh). Its limit is the number of instructions.
 * The definition is gaussian_weights.h's, to the bit; radius and channels are constants of the kernel.
 *
 *   - No block barrier: the warps of an SM drift apart, and one warp's loads hide behind another's arithmetic.
 *   - The column pass stays in registers: a lane keeps 2r sums for each of its samples. A new row turns sum j into
 *     fma(weight, row, sum j + 1). This moves no registers and keeps the definition's order, top to bottom.
 *   - u8: a byte extended by zeros is a denormal float, byte * 2^-149. FADD and FFMA take denormals at full speed, and
 *     sums of two are exact. So a byte permute converts a sample; row weights carry 2^126, column weights 2^23, which
 *     changes no rounding. Adding 2^23 rounds to nearest, ties to even, and leaves the byte in the low bits: three
 *     permutes pack four. Weighted means of bytes neither clip nor become NaN.
 *   - Up to 7 taps of u8 have an integer row pass, two bytes an instruction (gaussian_dots): 5 taps take 16.2
 *     instructions a sample instead of 19.9.
 *   - Bands are low where memory is the limit: the L2 then keeps the rows that neighbouring bands read again. They are
 *     tall where instructions are the limit, since halo rows are filtered twice. Bands with their halo are whole groups
 *     of rows (lib/tuning.h, src/stages/shared/warp_strip_launch.c). */
#ifndef SMP_KERNELS_GAUSSIAN_GAUSSIAN_WARP_CUH
#define SMP_KERNELS_GAUSSIAN_GAUSSIAN_WARP_CUH

#include "gaussian/gaussian_weights.h"
#include "stencil/column_walk.cuh"

/* The input's format: how rows arrive, the weights, and a sample of a window of words. Value times weight has the
 * definition's scale. */
template <typename T, int V> struct gaussian_format;

template <int V> struct gaussian_format<uint8_t, V> {
    static constexpr int ROWS = 8;  /* a group */
    static constexpr int AHEAD = 1; /* groups; more evict other warps' rows from the L2 */
    /* Rows an iteration of the loop: more would spill or not fit the instruction cache. */
    static SMP_DEVICE_MEMBER constexpr int unroll(int radius) { return radius <= 7 ? 4 : 2; }
    /* Zero weights have no effect on integer samples, so one kernel serves several radii. */
    static SMP_DEVICE_MEMBER float across(const smp_gaussian &g, int k)
    {
        return k <= g.radius ? g.a[k] * 0x1p126f : 0.f;
    }
    static SMP_DEVICE_MEMBER float down(const smp_gaussian &g, int k) { return k <= g.radius ? g.w[k] * 0x1p23f : 0.f; }
    static SMP_DEVICE_MEMBER float value(const unsigned *words, int at) /* byte * 2^-149 */
    {
        return __uint_as_float(__byte_perm(words[at / 4], 0, 0x4440 | (at & 3)));
    }
};

/* u16 as u8: these are denormal floats too, with the same powers of two. Sums of weights are so near 1 that no mean
 * reaches 65535.5. */
template <int V> struct gaussian_format<uint16_t, V> : gaussian_format<uint8_t, V> {
    static SMP_DEVICE_MEMBER constexpr int unroll(int) { return 2; }
    static SMP_DEVICE_MEMBER float value(const unsigned *words, int at)
    {
        return __uint_as_float(at & 1 ? words[at / 2] >> 16 : words[at / 2] & 0xffffu);
    }
};

template <int V> struct gaussian_format<float, V> {
    static constexpr int ROWS = 4, AHEAD = 2;
    static SMP_DEVICE_MEMBER constexpr int unroll(int) { return 2; }
    static SMP_DEVICE_MEMBER float across(const smp_gaussian &g, int k) { return g.a[k]; }
    static SMP_DEVICE_MEMBER float down(const smp_gaussian &g, int k) { return g.w[k]; }
    static SMP_DEVICE_MEMBER float value(const unsigned *words, int at) { return __uint_as_float(words[at]); }
};

/* The output's format: V finished samples as a pack. */
template <typename OUT, int V> struct gaussian_stored;

template <int V> struct gaussian_stored<uint8_t, V> {
    typedef smp_pack<unsigned, V / 4> pack;
    static SMP_DEVICE_MEMBER float finish(float v) { return v + 8388608.f; }
    static SMP_DEVICE_MEMBER pack packed(const float *v)
    {
        pack p;
#pragma unroll
        for (int i = 0; i < V / 4; i++) {
            const unsigned low = __byte_perm(__float_as_uint(v[4 * i]), __float_as_uint(v[4 * i + 1]), 0x0040);
            const unsigned high = __byte_perm(__float_as_uint(v[4 * i + 2]), __float_as_uint(v[4 * i + 3]), 0x0040);
            p.v[i] = __byte_perm(low, high, 0x5410);
        }
        return p;
    }
};

template <int V> struct gaussian_stored<uint16_t, V> {
    typedef smp_pack<unsigned, V / 2> pack;
    static SMP_DEVICE_MEMBER float finish(float v) { return v + 8388608.f; }
    static SMP_DEVICE_MEMBER pack packed(const float *v)
    {
        pack p;
#pragma unroll
        for (int i = 0; i < V / 2; i++)
            p.v[i] = __byte_perm(__float_as_uint(v[2 * i]), __float_as_uint(v[2 * i + 1]), 0x5410);
        return p;
    }
};

template <int V> struct gaussian_stored<float, V> {
    typedef smp_pack<unsigned, V> pack;
    static SMP_DEVICE_MEMBER float finish(float v) { return smp_one_nan(v); }
    static SMP_DEVICE_MEMBER pack packed(const float *v)
    {
        pack p;
#pragma unroll
        for (int i = 0; i < V; i++)
            p.v[i] = __float_as_uint(v[i]);
        return p;
    }
};

/* Samples that a lane makes of a row. */
template <typename IN, typename OUT, int R> SMP_HOST_DEVICE constexpr int gaussian_lane()
{
    return smp_gaussian_lane(smp_sample<IN>::format, smp_sample<OUT>::format, R);
}

/* Whether the row pass is an integer one (gaussian_dots). */
template <typename IN, typename OUT, int R, bool SHARP> SMP_HOST_DEVICE constexpr bool gaussian_has_dots()
{
    return sizeof(IN) == 1 && sizeof(OUT) == 1 && !SHARP && R <= SMP_GAUSSIAN_DOTS_RADIUS;
}

/* The integer row pass of u8 with C channels. Weights are multiples of 1/65536 (gaussian_weights.h), so the sums
 * S < 2^24 are exact in any order, and one dot product takes two neighbouring bytes. Bytes stay where they are in their
 * words: there are weights for pairs that start at an even and at an odd tap. The bits of S are the float S * 2^-149.
 */
template <int R, int C> struct gaussian_dots {
    /* One channel: pair[0][k] has the weights of taps 2k and 2k + 1, pair[1][k] of 2k - 1 and 2k. Several channels: the
     * weight at distance k from the middle, for the first byte of a pair in pair[0], for the second in pair[1]. */
    unsigned pair[2][R + 1];

    static SMP_DEVICE_MEMBER unsigned weight(const smp_gaussian &g, int k)
    {
        return k >= 0 && k <= g.radius ? (unsigned)(g.a[k] * (float)SMP_GAUSSIAN_ONE) : 0;
    }
    static SMP_DEVICE_MEMBER unsigned tap(const smp_gaussian &g, int t)
    {
        return t < 0 || t > 2 * R ? 0 : weight(g, t < R ? R - t : t - R);
    }
    SMP_DEVICE_MEMBER gaussian_dots(const smp_gaussian &g)
    {
#pragma unroll
        for (int k = 0; k <= R; k++) {
            pair[0][k] = C == 1 ? tap(g, 2 * k) | tap(g, 2 * k + 1) << 16 : weight(g, k);
            pair[1][k] = C == 1 ? tap(g, 2 * k - 1) | tap(g, 2 * k) << 16 : weight(g, k) << 16;
#pragma unroll
            for (int odd = 0; odd < 2;
                 odd++) { /* else nvcc keeps them in uniform registers, and each use takes a move */
                unsigned &weights = pair[odd][k];
                weights = __shfl_sync(0xffffffffu, weights ^ threadIdx.x, (int)threadIdx.x) ^ threadIdx.x;
            }
        }
    }
    /* S of the sample whose first tap is byte `at` of words. */
    SMP_DEVICE_MEMBER float operator()(const unsigned *words, int at) const
    {
        unsigned S = 0;
#pragma unroll
        for (int k = 0; k < (C == 1 ? R + 1 : 2 * R + 1); k++) {
            const int byte = C == 1 ? (at & ~1) + 2 * k : at + k * C;
            const unsigned weights = pair[C == 1 ? at & 1 : byte & 1][C == 1 || k <= R ? (C == 1 ? k : R - k) : k - R];
            S = byte & 2 ? __dp2a_hi(weights, words[byte / 4], S) : __dp2a_lo(weights, words[byte / 4], S);
        }
        return __uint_as_float(S);
    }
};

/* The last step: turns a lane's blurred samples, of which the first n count, into the pack that is stored. With SHARP
 * it would get the input's samples too (sharpen_warp.cuh). */
template <typename IN, typename OUT, int R, int LANE = gaussian_lane<IN, OUT, R>()> struct gaussian_plain {
    static constexpr int V = LANE;
    static constexpr bool SHARP = false, CLIPS = sizeof(OUT) < sizeof(IN); /* means of integers cannot */
    static constexpr bool DOTS = gaussian_has_dots<IN, OUT, R, SHARP>();
    typedef gaussian_stored<OUT, V> stored;
    const bool counts;
    unsigned clipped;

    SMP_DEVICE_MEMBER gaussian_plain(const smp_io &io) : counts(CLIPS && io.clipped != nullptr), clipped(0) {}
    SMP_DEVICE_MEMBER typename stored::pack operator()(float *blurred,
                                                       const smp_pack<unsigned, V *(int)sizeof(IN) / 4> &, int n)
    {
#pragma unroll
        for (int i = 0; i < V; i++) {
            if (CLIPS) {
                if (counts && i < n)
                    clipped += smp_clipped<OUT>(blurred[i]);
                blurred[i] = fminf(fmaxf(blurred[i], 0.f), 255.f); /* NaN becomes 0 */
            }
            blurred[i] = DOTS ? fmaf(blurred[i], 0x1p7f, 8388608.f) : stored::finish(blurred[i]);
        }
        return stored::packed(blurred);
    }
};

/* The blur as a stencil of column_walk.cuh: IN into OUT, radius R, C channels. FINISH turns blurred samples into the
 * pack that is stored; where it has SHARP, input rows stay in shared memory until the filter has passed them. */
template <typename IN, typename OUT, int R, int CHANNELS, typename FINISH> struct gaussian_row {
    typedef gaussian_format<IN, FINISH::V> format;
    static constexpr int C = CHANNELS, V = FINISH::V, REACH = R * C, PACKS = (REACH + V - 1) / V;
    static constexpr int LEFT = PACKS * V - REACH; /* samples of the window that no tap reads */
    static constexpr int FIRST = LEFT * (int)sizeof(IN) / 4, LAST = (LEFT + V + 2 * REACH - 1) * (int)sizeof(IN) / 4;
    static constexpr bool DOTS = gaussian_has_dots<IN, OUT, R, FINISH::SHARP>();
    typedef column_window<IN, C, V, PACKS, FIRST, LAST, format::ROWS, format::AHEAD, FINISH::SHARP ? R : 0,
                          FINISH::SHARP ? 2 : format::unroll(R)>
        walk;
    typedef OUT out;
    typedef typename gaussian_stored<OUT, V>::pack pack;
    FINISH &finish;
    float across[R + 1], down[R + 1]; /* weights by distance from the middle */
    const gaussian_dots<R, C> dots;
    float sum[2 * R][V], done[V];

    SMP_DEVICE_MEMBER gaussian_row(const smp_gaussian &g, FINISH &last) : finish(last), dots(g)
    {
#pragma unroll
        for (int k = 0; k <= R; k++) {
            across[k] = format::across(g, k);
            down[k] = format::down(g, k) * (DOTS ? 0x1p103f : 1.f); /* 2^126 in all */
        }
    }
    SMP_DEVICE_MEMBER void begin()
    {
#pragma unroll
        for (int j = 0; j < 2 * R; j++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[j][i] = 0.f;
    }
    SMP_DEVICE_MEMBER void add(const unsigned *words, const IN *, bool, int)
    {
#pragma unroll
        for (int c = 0; c < C && c < V; c++) { /* channel by channel: fewer values are live */
            constexpr int VALUES = (V + C - 1) / C + 2 * R;
            float p[VALUES];
#pragma unroll
            for (int m = 0; m < VALUES; m++)
                if (!DOTS && c + m * C < V + 2 * REACH)
                    p[m] = format::value(words, LEFT + c + m * C);
#pragma unroll
            for (int m = 0; m * C + c < V; m++) {
                const int i = m * C + c;
                float v;
                if constexpr (DOTS) {
                    v = dots(words, LEFT + i);
                } else {
                    v = smp_gaussian_first(across[0], p[m + R]);
#pragma unroll
                    for (int t = 1; t <= R; t++)
                        v = smp_gaussian_pair(v, across[t], p[m + R - t], p[m + R + t]);
                }
                done[i] = smp_gaussian_tap(sum[0][i], down[R], v);
#pragma unroll
                for (int j = 0; j < 2 * R - 1; j++)
                    sum[j][i] = smp_gaussian_tap(sum[j + 1][i], down[j < R ? R - 1 - j : j + 1 - R], v);
                sum[2 * R - 1][i] = smp_gaussian_first(down[R], v);
            }
        }
    }
    SMP_DEVICE_MEMBER pack operator()(const IN *kept, int n)
    {
        typename walk::pack sharp = {};
        if (FINISH::SHARP)
            sharp = *reinterpret_cast<const typename walk::pack *>(kept + PACKS * V);
        return finish(done, sharp, n);
    }
    SMP_DEVICE_MEMBER void count(int) {} /* FINISH counts */
};

/* The kernel for radius R and C channels of IN into OUT; grid: smp_gaussian_warp_grid(). */
template <typename IN, typename OUT, int R, int C, typename FINISH>
SMP_DEVICE void gaussian_column_walk(const smp_io &io, const smp_gaussian &g, FINISH &finish)
{
    typedef gaussian_row<IN, OUT, R, C, FINISH> row_type;
    typedef typename row_type::walk::rows_type rows_type;
    SMP_SHARED(rows_type, s);
    row_type row(g, finish);
    column_walk<2 * R + 1>(io, g.edge, R, R * C, s, row);
}

/* The blur without a further step. */
template <typename IN, typename OUT, int R, int C>
SMP_DEVICE void gaussian_column_walk_plain(const smp_io &io, const smp_gaussian &g)
{
    gaussian_plain<IN, OUT, R> finish(io);
    gaussian_column_walk<IN, OUT, R, C>(io, g, finish);
    if (finish.CLIPS)
        smp_count_clipped<OUT>(io, finish.clipped);
}

#endif
