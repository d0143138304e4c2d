/* hash on GPUs: sums along rows, whose order matters, so that a lane owns a row.
 *   naive   a thread a number: lanes walk along different rows, and read pixels a row apart.
 *   tiled   32 rows and 32 columns in shared memory: lanes read neighbouring pixels, and then walk along their own
 *           rows. A column of the tile lies in one bank: 32-way conflicts, 32 wavefronts an access.
 *   padded  the same with an unused element at the end of each row of the tile: one wavefront. */
#include "stencil/hash.h"

#include "lib/gpu_kernel.h"

/* Geometry: threads over numbers (x) and rows (y). */
template <typename T, typename> SMP_DEVICE void hash_naive(const smp_io &io, const smp_hash &p)
{
    smp_each(io, p.across, [&](int64_t y, int64_t k) {
        static_cast<float *>(io.result)[y * p.across + k] = smp_hash_number(&p, &io, y, (int32_t)k);
    });
}
SMP_KERNEL_SAME(hash_naive, smp_hash)

template <int PITCH> struct hash_tile {
    float bright[SMP_HASH_ROWS][PITCH];
};

/* Geometry: blocks of one warp; x a number, y a group of rows. */
template <typename T, int PITCH> SMP_DEVICE void hash_walk(const smp_io &io, const smp_hash &p)
{
    typedef hash_tile<PITCH> tile_type;
    SMP_SHARED(tile_type, tile);
    const int t = (int)threadIdx.x;
    const int32_t k = (int32_t)blockIdx.x;
    const int64_t end = io.out.y0 + io.out.rows;
    const smp_resize_taps taps = smp_resize_taps_of(&p.axis, io.table, k);
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * SMP_HASH_ROWS; top < end;
         top += (int64_t)gridDim.y * SMP_HASH_ROWS) {
        const int rows = end - top < SMP_HASH_ROWS ? (int)(end - top) : SMP_HASH_ROWS;
        smp_hash_sum sum = smp_hash_begin();
        for (int32_t from = 0; from < taps.count; from += SMP_HASH_ROWS) {
            const int some = taps.count - from < SMP_HASH_ROWS ? taps.count - from : SMP_HASH_ROWS;
            for (int r = 0; r < rows; r++) {
                smp_converge();
                if (t < some)
                    tile.bright[r][t] = smp_hash_bright(&io.in, smp_row(&io.in, top + r), taps.first + from + t);
            }
            __syncwarp();
            for (int i = 0; i < some; i++) {
                smp_converge();
                if (t < rows)
                    smp_hash_add(&sum, p.kind, taps.weight + from + i, tile.bright[t][i]);
            }
            __syncwarp();
        }
        if (t < rows)
            static_cast<float *>(io.result)[(top + t) * p.across + k] = smp_hash_end(&sum, p.kind);
    }
}

#define HASH(name, PITCH)                                                                                              \
    template <typename T, typename> SMP_DEVICE void hash_##name(const smp_io &io, const smp_hash &p)                   \
    {                                                                                                                  \
        hash_walk<T, PITCH>(io, p);                                                                                    \
    }                                                                                                                  \
    SMP_KERNEL_SAME(hash_##name, smp_hash)
HASH(tiled, SMP_HASH_ROWS)
HASH(padded, SMP_HASH_ROWS + 1)
