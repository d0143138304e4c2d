/* The fused blur of small radii, one warp a strip: what is counted here is instructions. The definition is
 * gaussian_weights.h's, to the bit; radius and channels are constants of the kernel.
 *
 *   - no block barrier: the warps of an SM drift apart, and one's loads hide behind another's arithmetic;
 *   - nothing of the column pass is in shared memory: each lane keeps 2r sums for each of its samples, and a new row
 *     turns sum j into fma(weight, row, sum j + 1), which needs no moves and is the definition's order, top to bottom;
 *   - bytes: a byte extended by zeros is a denormal float, byte * 2^-149, which FADD and FFMA take at full speed, and
 *     sums of two are exact. So a conversion is one byte permute; the row weights carry 2^126, the column weights 2^23,
 *     which changes no rounding. Adding 2^23 rounds to nearest, ties to even, and leaves the byte in the low bits:
 *     three permutes pack four. Weighted means of bytes neither clip nor are NaN;
 *   - up to 7 taps of bytes have their row pass in whole numbers, two bytes an instruction (gaussian_dots): 5 taps take
 *     16 instructions a sample in all;
 *   - bands are low where memory binds, since the L2 then keeps what the next ones read again, and tall where
 *     instructions do, since rows of their halo are filtered twice; both together are whole groups of rows
 *     (lib/tuning.h, src/stages/shared/stencil/warp_strip_launch.c). */
#pragma once

#include "gaussian/gaussian_weights.h"
#include "stencil/column_walk.cuh"

/* Differences between formats of the input: V samples a lane are `pack`; a window of packs is words. Values times
 * weights are on the definition's scale. */
template <typename T, int V> struct gaussian_format;

