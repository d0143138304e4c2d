/* The blur of gaussian_weights.h on GPUs, for gaussian and the stages that build on it. A function object finishes each
 * blurred sample: plain()(y, i, blurred) returns blurred; i is the sample's index in row y.
 *
 * The ladder:
 *   naive  rows: 2r+1 global reads a sample, through the border rule; columns: the same from an f32 picture. Bytes
 *          moved: the input, 8 a sample for the picture between, the output; the caches serve 4r+2 reads a sample.
 *   tiled  the same two launches, but each sample is fetched into shared memory once a tile. Rows: lines with a halo,
 *          four samples a thread from a window in registers. Columns: tiles 64 wide whose rows come in batches; a
 *          thread adds for eight rows and four columns, so that one 16-byte shared read serves 32 multiplications. Any
 *          radius: taps beyond a tile come in further batches, and rows whose halo does not fit go sample by sample.
 *   warp   one launch for small radii, for equal formats or, up to radius 3, between u8 and f32: gaussian_warp.cuh
 *          (sharpen has it up to radius 8, for u8 and f32). A warp walks down a strip with the sums of the column pass
 *          in registers, so that only input and output touch device memory: 15 instructions in the inner loop for each
 *          u8 sample of 5 taps (docs/why.md). Halo rows between bands are read and filtered twice.
 *   mma    u8 from 9 to 25 taps (gaussian only): as warp, but the row pass is a product on tensor cores
 *          (gaussian_mma_u8.cu): 26 to 30 instructions a sample instead of 43 at 15 taps.
 * Shared accesses of naive and tiled have no conflicts: neighbouring lanes access neighbouring float4s or samples, and
 * copies keep their offset in 128 bytes. In warp, copies of several rows' halo and loads of parts of packs have some.
 */
#pragma once

#include "gaussian/gaussian_tiled_rows.cuh"

/* ---------------------------------------------------------------------------------------------- naive */

/* The row pass, sample by sample, to f32. */
template <typename IN> SMP_DEVICE void gaussian_rows_each(const smp_io &io, const smp_gaussian &g)
{
    const float *a = smp_gaussian_across(&g, io.table), outside = smp_outside(g.edge, g.fill, io.in.white);
    const int channels = io.in.channels;
    stencil_each<float>(io, [&](int64_t y, int64_t i) {
        const IN *row = smp_in<IN>(io.in, y);
        float m = smp_gaussian_first(a[0], smp_value(row[i]));
        for (int k = 1; k <= g.radius; k++)
            m = smp_gaussian_pair(m, a[k], stencil_across(row, io.in, i - (int64_t)k * channels, g.edge, outside),
                                  stencil_across(row, io.in, i + (int64_t)k * channels, g.edge, outside));
        return m;
    });
}

/* The column pass, sample by sample, from f32. */
template <typename OUT, typename FINISH>
SMP_DEVICE void gaussian_columns_each(const smp_io &io, const smp_gaussian &g, const FINISH &finish)
{
    const float *w = smp_gaussian_weights(&g, io.table);
    const float outside = smp_gaussian_outside(&g, smp_outside(g.edge, g.fill, io.in.white));
    const int r = g.radius;
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        float s = smp_gaussian_first(w[r], stencil_down<float>(io.in, i, y - r, g.edge, outside));
        for (int k = 1 - r; k <= r; k++)
            s = smp_gaussian_tap(s, w[k < 0 ? -k : k], stencil_down<float>(io.in, i, y + k, g.edge, outside));
        return finish(y, i, s);
    });
}

/* ---------------------------------------------------------------------------------------------- tiled, rows */

typedef float gaussian_values[2][SMP_GAUSSIAN_ROWS][SMP_GAUSSIAN_ACROSS + SMP_GAUSSIAN_HALO + 8];

/* Adds taps nearest..furthest of both sides to a thread's four sums, samples `lane`, `lane` + 128, ..; left and right
 * point at the nearest tap of sample `lane`. */
