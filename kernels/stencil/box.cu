/* box on GPUs, in two launches with an f32 picture between.
 *   naive  adds each window sample by sample from global memory, in the order of box.h: 2 size reads a result.
 *   tiled  brings a line, or a tile of columns, into shared memory once. Then log2(size) passes double the length of
 *          the sums at every place, with a barrier between, and each thread adds the blocks of its windows. The column
 *          pass accesses float4s, the row pass single words: no conflicts. Time grows with log2(size) and with the
 *          halo. Windows that do not fit twice into 48 KB are added as in naive.
 *   warp   u8 and small odd sizes: one launch (box_warp.cu). Otherwise as tiled. */
#include "stencil/box.h"

#include "stencil/stencil.cuh"

template <typename IN, typename OUT> SMP_DEVICE void box_rows(const smp_io &io, const smp_box &box)
{
    const float outside = smp_outside(box.edge, box.fill, io.in.white);
    stencil_each<float>(io, [&](int64_t y, int64_t i) {
        const int64_t x = stencil_pixel(i, io.in.channels);
        return smp_box_sum(&io.in, x - smp_box_before(&box), y, 1, 0, (int)(i - x * io.in.channels), box.size, box.edge,
                           outside);
    });
}

template <typename IN, typename OUT> SMP_DEVICE void box_columns(const smp_io &io, const smp_box &box)
{
    const float outside = smp_box_flat(smp_outside(box.edge, box.fill, io.in.white), box.size);
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        const int64_t x = stencil_pixel(i, io.in.channels);
        const float sum = smp_box_sum(&io.in, x, y - smp_box_before(&box), 0, 1, (int)(i - x * io.in.channels),
                                      box.size, box.edge, outside);
        return smp_box_mean(sum, box.size);
    });
}
SMP_KERNEL_INTO_F32(box_rows, smp_box)
SMP_KERNEL_FROM_F32(box_columns, smp_box)

/* Row sums; grid: rows_grid() of src/stages/box.c. */
template <typename IN> SMP_DEVICE void box_rows_tile(const smp_io &io, const smp_box &box, float *shared)
{
    const float outside = smp_outside(box.edge, box.fill, io.in.white);
    const int channels = io.in.channels, n = box.size, t = (int)threadIdx.x, lanes = (int)blockDim.x;
    const int64_t x0 = (int64_t)blockIdx.x * SMP_BOX_ACROSS, left = stencil_samples(io.in) - x0;
    const int across = left < SMP_BOX_ACROSS ? (int)left : SMP_BOX_ACROSS, all = across + (n - 1) * channels;
    const int before = (int)smp_box_before(&box) * channels, skip = (4 - before % 4) % 4;
    const int copy = (int)(smp_box_row_shared(&box, channels) / 8); /* floats of one copy */
    for (int64_t y = io.out.y0 + blockIdx.y; y < io.out.y0 + io.out.rows; y += gridDim.y) {
        float *from = shared, *to = shared + copy, sum[4] = {0, 0, 0, 0};
        stencil_bring<IN>(from, io.in, y, x0 - before - skip, skip + all, t, lanes, box.edge, outside);
        int at = 0, have = skip + all; /* pixels of a sum; places that hold a sum */
        for (int length = 1;; length *= 2) {
            __syncthreads();
            if (n & length) {
                for (int i = 0; i < 4; i++)
                    if (t + i * lanes < across) {
                        const float block = from[skip + at * channels + t + i * lanes];
                        sum[i] = at ? sum[i] + block : block;
                    }
                at += length;
            }
            if (2 * length > n)
                break;
            have -= length * channels;
            for (int i = skip + t; i < have; i += lanes)
                to[i] = from[i] + from[i + length * channels];
            float *swap = from;
            from = to;
            to = swap;
        }
        for (int i = 0; i < 4; i++)
            if (t + i * lanes < across)
                smp_out<float>(io.out, y)[x0 + t + i * lanes] = sum[i];
        __syncthreads();
    }
}

