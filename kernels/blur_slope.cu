/* blur_slope on GPUs.
 *   naive  one pixel a thread, every blurred sample anew: (2r + 1)^2 samples nine times. The definition.
 *   warp   u8 into u8, radii up to 8. Four bytes a pixel cross memory, three in and one out, where the chain's own
 *          kernels move 28 (7 for gray, 8 for the blur, 8 and 5 for the rest, all with f32 between them). A warp
 * marches down a strip, four or eight pixels a lane; nothing is in shared memory, for neighbours' samples come by
 * shuffles: 2r of mixed samples and two of blurred ones a row. Loads of the next row are under way while one is
 * computed. Sums of the columns stay in registers, as in bell_warp.cuh, and so do the two rows above that sobel needs.
 * The lanes at both ends of a strip only make what others need: 2 of 32, from radius 6 on 4 or more. A byte extended by
 * zeros is the denormal float byte * 2^-149, which FFMA takes at full speed: the mixing weights carry 2^126 and the
 * column weights 2^23, which changes no rounding, so that no byte is converted. What counts is instructions:
 * docs/gpu-log.md. */
#include "blur_slope.h"

#include "sample_map.cuh"
#include "stencil.cuh"
#include "strip_blocks.h"

template <typename IN, typename OUT> SMP_DEVICE void blur_slope_naive(const smp_io &io, const smp_blur_slope &p)
{
    stencil_each<OUT>(io, [&](int64_t y, int64_t x) { return smp_blur_slope_at(&io.in, &p, x, y); });
}
SMP_KERNEL_FORMATS(blur_slope_naive, smp_blur_slope)

/* A lane's V pixels of C bytes of one row. */
template <int V, int C> struct blur_slope_row {
    static constexpr int WORDS = V * C / 4, PACK = V / 4; /* of words that one access loads */
    unsigned word[WORDS];

    /* x: the lane's first pixel, n: the row's. In place of a pixel that does not exist comes the row's first or last
     * one; all loads are under way together, for the strips at a picture's sides are to keep up with the others. */
    SMP_MEMBER void load(const uint8_t *row, int x, int n)
    {
        if (x >= 0 && x + V <= n) {
            typedef smp_pack<unsigned, PACK> pack;
            const pack *from = reinterpret_cast<const pack *>(row + (int64_t)x * C);
#pragma unroll
            for (int k = 0; k < C; k++) {
                const pack some = from[k];
#pragma unroll
                for (int i = 0; i < PACK; i++)
                    word[k * PACK + i] = some.v[i];
            }
            return;
        }
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            word[k] = 0;
#pragma unroll
            for (int b = 0; b < 4; b++) {
                const int i = x + (4 * k + b) / C, at = i < 0 ? 0 : i < n ? i : n - 1;
                word[k] |= (unsigned)row[(int64_t)at * C + (4 * k + b) % C] << 8 * b;
            }
        }
    }
    SMP_MEMBER float byte(int k) const /* byte * 2^-149 */
    {
        return __uint_as_float(__byte_perm(word[k / 4], 0, 0x4440 | (k & 3)));
    }
    /* Pixel i in one channel: of three times 2^-23, of one times 2^-149. */
    SMP_MEMBER float gray(int i, const float *weight) const
    {
        if constexpr (C == 1) {
            (void)weight;
            return byte(i);
        } else {
            float s = weight[0] * byte(3 * i);
            s = fmaf(weight[1], byte(3 * i + 1), s);
            return fmaf(weight[2], byte(3 * i + 2), s);
        }
    }
};

/* The roots of v, correctly rounded as sqrtf's, whose fast path this is; its slow one, a call, is for what lies below
 * 2^-100, 0 above all, of which flat ground is full. That is 2^-100 here. */
template <int N> SMP_DEVICE void blur_slope_roots(float (&v)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        v[i] = fmaxf(v[i], SMP_BLUR_SLOPE_LEAST * SMP_BLUR_SLOPE_LEAST);
#ifdef __CUDACC__
        float inverse;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(v[i]));
        const float root = v[i] * inverse;
        v[i] = fmaf(fmaf(-root, root, v[i]), 0.5f * inverse, root);
#else
        v[i] = sqrtf(v[i]);
#endif
    }
}