template <int V> struct gaussian_format<uint8_t, V> {
    static constexpr int ROWS = 8;  /* that arrive together */
    static constexpr int AHEAD = 1; /* groups of them under way: more keep others' rows out of the L2 */
    typedef smp_pack<unsigned, V / 4> pack;
    /* Rows of a turn of the loop: more spill, or do not fit the cache. */
    static SMP_DEVICE_MEMBER constexpr int unroll(int radius) { return radius <= 7 ? 4 : 2; }
    /* Taps beyond the filter's own weigh nothing: sums of bytes do not change by them. */
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

/* 16 bits as bytes: such numbers are denormal floats too, the weights' powers of two are the same, and so is the number
 * that rounds; sums of weights are so near 1 that no mean reaches 65535.5. */
template <int V> struct gaussian_format<uint16_t, V> : gaussian_format<uint8_t, V> {
    typedef smp_pack<unsigned, V / 2> pack;
    static SMP_DEVICE_MEMBER constexpr int unroll(int) { return 2; }
    static SMP_DEVICE_MEMBER float value(const unsigned *words, int at)
    {
        return __uint_as_float(at & 1 ? words[at / 2] >> 16 : words[at / 2] & 0xffffu);
    }
};

template <int V> struct gaussian_format<float, V> {
    static constexpr int ROWS = 4, AHEAD = 2;
    typedef smp_pack<unsigned, V> pack;
    static SMP_DEVICE_MEMBER constexpr int unroll(int) { return 2; }
    static SMP_DEVICE_MEMBER float across(const smp_gaussian &g, int k) { return g.a[k]; }
    static SMP_DEVICE_MEMBER float down(const smp_gaussian &g, int k) { return g.w[k]; }
    static SMP_DEVICE_MEMBER float value(const unsigned *words, int at) { return __uint_as_float(words[at]); }
};

/* And of the output: V finished samples as `pack`. */
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
    static SMP_DEVICE_MEMBER uint8_t sample(const pack &p, int i)
    {
        return (uint8_t)(p.v[i / 4] >> 8 * (i & 3));
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
    static SMP_DEVICE_MEMBER uint16_t sample(const pack &p, int i)
    {
        return (uint16_t)(p.v[i / 2] >> 16 * (i & 1));
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
    static SMP_DEVICE_MEMBER float sample(const pack &p, int i)
    {
        return __uint_as_float(p.v[i]);
    }
};

/* Samples of IN, and of OUT, that a lane makes of a row. */
template <typename IN, typename OUT, int R> SMP_HOST_DEVICE constexpr int gaussian_lane()
{
    return smp_gaussian_lane(smp_sample<IN>::format, smp_sample<OUT>::format, R);
}

/* Whether the row pass is made in whole numbers (gaussian_dots). */
template <typename IN, typename OUT, int R, bool SHARP> SMP_HOST_DEVICE constexpr bool gaussian_has_dots()
{
    return sizeof(IN) == 1 && sizeof(OUT) == 1 && !SHARP && R <= SMP_GAUSSIAN_DOTS_RADIUS;
}

/* The row pass of bytes in whole numbers, C channels: a[k] are 65536ths (gaussian_weights.h), so that its sums S < 2^24
 * are exact in any order, and two neighbouring bytes with their weights are one instruction. Nothing is converted:
 * bytes are taken where they lie in their words, for which there are weights of both kinds of pairs; S is the float S *
 * 2^-149 as its bits lie there. */
template <int R, int C> struct gaussian_dots {
    /* [0] of pairs that begin with a tap, [1] of those that end with the first one or, of several channels, with one.
     * Of one channel [..][k] is for taps 2k and 2k + 1, or 2k - 1 and 2k; of several for those k from the middle. */
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
            for (int odd = 0; odd < 2; odd++) { /* else nvcc has them in uniform registers, and each use takes a move */
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

/* Makes the stored pack of a lane's blurred samples, and of how many of the V there are to store: the samples as they
 * are; one with SHARP gets the input's samples at that place as well. */
template <typename IN, typename OUT, int R, int LANE = gaussian_lane<IN, OUT, R>()> struct gaussian_plain {
    static constexpr int V = LANE;
    static constexpr bool SHARP = false, CLIPS = sizeof(OUT) < sizeof(IN); /* means of whole numbers cannot */
    static constexpr bool DOTS = gaussian_has_dots<IN, OUT, R, SHARP>();
    typedef gaussian_stored<OUT, V> stored;
    const bool counts;
    unsigned clipped;

    SMP_DEVICE_MEMBER gaussian_plain(const smp_io &io) : counts(CLIPS && io.clipped != nullptr), clipped(0) {}
    SMP_DEVICE_MEMBER typename stored::pack operator()(float *blurred, const typename gaussian_format<IN, V>::pack &,
                                                       int n)
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

/* Samples, and rows, of a strip. Rows that are still wanted when the filter has passed them (SHARP) stay in shared
 * memory for so long. */
template <typename T, int V, int R, int C, bool SHARP> struct gaussian_strip_shape {
    typedef gaussian_format<T, V> format;
    static constexpr int ROWS = format::ROWS, REACH = R * C, PIECE = 16 / (int)sizeof(T);
    static constexpr int STAGES = 1 + format::AHEAD + (SHARP ? (R + ROWS - 1) / ROWS : 0);
    static constexpr int PACKS = (REACH + V - 1) / V; /* on either side of a lane's own */
    static constexpr int SIDE = (PACKS * V + PIECE - 1) / PIECE * PIECE;
    typedef strip_loader<T, C, 32 * V, SIDE, ROWS, STAGES> loader_type;
    typedef typename loader_type::rows_type rows_type;
};

/* The kernel for radius R and C channels of T into OUT; grid: smp_gaussian_warp_grid(). */
template <typename T, typename OUT, int R, int C, typename FINISH>
SMP_DEVICE void gaussian_column_walk(const smp_io &io, const smp_gaussian &g, FINISH &finish)
{
    constexpr int V = FINISH::V;
    typedef gaussian_format<T, V> format;
    typedef typename format::pack pack;
    typedef gaussian_stored<OUT, V> stored;
    typedef typename stored::pack stored_pack;
    typedef gaussian_strip_shape<T, V, R, C, FINISH::SHARP> shape;
    typedef typename shape::loader_type loader_type;
    typedef typename shape::rows_type rows_type;
    constexpr int ROWS = format::ROWS, AHEAD = format::AHEAD, REACH = R * C;
    constexpr bool DOTS = gaussian_has_dots<T, OUT, R, FINISH::SHARP>();
    constexpr int WORDS = (int)sizeof(pack) / 4, PACKS = shape::PACKS, SIDE = shape::SIDE;
    constexpr int LEFT = PACKS * V - REACH;
    constexpr int FIRST = LEFT * (int)sizeof(T) / 4, LAST = (LEFT + V + 2 * REACH - 1) * (int)sizeof(T) / 4;
    SMP_SHARED(rows_type, s);
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    const int lane = (int)threadIdx.x, x0 = place.strip * 32 * V, x = x0 + V * lane;
    const int n = (int)stencil_samples(io.out);
    loader_type loader(s, io.in, x0, REACH, g.edge);
    int take = x >= n ? 0 : x + V > n ? n - x : V + 1; /* V + 1: all samples in one access */
    take = __shfl_sync(0xffffffffu, take, lane);       /* else nvcc works it out for every row */
    T *const own = s.first() + SIDE + V * lane;
    const T *const window = own - PACKS * V;
    float across[R + 1], down[R + 1];
#pragma unroll
    for (int k = 0; k <= R; k++) {
        across[k] = format::across(g, k);
        down[k] = format::down(g, k) * (DOTS ? 0x1p103f : 1.f); /* 2^126 in all */
    }
    const gaussian_dots<R, C> dots(g);
    const int64_t top = io.out.y0 + place.begin;
    if (place.rows > 0) { /* always: without the question nvcc's code is slower */
        const int made = place.rows, need = made + 2 * R;
        const int groups = (need + ROWS - 1) / ROWS;
        float sum[2 * R][V];
#pragma unroll
        for (int j = 0; j < 2 * R; j++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[j][i] = 0.f;
        int stage = 0, next = 0, row = -2 * R; /* the output row that is complete */
        int outgoing = loader_type::RING - R * loader_type::PITCH;
        OUT *out = reinterpret_cast<OUT *>(static_cast<char *>(smp_row(&io.out, top)) - 2 * R * io.out.stride) + x;
        loader.begin(top - R, need, groups);
#pragma unroll 1
        for (int k = -AHEAD; k < groups; k++) { /* the first turns only load ahead */
            if (!strip_turn<AHEAD>(loader, k, groups, stage, next))
                continue;
#pragma unroll(FINISH::SHARP ? 2 : format::unroll(R))
            for (int q = 0; q < ROWS; q++) {
                unsigned words[(2 * PACKS + 1) * WORDS] = {};
                float done[V];
#pragma unroll
                for (int i = 0; i < 2 * PACKS + 1; i++)
                    strip_words<FIRST, LAST>(
                        words, i, reinterpret_cast<const pack *>(window + stage + q * loader_type::PITCH) + i);
#pragma unroll
                for (int c = 0; c < C && c < V; c++) { /* one channel after the other: fewer values are alive */
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
                if ((unsigned)row < (unsigned)made) { /* what waits in vain is not stored */
                    pack sharp = {};
                    if (FINISH::SHARP)
                        sharp = *reinterpret_cast<const pack *>(own + outgoing);
                    const stored_pack result = finish(done, sharp, take);
                    if (take > V)
                        *reinterpret_cast<stored_pack *>(out) = result;
                    else
#pragma unroll
                        for (int i = 0; i < V; i++)
                            if (i < take)
                                out[i] = stored::sample(result, i);
                }
                out = reinterpret_cast<OUT *>(reinterpret_cast<char *>(out) + io.out.stride);
                row++;
                if (FINISH::SHARP) {
                    outgoing += loader_type::PITCH;
                    outgoing = outgoing == loader_type::RING ? 0 : outgoing;
                }
            }
            stage = strip_next<loader_type>(stage);
        }
    }
}

/* The blur of gaussian_weights.h stored as it is. */
template <typename IN, typename OUT, int R, int C>
SMP_DEVICE void gaussian_column_walk_plain(const smp_io &io, const smp_gaussian &g)
{
    gaussian_plain<IN, OUT, R> finish(io);
    gaussian_column_walk<IN, OUT, R, C>(io, g, finish);
    if (finish.CLIPS)
        smp_count_clipped<OUT>(io, finish.clipped);
}
