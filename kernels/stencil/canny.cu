/* canny on GPUs: candidates and seeds.
 *   naive  a thread a word of 32 pixels, each neighbour's gradient anew, from global memory.
 *   tiled  a block of 32 x 8 pixels: samples with two beside them, then sizes with one beside them, in shared memory; a
 *          warp is a row, and ballots make its words. Lanes read neighbouring words: no bank conflicts. */
#include "stencil/canny.h"

#include "lib/union_find.cuh"
#include "stencil/stencil.cuh"

template <typename T, typename> SMP_DEVICE void canny_naive(const smp_io &io, const smp_canny &p)
{
    const int64_t words = smp_bits_words(io.in.width), end = io.out.y0 + io.out.rows;
    union_find_begin(io, p.sets, io.out.y0);
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; w < words;
             w += (int64_t)gridDim.x * blockDim.x) {
            uint32_t some = 0, seeds = 0;
            for (int i = 0; i < SMP_BITS_WORD && w * SMP_BITS_WORD + i < io.in.width; i++) {
                const int kind = smp_canny_pixel(&p, &io.in, w * SMP_BITS_WORD + i, y);
                some |= (uint32_t)(kind & 1) << i;
                seeds |= (uint32_t)(kind >> 1) << i;
            }
            smp_canny_plane(&io, 0)[y * words + w] = some;
            smp_canny_plane(&io, 1)[y * words + w] = seeds;
        }
}
SMP_KERNEL_SAME(canny_naive, smp_canny)

struct canny_tile {
    float samples[SMP_CANNY_DOWN + 4][SMP_CANNY_ACROSS + 4];
    float sizes[SMP_CANNY_DOWN + 2][SMP_CANNY_ACROSS + 2];
};

/* The gradient about samples[row + 1][column + 1]. */
SMP_DEVICE smp_canny_gradient canny_gradient(const canny_tile &tile, int row, int column)
{
    float p[9];
    for (int k = 0; k < 9; k++)
        p[k] = tile.samples[row + k / 3][column + k % 3];
    return smp_canny_of(p);
}

/* Geometry: blocks of 32 x SMP_CANNY_DOWN threads over the pixels that words have room for (x) and rows (y). */
template <typename T, typename> SMP_DEVICE void canny_tiled(const smp_io &io, const smp_canny &p)
{
    SMP_SHARED(canny_tile, tile);
    const int64_t words = smp_bits_words(io.in.width), end = io.out.y0 + io.out.rows, height = io.in.height;
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y, t = tx + ty * SMP_CANNY_ACROSS;
    const int threads = SMP_CANNY_ACROSS * SMP_CANNY_DOWN;
    union_find_begin(io, p.sets, io.out.y0);
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_CANNY_DOWN; y0 < end;
         y0 += (int64_t)gridDim.y * SMP_CANNY_DOWN) {
        const int64_t x0 = (int64_t)blockIdx.x * SMP_CANNY_ACROSS;
        for (int k = t; k < (SMP_CANNY_DOWN + 4) * (SMP_CANNY_ACROSS + 4); k += threads) {
            const int row = k / (SMP_CANNY_ACROSS + 4), column = k % (SMP_CANNY_ACROSS + 4);
            const int64_t y = y0 - 2 + row,
                          last = end + 1 < height - 1 ? end + 1 : height - 1; /* rows of this launch */
            tile.samples[row][column] = smp_at_border(&io.in, x0 - 2 + column, y < last ? y : last, 0, SMP_CLAMP, 0.f);
        }
        __syncthreads();
        for (int k = t; k < (SMP_CANNY_DOWN + 2) * (SMP_CANNY_ACROSS + 2); k += threads) {
            const int row = k / (SMP_CANNY_ACROSS + 2), column = k % (SMP_CANNY_ACROSS + 2);
            const int64_t x = x0 - 1 + column, y = y0 - 1 + row;
            const smp_canny_gradient g = canny_gradient(tile, row, column);
            const bool inside = x >= 0 && x < io.in.width && y >= 0 && y < height;
            tile.sizes[row][column] = inside ? smp_canny_size(g.dx, g.dy, p.squares) : 0.f;
        }
        __syncthreads();
        const smp_canny_gradient g = canny_gradient(tile, ty + 1, tx + 1);
        const float m = tile.sizes[ty + 1][tx + 1];
        float n[9];
        for (int k = 0; k < 9; k++)
            n[k] = tile.sizes[ty + k / 3][tx + k % 3];
        const bool here = x0 + tx < io.in.width && y0 + ty < end && m > p.low &&
                          smp_canny_largest(g.dx, g.dy, m, n[3], n[5], n[1], n[7], n[0], n[2], n[6], n[8]);
        const uint32_t some = __ballot_sync(0xffffffffu, here), seeds = __ballot_sync(0xffffffffu, here && m > p.high);
        if (tx == 0 && y0 + ty < end) {
            smp_canny_plane(&io, 0)[(y0 + ty) * words + blockIdx.x] = some;
            smp_canny_plane(&io, 1)[(y0 + ty) * words + blockIdx.x] = seeds;
        }
        __syncthreads();
    }
}
SMP_KERNEL_SAME(canny_tiled, smp_canny)