SMP_DEVICE void gaussian_add_pairs(float sum[4], const float *left, const float *right, const float *a, int nearest,
                                   int furthest, int channels)
{
    for (int k = nearest; k <= furthest; k++, left -= channels, right += channels) {
        const float weight = a[k];
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[i] = smp_gaussian_pair(sum[i], weight, left[i * SMP_GAUSSIAN_LANES], right[i * SMP_GAUSSIAN_LANES]);
    }
}

/* The row pass to f32 for any filter, sample by sample. While both halos fit, the line is one window; else each side
 * has its own, for a group of taps at a time. */
template <typename IN>
SMP_DEVICE void gaussian_rows_by_samples(const smp_io &io, const smp_gaussian &g, gaussian_values &s)
{
    const float *a = smp_gaussian_across(&g, io.table), outside = smp_outside(g.edge, g.fill, io.in.white);
    const int channels = io.in.channels, lane = (int)threadIdx.x, line = (int)threadIdx.y;
    const int64_t n = stencil_samples(io.in), x0 = (int64_t)blockIdx.x * SMP_GAUSSIAN_ACROSS;
    const int64_t end = io.out.y0 + io.out.rows;
    const int across = n - x0 < SMP_GAUSSIAN_ACROSS ? (int)(n - x0) : SMP_GAUSSIAN_ACROSS; /* samples to make */
    const bool both = 2 * (int64_t)g.radius * channels <= SMP_GAUSSIAN_HALO;
    const int group = both ? g.radius : SMP_GAUSSIAN_HALO / channels;
    float *one = s[0][line], *other = s[1][line];
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_GAUSSIAN_ROWS; top < end; top += gridDim.y * SMP_GAUSSIAN_ROWS) {
        const int64_t y = top + line;
        const bool there = y < end;
        float sum[4] = {0, 0, 0, 0};
        if (there)
            for (int i = 0; i < 4; i++)
                if (lane + i * SMP_GAUSSIAN_LANES < across)
                    sum[i] =
                        smp_gaussian_first(a[0], smp_value(smp_in<IN>(io.in, y)[x0 + lane + i * SMP_GAUSSIAN_LANES]));
        for (int nearest = 1; nearest <= g.radius; nearest += group) {
            const int furthest = nearest + group - 1 < g.radius ? nearest + group - 1 : g.radius;
            const int reach = furthest * channels,
                      skip = (4 - reach % 4) % 4; /* the window starts at a multiple of 4 */
            const int right_at = (int)((uint32_t)(nearest * channels) % 4);
            const int width = across + (both ? 2 * reach : (furthest - nearest) * channels);
            if (there) {
                stencil_bring<IN>(one, io.in, y, x0 - reach - skip, width + skip, lane, SMP_GAUSSIAN_LANES, g.edge,
                                  outside);
                if (!both)
                    stencil_bring<IN>(other, io.in, y, x0 + nearest * channels - right_at, width + right_at, lane,
                                      SMP_GAUSSIAN_LANES, g.edge, outside);
            }
            __syncthreads();
            const float *left = one + skip + (furthest - nearest) * channels;
            const float *right = both ? one + skip + reach + nearest * channels : other + right_at;
            if (there && lane + 3 * SMP_GAUSSIAN_LANES < across)
                gaussian_add_pairs(sum, left + lane, right + lane, a, nearest, furthest, channels);
            else if (there)
                for (int i = 0; i < 4 && lane + i * SMP_GAUSSIAN_LANES < across; i++)
                    for (int k = nearest; k <= furthest; k++) {
                        const int at = lane + i * SMP_GAUSSIAN_LANES, step = (k - nearest) * channels;
                        sum[i] = smp_gaussian_pair(sum[i], a[k], left[at - step], right[at + step]);
                    }
            __syncthreads();
        }
        if (there)
            for (int i = 0; i < 4; i++)
                if (lane + i * SMP_GAUSSIAN_LANES < across)
                    smp_out<float>(io.out, y)[x0 + lane + i * SMP_GAUSSIAN_LANES] = sum[i];
    }
}

