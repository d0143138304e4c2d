/* The row pass of gaussian_weights.h from lines of the input in shared memory: four samples a thread, whose taps come
 * from a window in registers. */
#pragma once

#include "stencil/stencil.cuh"

/* Lines of a tile in shared memory. A sample has the same offset in 128 bytes as in device memory, and copies of the
 * halo are whole sectors of 32 bytes: 32 copies of 16 bytes then take 4 wavefronts instead of up to 16 (docs/banks.md,
 * 8). */
template <typename IN> struct gaussian_lines {
    static constexpr int VEC = 16 / (int)sizeof(IN), SECTOR = 2 * VEC, ROW = 8 * VEC; /* of banks; in samples */
    static constexpr int HALO = (SMP_GAUSSIAN_INLINE * SMP_GAUSSIAN_CHANNELS + ROW - 1) / ROW * ROW;
    static constexpr int PITCH = HALO + SMP_GAUSSIAN_ACROSS + HALO + ROW;
    alignas(128) uint4 v[SMP_GAUSSIAN_LINES * PITCH / VEC];

    /* The offset of the tile's first sample of `row` in 128 bytes; rows that are not aligned have none. */
    static SMP_DEVICE_MEMBER int into(const IN *row)
    {
        return (uintptr_t)row % 16 == 0 ? (int)((uintptr_t)row % 128 / sizeof(IN)) : 0;
    }
    /* Returns the place of that sample in the line for `row`. */
    SMP_DEVICE_MEMBER IN *at(int line, const IN *row)
    {
        return reinterpret_cast<IN *>(v) + line * PITCH + HALO + into(row);
    }
};

/* Starts the copy of samples x0 - halo .. x0 + SMP_GAUSSIAN_ACROSS + halo - 1 of `row` into a line, 16 bytes a lane of
 * one warp; across the left and right border sample by sample. x0 is a multiple of SMP_GAUSSIAN_ACROSS, halo of 16
 * bytes. */
template <typename IN>
SMP_DEVICE void gaussian_fetch(gaussian_lines<IN> &lines, int line, const smp_view &in, const IN *row, int64_t x0,
                               int halo, const smp_gaussian &g, float outside)
{
    typedef gaussian_lines<IN> type;
    const int64_t n = stencil_samples(in);
    IN *const to = lines.at(line, row);
    const int into = type::into(row), before = (halo - into + type::ROW - 1) / type::ROW * type::ROW;
    const int begin = -before - into;
    const int end = (SMP_GAUSSIAN_ACROSS + halo + into + type::SECTOR - 1) / type::SECTOR * type::SECTOR - into;
    const bool aligned = (uintptr_t)row % 16 == 0;
    for (int first = begin; first < end; first += 32 * type::VEC) {
        smp_converge();
        const int i = first + (int)(threadIdx.x % 32) * type::VEC;
        const int64_t at = x0 + i;
        if (i < end && aligned && at >= 0 && at + type::VEC <= n) {
            smp_copy_async<16>(to + i, row + at);
        } else if (i < end && i >= -halo && at < n + halo)
#pragma unroll 1
            for (int k = 0; k < type::VEC; k++) { /* vectors 128 bytes apart begin a bank apart */
                const int j = (k + (int)(threadIdx.x % 32) / 8 * (type::VEC / 4)) % type::VEC;
                to[i + j] = (IN)stencil_cold_across(row, in.width, in.channels, at + j, g.edge, outside);
            }
    }
}

/* The row pass for the four samples at `line`, C channels. Taps go outwards in groups of four: a group needs C more
 * float4s on each side, in addition to the one that it shares with the group before. */
template <int C> struct gaussian_window {
    stencil_float4 sum;
    float left[4 * C + 4], right[4 * C + 4]; /* from sample -(k+4)C, and from sample kC on, for taps k+1 .. k+4 */
};
template <typename IN, int C, bool WHOLE>
SMP_DEVICE void gaussian_row_group(gaussian_window<C> &s, const IN *line, const smp_gaussian &g, int k)
{
#pragma unroll
    for (int q = 0; q < 4; q++) {
        s.left[4 * C + q] = s.left[q];
        s.right[q] = s.right[4 * C + q];
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        const stencil_float4 before = stencil_load4(line - (k + 4) * C + 4 * c);
        const stencil_float4 after = stencil_load4(line + k * C + 4 + 4 * c);
#pragma unroll
        for (int q = 0; q < 4; q++) {
            s.left[4 * c + q] = before.v[q];
            s.right[4 + 4 * c + q] = after.v[q];
        }
    }
#pragma unroll
    for (int tap = 1; tap <= 4; tap++)
        if (WHOLE || k + tap <= g.radius) {
            const float weight = g.a[k + tap];
#pragma unroll
            for (int q = 0; q < 4; q++)
                s.sum.v[q] = smp_gaussian_pair(s.sum.v[q], weight, s.left[(4 - tap) * C + q], s.right[tap * C + q]);
        }
}
template <typename IN, int C> SMP_DEVICE stencil_float4 gaussian_row4(const IN *line, const smp_gaussian &g)
{
    gaussian_window<C> s;
    s.sum = stencil_load4(line);
#pragma unroll
    for (int q = 0; q < 4; q++) {
        s.left[q] = s.right[4 * C + q] = s.sum.v[q];
        s.sum.v[q] = smp_gaussian_first(g.a[0], s.sum.v[q]);
    }
    int k = 0;
#pragma unroll 2
    for (; k + 4 <= g.radius; k += 4)
        gaussian_row_group<IN, C, true>(s, line, g, k);
    if (k < g.radius)
        gaussian_row_group<IN, C, false>(s, line, g, k);
    return s.sum;
}

/* The row pass to f32, for smp_gaussian_float4s(); C channels, grid: SMP_GAUSSIAN_ROW_TILES. A warp brings each line of
 * a tile; rows are double-buffered. */
template <typename IN, int C>
SMP_DEVICE void gaussian_rows_by_float4s(const smp_io &io, const smp_gaussian &g, gaussian_lines<IN> &s)
{
    const float outside = smp_outside(g.edge, g.fill, io.in.white);
    const int warp = (int)(threadIdx.y * (SMP_GAUSSIAN_LANES / 32) + threadIdx.x / 32);
    const int halo = smp_gaussian_halo(g.radius, C, (int)sizeof(IN)), mine = 4 * (int)threadIdx.x;
    const int64_t x0 = (int64_t)blockIdx.x * SMP_GAUSSIAN_ACROSS, x = x0 + mine, end = io.out.y0 + io.out.rows;
    unsigned unclipped = 0;
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_GAUSSIAN_LINES; top < end; top += gridDim.y * SMP_GAUSSIAN_LINES) {
        if (top + warp < end)
            gaussian_fetch(s, warp, io.in, smp_in<IN>(io.in, top + warp), x0, halo, g, outside);
        smp_copy_commit();
        smp_copy_wait<0>();
        __syncthreads();
        for (int line = (int)threadIdx.y; x < stencil_samples(io.in) && line < SMP_GAUSSIAN_LINES && top + line < end;
             line += SMP_GAUSSIAN_ROWS)
            stencil_put4(io, smp_out<float>(io.out, top + line), x,
                         gaussian_row4<IN, C>(s.at(line, smp_in<IN>(io.in, top + line)) + mine, g), &unclipped);
        __syncthreads();
    }
}