SMP_DEVICE void box_add4(stencil_float4 &to, const stencil_float4 &a, const stencil_float4 &b)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        to.v[i] = a.v[i] + b.v[i];
}

enum { BOX_FLOAT4S = SMP_BOX_COLUMNS / 4 }; /* in a row of the tile */

/* Column sums and means; grid: columns_grid() of src/stages/box.c. A thread has float4 t % 8 of rows t / 8 and t / 8
 * + 32. */
template <typename OUT> SMP_DEVICE void box_columns_tile(const smp_io &io, const smp_box &box, stencil_float4 *shared)
{
    const float outside = smp_box_flat(smp_outside(box.edge, box.fill, io.in.white), box.size);
    const int n = box.size, t = (int)threadIdx.x, lanes = (int)blockDim.x;
    const int64_t x0 = (int64_t)blockIdx.x * SMP_BOX_COLUMNS, end = io.out.y0 + io.out.rows;
    const int64_t x = x0 + t % BOX_FLOAT4S * 4;
    unsigned clipped = 0;
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_BOX_DOWN; top < end; top += gridDim.y * SMP_BOX_DOWN) {
        const int down = end - top < SMP_BOX_DOWN ? (int)(end - top) : SMP_BOX_DOWN;
        const int size = down * BOX_FLOAT4S; /* float4s of results */
        int have = (down + n - 1) * BOX_FLOAT4S, at = 0;
        stencil_float4 *from = shared, *to = shared + (SMP_BOX_DOWN + n - 1) * BOX_FLOAT4S, sum[2];
        sum[0] = sum[1] = stencil_float4_of(0.f);
        for (int i = t; i < have; i += lanes)
            from[i] = stencil_between(io.in, top - smp_box_before(&box) + i / BOX_FLOAT4S, x, box.edge, outside);
        for (int length = 1;; length *= 2) {
            __syncthreads();
            if (n & length) {
#pragma unroll
                for (int i = 0; i < 2; i++)
                    if (t + i * lanes < size) {
                        const stencil_float4 block = from[at * BOX_FLOAT4S + t + i * lanes];
                        if (at)
                            box_add4(sum[i], sum[i], block);
                        else
                            sum[i] = block;
                    }
                at += length;
            }
            if (2 * length > n)
                break;
            have -= length * BOX_FLOAT4S;
            for (int i = t; i < have; i += lanes) {
                const stencil_float4 a = from[i], b = from[i + length * BOX_FLOAT4S];
                stencil_float4 both;
                box_add4(both, a, b);
                to[i] = both;
            }
            stencil_float4 *swap = from;
            from = to;
            to = swap;
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
            if (t + i * lanes < size && x < stencil_samples(io.out)) {
                for (int k = 0; k < 4; k++)
                    sum[i].v[k] = smp_box_mean(sum[i].v[k], n);
                stencil_put4(io, smp_out<OUT>(io.out, top + (t + i * lanes) / BOX_FLOAT4S), x, sum[i], &clipped);
            }
        __syncthreads();
    }
    smp_count_clipped<OUT>(io, clipped);
}

template <typename IN, typename OUT> SMP_DEVICE void box_rows_tiled(const smp_io &io, const smp_box &p)
{
    SMP_SMEM_DYNAMIC(float, shared);
    if (smp_box_row_shared(&p, io.in.channels))
        box_rows_tile<IN>(io, p, shared);
    else
        box_rows<IN, OUT>(io, p);
}
template <typename IN, typename OUT> SMP_DEVICE void box_columns_tiled(const smp_io &io, const smp_box &p)
{
    SMP_SMEM_DYNAMIC(stencil_float4, shared);
    if (smp_box_column_shared(&p))
        box_columns_tile<OUT>(io, p, shared);
    else
        box_columns<IN, OUT>(io, p);
}
SMP_KERNEL_INTO_F32(box_rows_tiled, smp_box)
SMP_KERNEL_FROM_F32(box_columns_tiled, smp_box)