/* What becomes of blurred rows, of the lane's pixels and one on either side: sobel, the operations, bytes. */
template <int V> struct blur_slope_end {
    float above[V + 2], at[V + 2];
    uint8_t *out;
    unsigned clipped;
    enum { MINE = 1, WHOLE = 2, COUNTS = 4 };

    /* flags: the lane has pixels of its own; all of them exist and make one word; clipped ones are counted. last: the
     * place of the row's last pixel among them. */
    SMP_MEMBER void finish(const smp_io &io, const smp_map &map, const float (&below)[V + 2], unsigned flags, int last)
    {
        typedef smp_pack<unsigned, V / 4> out_pack;
        float smooth[V + 2], slope[V + 2], v[V];
#pragma unroll
        for (int i = 0; i < V + 2; i++) {
            smooth[i] = smp_sobel_smooth(above[i], at[i], below[i]);
            slope[i] = smp_sobel_slope(above[i], below[i]);
        }
#pragma unroll
        for (int i = 0; i < V; i++) {
            const float dx = smp_sobel_x(smooth[i], smooth[i + 2]);
            const float dy = smp_sobel_y(slope[i], slope[i + 1], slope[i + 2]);
            v[i] = fmaf(dy, dy, dx * dx); /* smp_sobel_magnitude() without its root */
        }
        blur_slope_roots(v);
        smp_map_plain(map, v);
        if (flags & COUNTS)
#pragma unroll
            for (int i = 0; i < V; i++)
                clipped += i <= last ? smp_clipped<uint8_t>(v[i]) : 0u;
        out_pack bytes;
#pragma unroll
        for (int i = 0; i < V; i++) /* as smp_rounded(): the sum's low bits are the byte */
            v[i] = fminf(fmaxf(v[i], 0.f), 255.f) + 8388608.f;
#pragma unroll
        for (int i = 0; i < V / 4; i++) {
            const unsigned low = __byte_perm(__float_as_uint(v[4 * i]), __float_as_uint(v[4 * i + 1]), 0x0040);
            const unsigned high = __byte_perm(__float_as_uint(v[4 * i + 2]), __float_as_uint(v[4 * i + 3]), 0x0040);
            bytes.v[i] = __byte_perm(low, high, 0x5410);
        }
        if (flags & WHOLE)
            *reinterpret_cast<out_pack *>(out) = bytes;
        else if (flags & MINE)
#pragma unroll
            for (int i = 0; i < V; i++)
                if (i <= last)
                    out[i] = (uint8_t)(bytes.v[i / 4] >> 8 * (i & 3));
        out += io.out.stride;
    }
};

