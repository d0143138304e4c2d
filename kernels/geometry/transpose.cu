/* transpose and its family on GPUs: eight orientations, one set of kernels. Mirrors cost nothing: they change where a
 * row starts and the sign of its stride.
 *
 *   naive     A sample a thread, in input order: a warp reads 32 adjacent samples and, where rows and columns swap,
 *             writes them to 32 rows: 32 sectors of 32 bytes for 128 bytes of f32, each written in eight parts. Seen in
 *             sectors per request; 14 % of the copy's speed.
 *   tiled     32 x 32 pixels go through shared memory, so that both sides move whole rows of the tile. But a column of
 *             a tile with 128-byte rows lies in one bank: 32 wavefronts for a warp's read of f32 instead of 1. 55 %.
 *   padded    One pixel more a row puts a column's f32 samples on 32 banks: no conflicts, 90 %. Narrower samples share
 *             a bank's word, and some columns still take 2 wavefronts.
 *   swizzled  16 bytes an access on both sides, four or more loads of a thread in flight, 94 to 97 %. A thread holds a
 *             cell, as many rows of 16 bytes as that is pixels, and transposes it in registers: 4 x 4 bytes take 8 byte
 *             permutes, 2 x 2 halves 2, words none. The cell's new rows are 16-byte vectors of a tile in shared memory
 *             whose vector number is XORed with the cell's: 8 lanes that write one column of vectors, and 8 that read
 *             along a row, use all 32 banks once. Nothing is padded and nothing conflicts. Pixels of three parts (3, 6
 *             and 12 bytes) have cells of 12 bytes a row, which no 16-byte vector holds: asynchronous copies bring the
 *             tile, registers take it and put it back transposed as 4-byte words, with rows of cells spaced so that
 *             neither conflicts (SMP_TRANSPOSE_ROW_PAD). Where rows stay rows, no shared memory is used: 16 bytes of
 *             output are made from the two or three vectors of input that hold their pixels, at the copy's speed.
 *
 * Percentages are of a copy's speed, f32 of 8192 x 8192 pixels on an H100. The swizzled kernels are in
 * transpose_swizzled.cu, transpose_swizzled_rgb.cu and flip.cu, one for each pixel size. Other sizes (5, 7, 10, 14, 20
 * bytes and more), pairs of formats and rows that are not aligned take the padded one. */
#include "geometry/transpose.h"
#include "lib/gpu_kernel.h"
#include "lib/many.h"

/* Converts a sample to the output's format; equal formats copy its bits. */
template <typename IN, typename OUT> struct transpose_sample {
    static constexpr bool CLIPS = true;
    static SMP_DEVICE_MEMBER OUT of(IN v, bool counted, unsigned *clipped)
    {
        const float value = smp_value(v);
        if (counted)
            *clipped += smp_clipped<OUT>(value);
        return smp_rounded<OUT>(value);
    }
};
template <typename T> struct transpose_sample<T, T> {
    static constexpr bool CLIPS = false;
    static SMP_DEVICE_MEMBER T of(T v, bool, unsigned *) { return v; }
};

template <typename IN, typename OUT> SMP_DEVICE void transpose_naive(const smp_io &io, const smp_orientation &p)
{
    const smp_transpose_part part = smp_transpose_part_of(&io, p.orientation);
    const int64_t channels = io.in.channels, n = part.columns * channels;
    unsigned clipped = 0;
    for (int64_t r = blockIdx.y * blockDim.y + threadIdx.y; r < part.rows; r += gridDim.y * blockDim.y) {
        const int64_t sy = part.row + r;
        const IN *in = smp_in<IN>(io.in, sy) + part.column * channels;
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
            const int64_t sx = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels;
            int64_t x, y;
            smp_transpose_target(p.orientation, io.in.width, io.in.height, part.column + sx, sy, &x, &y);
            smp_out<OUT>(io.out, y)[x * channels + (i - sx * channels)] =
                transpose_sample<IN, OUT>::of(in[i], io.clipped != nullptr, &clipped);
        }
    }
    if (transpose_sample<IN, OUT>::CLIPS)
        smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(transpose_naive, smp_orientation)
SMP_KERNEL_MANY(transpose_naive, u8, uint8_t, u8, uint8_t, smp_orientation)

/* A tile of SMP_TRANSPOSE_SIDE x SMP_TRANSPOSE_SIDE pixels of the output, or a partial one: its input pixels come into
 * shared memory row by row, PAD pixels between rows, mirrored rows last first, and leave in output order. */
template <typename IN, typename OUT, int PAD> SMP_DEVICE void transpose_tile(const smp_io &io, int32_t orientation)
{
    SMP_SMEM_DYNAMIC(IN, s);
    constexpr int SIDE = SMP_TRANSPOSE_SIDE, ROWS = SMP_TRANSPOSE_ROWS;
    const int channels = io.in.channels, pitch = (SIDE + PAD) * channels;
    const int64_t x0 = (int64_t)blockIdx.x * SIDE;
    const int64_t y0 = io.out.y0 + ((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * SIDE;
    if (y0 >= io.out.y0 + io.out.rows)
        return;
    const bool swap = orientation & SMP_ORIENT_SWAP, mirror_x = orientation & SMP_ORIENT_MIRROR_X,
               mirror_y = orientation & SMP_ORIENT_MIRROR_Y;
    const int nx = (int)min((int64_t)SIDE, io.out.width - x0),
              ny = (int)min((int64_t)SIDE, io.out.y0 + io.out.rows - y0);
    const int columns = swap ? ny : nx, rows = swap ? nx : ny; /* of the input */
    int64_t column = swap ? y0 : x0, row = swap ? x0 : y0;     /* the first of them */
    if (mirror_x)
        column = io.in.width - column - columns;
    if (mirror_y)
        row = io.in.height - row - rows;
    for (int i = (int)threadIdx.x; i < columns * channels; i += SIDE)
#pragma unroll
        for (int k = 0; k < SIDE; k += ROWS) {
            const int r = k + (int)threadIdx.y;
            if (r < rows)
                s[(mirror_y ? rows - 1 - r : r) * pitch + i] = smp_in<IN>(io.in, row + r)[column * channels + i];
        }
    __syncthreads();
    unsigned clipped = 0;
    for (int i = (int)threadIdx.x; i < nx * channels; i += SIDE) {
        const int x = (int)((unsigned)i / (unsigned)channels), channel = i - x * channels;
#pragma unroll
        for (int k = 0; k < SIDE; k += ROWS) {
            const int y = k + (int)threadIdx.y;
            const int u = swap ? y : x, v = swap ? x : y;
            const int from = v * pitch + (mirror_x ? columns - 1 - u : u) * channels;
            if (y < ny)
                smp_out<OUT>(io.out, y0 + y)[x0 * channels + i] =
                    transpose_sample<IN, OUT>::of(s[from + channel], io.clipped != nullptr, &clipped);
        }
    }
    if (transpose_sample<IN, OUT>::CLIPS)
        smp_count_clipped<OUT>(io, clipped);
}

template <typename IN, typename OUT> SMP_DEVICE void transpose_tiled(const smp_io &io, const smp_orientation &p)
{
    transpose_tile<IN, OUT, 0>(io, p.orientation);
}
SMP_KERNEL_FORMATS(transpose_tiled, smp_orientation)

template <typename IN, typename OUT> SMP_DEVICE void transpose_padded(const smp_io &io, const smp_orientation &p)
{
    transpose_tile<IN, OUT, 1>(io, p.orientation);
}
SMP_KERNEL_FORMATS(transpose_padded, smp_orientation)