/* The row pass to f32; grid: SMP_GAUSSIAN_ROW_TILES. */
template <typename IN> SMP_DEVICE void gaussian_rows_tile(const smp_io &io, const smp_gaussian &g)
{
    union tile {
        gaussian_lines<IN> lines;
        gaussian_values values;
    };
    SMP_SHARED(tile, s);
    const int channels = smp_gaussian_float4s(&g, io.in.channels) ? io.in.channels : 0;
    if (channels == 1)
        gaussian_rows_by_float4s<IN, 1>(io, g, s.lines);
    else if (channels == 2)
        gaussian_rows_by_float4s<IN, 2>(io, g, s.lines);
    else if (channels == 3)
        gaussian_rows_by_float4s<IN, 3>(io, g, s.lines);
    else if (channels == 4)
        gaussian_rows_by_float4s<IN, 4>(io, g, s.lines);
    else
        gaussian_rows_by_samples<IN>(io, g, s.values);
}

/* ---------------------------------------------------------------------------------------------- tiled, columns */

struct gaussian_batch {
    float v[SMP_GAUSSIAN_BATCH][SMP_GAUSSIAN_COLUMNS];
};

/* Brings picture rows first .. first + have - 1 of the tile at x0 into a batch, and zeros after `wanted` rows: only
 * sums that are not stored use them. */
SMP_DEVICE void gaussian_bring(gaussian_batch &s, const smp_view &in, int64_t first, int64_t x0, int have, int wanted,
                               int edge, float outside)
{
    constexpr int WARPS = SMP_GAUSSIAN_DOWN / SMP_GAUSSIAN_EACH;
    const int lane = 4 * (int)threadIdx.x, warp = (int)threadIdx.y;
    const bool aligned = ((uintptr_t)in.data | (uintptr_t)in.stride) % 16 == 0;
    if (aligned && first >= in.y0 && first + have <= in.y0 + in.rows &&
        x0 + SMP_GAUSSIAN_COLUMNS <= stencil_samples(in)) {
        const float *from = smp_in<float>(in, first + warp) + x0 + lane;
#pragma unroll 4
        for (int j = warp; j < have; j += WARPS) {
            stencil_keep4(s.v[j] + lane, stencil_load4(from));
            from = reinterpret_cast<const float *>(reinterpret_cast<const char *>(from) + WARPS * in.stride);
        }
        return;
    }
    for (int j = warp; j < have; j += WARPS)
        stencil_keep4(s.v[j] + lane,
                      j < wanted ? stencil_between(in, first + j, x0 + lane, edge, outside) : stencil_float4_of(0.f));
}

/* The weight of tap k of the column pass, from the top. */
SMP_DEVICE float gaussian_down(const smp_gaussian &g, const void *table, int k)
{
    const int distance = k < g.radius ? g.radius - k : k - g.radius;
    return g.radius < SMP_GAUSSIAN_INLINE ? g.w[distance] : static_cast<const float *>(table)[distance];
}

/* Adds EACH rows of a batch to a thread's EACH sums. Sum q takes a row as one tap further up than sum q - 1;
 * weight[EACH - 1] is that of the first row for the first sum. FIRST: sum q has its first tap in row q. LAST: the sums
 * end within these rows, the first one after `left` more rows. */
template <int EACH, bool FIRST, bool LAST>
SMP_DEVICE void gaussian_add_rows(stencil_float4 *sum, const float *rows, const float *weight, int left)
{
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        const stencil_float4 m = stencil_load4(rows + s * SMP_GAUSSIAN_COLUMNS);
#pragma unroll
        for (int q = 0; q < EACH; q++) {
            const float w = weight[EACH - 1 + s - q];
            if ((FIRST && s < q) || (LAST && s - q > left))
                continue;
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[q].v[i] =
                    FIRST && s == q ? smp_gaussian_first(w, m.v[i]) : smp_gaussian_tap(sum[q].v[i], w, m.v[i]);
        }
    }
}

/* The column pass from f32; grid: SMP_GAUSSIAN_COLUMN_TILES. Half a warp makes EACH rows of 64 columns. It keeps the
 * weights of its sums for the next EACH rows only. */