template <int R, int C> SMP_DEVICE void blur_slope_march(const smp_io &io, const smp_blur_slope &p)
{
    constexpr int V = smp_blur_slope_lane(R), BESIDE = smp_blur_slope_beside(R), ACROSS = smp_blur_slope_across(R);
    constexpr unsigned ALL = 0xffffffffu;
    typedef blur_slope_end<V> end_type;
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    const int lane = (int)threadIdx.x, x0 = place.strip * ACROSS - BESIDE * V, x = x0 + V * lane;
    const int n = (int)io.in.width, last = n - 1 - x;
    const int64_t top = io.out.y0 + place.begin, made = place.rows;
    typedef blur_slope_row<V, C> row_type;
    const bool inside = x0 >= 0 && x0 + 32 * V <= n;
    const bool mine = lane >= BESIDE && lane < 32 - BESIDE && x < n;
    const bool whole = mine && last >= V - 1;
    unsigned flags = mine ? end_type::MINE | (whole ? end_type::WHOLE : 0) | (io.clipped ? end_type::COUNTS : 0) : 0;
    flags = __shfl_sync(ALL, flags, lane); /* else nvcc works them out for every row */
    float weight[3], across[R + 1], down[R + 1];
#pragma unroll
    for (int c = 0; c < 3; c++)
        weight[c] = p.weight[c] * 0x1p126f;
#pragma unroll
    for (int k = 0; k <= R; k++) {
        across[k] = C == 1 ? p.bell.a[k] * 0x1p126f : p.bell.a[k];
        down[k] = p.bell.w[k] * 0x1p23f;
    }
    /* Blurred rows are made from `first` on; at the picture's upper and lower end sobel has the first and the last one
     * twice. Output rows are complete from turn `ready` on. */
    const int64_t first = top > 0 ? top - 1 : 0, bottom = top + made, height = io.in.height;
    const bool ends = bottom >= height;
    const int rows = (int)((ends ? height - 1 : bottom) - first) + 1 + 2 * R, ready = 2 * R + (top > 0 ? 2 : 1);
    /* Input rows begin with first - R; those outside are the first and the last one: row k + 1 lies below row k while
     * k is in begin .. end - 1. */
    const int begin = first < R ? (int)(R - first) : 0;
    const int end = height - 1 - (first - R) < rows ? (int)(height - 1 - (first - R)) : rows;
    const uint8_t *in = smp_in<uint8_t>(io.in, first < R ? 0 : first - R);
    float sum[2 * R][V];
    end_type result;
    result.out = smp_out<uint8_t>(io.out, top) + x;
    result.clipped = 0;
#pragma unroll
    for (int j = 0; j < 2 * R; j++)
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[j][i] = 0.f;
#pragma unroll
    for (int i = 0; i < V + 2; i++)
        result.above[i] = result.at[i] = 0.f;
    row_type row, next;
    next.load(in, x, n);
#pragma unroll 1
    for (int k = 0; k < rows; k++) {
        float g[V + 2 * R], below[V + 2];
        row = next;
        in += k >= begin && k < end ? io.in.stride : 0;
        if (k + 1 < rows)
            next.load(in, x, n);
#pragma unroll
        for (int i = 0; i < V; i++)
            g[R + i] = row.gray(i, weight);
#pragma unroll
        for (int i = 1; i <= R; i++) { /* i pixels left of the lane's first, and right of its last */
            const int lanes = (i + V - 1) / V;
            g[R - i] = __shfl_up_sync(ALL, g[R + lanes * V - i], (unsigned)lanes);
            g[R + V - 1 + i] = __shfl_down_sync(ALL, g[R + (i - 1) % V], (unsigned)lanes);
        }
#pragma unroll
        for (int i = 0; i < V; i++) {
            float v = smp_bell_first(across[0], g[R + i]);
#pragma unroll
            for (int t = 1; t <= R; t++)
                v = smp_bell_pair(v, across[t], g[R + i - t], g[R + i + t]);
            below[i + 1] = smp_bell_tap(sum[0][i], down[R], v);
#pragma unroll
            for (int j = 0; j < 2 * R - 1; j++)
                sum[j][i] = smp_bell_tap(sum[j + 1][i], down[j < R ? R - 1 - j : j + 1 - R], v);
            sum[2 * R - 1][i] = smp_bell_first(down[R], v);
#pragma unroll
            for (int j = 0; j < 2 * R; j++)
                smp_hide(sum[j][i]); /* else nvcc works it out at the loop's end, where each takes a move */
        }
        below[0] = __shfl_up_sync(ALL, below[V], 1);
        below[V + 1] = __shfl_down_sync(ALL, below[1], 1);
        if (!inside) { /* the blurred picture goes on beyond its ends as it is there */
            below[0] = x == 0 ? below[1] : below[0];
#pragma unroll
            for (int i = 0; i < V; i++)
                below[i + 2] = i == last ? below[i + 1] : below[i + 2];
        }
        if (k >= ready)
            result.finish(io, p.map, below, flags, last);
#pragma unroll
        for (int i = 0; i < V + 2; i++) {
            result.above[i] = k == 2 * R ? below[i] : result.at[i];
            result.at[i] = below[i];
        }
    }
    if (ends)
        result.finish(io, p.map, result.at, flags, last);
    smp_count_clipped<uint8_t>(io, result.clipped);
}

#define BLUR_SLOPE(R, C)                                                                                               \
    SMP_KERNEL_BOUNDS(32,                                                                                              \
                      (R <= 1   ? 18                                                                                   \
                       : R <= 3 ? 14                                                                                   \
                       : R == 5 ? 10                                                                                   \
                                : 12),                                                                                 \
                      blur_slope_warp##R##_##C##_u8_u8, smp_blur_slope, io, p)                                         \
    {                                                                                                                  \
        blur_slope_march<R, C>(io, p);                                                                                 \
    }
#define BLUR_SLOPE_CHANNELS(R) BLUR_SLOPE(R, 1) BLUR_SLOPE(R, 3)
BLUR_SLOPE_CHANNELS(1)
BLUR_SLOPE_CHANNELS(2)
BLUR_SLOPE_CHANNELS(3)
BLUR_SLOPE_CHANNELS(4)
BLUR_SLOPE_CHANNELS(5)
BLUR_SLOPE_CHANNELS(6)
BLUR_SLOPE_CHANNELS(7)
BLUR_SLOPE_CHANNELS(8)