template <typename OUT, typename FINISH>
SMP_DEVICE void gaussian_columns_tile(const smp_io &io, const smp_gaussian &g, const FINISH &finish)
{
    enum { EACH = SMP_GAUSSIAN_EACH };
    SMP_SHARED(gaussian_batch, s);
    const float outside = smp_gaussian_outside(&g, smp_outside(g.edge, g.fill, io.in.white));
    const int lane = 4 * (int)threadIdx.x, mine = EACH * (int)threadIdx.y;
    const int all = (SMP_GAUSSIAN_DOWN + 2 * g.radius + EACH - 1) / EACH * EACH;
    const int past = mine + (EACH + 2 * g.radius + EACH - 1) / EACH * EACH;
    const int64_t x = (int64_t)blockIdx.x * SMP_GAUSSIAN_COLUMNS + lane, end = io.out.y0 + io.out.rows;
    unsigned clipped = 0;
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_GAUSSIAN_DOWN; top < end; top += gridDim.y * SMP_GAUSSIAN_DOWN) {
        const int needed = (end - top < SMP_GAUSSIAN_DOWN ? (int)(end - top) : SMP_GAUSSIAN_DOWN) + 2 * g.radius;
        stencil_float4 sum[EACH];
        float weight[2 * EACH - 1];
#pragma unroll
        for (int q = 0; q < EACH; q++)
            sum[q] = stencil_float4_of(0.f);
#pragma unroll
        for (int k = 0; k < 2 * EACH - 1; k++)
            weight[k] = 0.f;
        for (int base = 0; base < all; base += SMP_GAUSSIAN_BATCH) {
            const int have = all - base < SMP_GAUSSIAN_BATCH ? all - base : SMP_GAUSSIAN_BATCH;
            gaussian_bring(s, io.in, top - g.radius + base, x - lane, have, needed - base, g.edge, outside);
            __syncthreads();
            const int to = past < base + have ? past : base + have;
#pragma unroll 1
            for (int j = mine > base ? mine : base; j < to; j += EACH) {
                const int tap = j - mine; /* of the first sum */
#pragma unroll
                for (int k = 0; k < EACH - 1; k++)
                    weight[k] = weight[k + EACH];
#pragma unroll
                for (int k = 0; k < EACH; k++)
                    weight[EACH - 1 + k] = tap + k <= 2 * g.radius ? gaussian_down(g, io.table, tap + k) : 0.f;
                const int left = 2 * g.radius - tap;
                const float *const rows = s.v[j - base] + lane;
                if (tap && left >= EACH - 1)
                    gaussian_add_rows<EACH, false, false>(sum, rows, weight, left);
                else if (tap)
                    gaussian_add_rows<EACH, false, true>(sum, rows, weight, left);
                else if (left >= EACH - 1)
                    gaussian_add_rows<EACH, true, false>(sum, rows, weight, left);
                else
                    gaussian_add_rows<EACH, true, true>(sum, rows, weight, left);
            }
            __syncthreads();
        }
#pragma unroll
        for (int q = 0; q < EACH; q++) {
            const int64_t y = top + mine + q;
            if (y < end && x < stencil_samples(io.out)) {
                for (int i = 0; i < 4; i++)
                    if (x + i < stencil_samples(io.out))
                        sum[q].v[i] = finish(y, x + i, sum[q].v[i]);
                stencil_put4(io, smp_out<OUT>(io.out, y), x, sum[q], &clipped);
            }
        }
    }
    smp_count_clipped<OUT>(io, clipped);
}

/* Kernels of one template function name<IN, OUT>(io, p) that makes the column pass by tiles. */
#define GAUSSIAN_COLUMNS_TO(name, OUT, out, type)                                                                      \
    SMP_KERNEL_BOUNDS(SMP_GAUSSIAN_COLUMNS / 4 * SMP_GAUSSIAN_DOWN / SMP_GAUSSIAN_EACH, SMP_GAUSSIAN_TILED_BLOCKS,     \
                      name##_f32_##out, type, io, p)                                                                   \
    {                                                                                                                  \
        name<float, OUT>(io, p);                                                                                       \
    }
#define GAUSSIAN_COLUMNS(name, type)                                                                                   \
    GAUSSIAN_COLUMNS_TO(name, uint8_t, u8, type)                                                                       \
    GAUSSIAN_COLUMNS_TO(name, uint16_t, u16, type)                                                                     \
    GAUSSIAN_COLUMNS_TO(name, float, f32, type)
