/* Joining on GPUs (union_find.h): slots for the runs of a bit plane that is there, the first of io->result, of the
 * picture io.second. joins.cu joins the rest. naive  every run is a root. tiled  tiles are joined in shared memory. */
#include "lib/union_find_tile.cuh"

#define JOINS_KERNEL(name) SMP_KERNEL_PAIR_(name, f32, float, f32, float, smp_joins)

/* Geometry: SMP_JOINS_BLOCK threads over the picture's words. */
template <typename, typename> SMP_DEVICE void joins_words_naive(const smp_io &io, const smp_joins &p)
{
    const joins_slots all(io.out, io.second, p);
    const int64_t end = p.fits && io.out.data ? all.words * all.height : 0;
    for (int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; w < end; w += (int64_t)gridDim.x * blockDim.x)
        for (int k = 0; k < joins_runs(static_cast<const uint32_t *>(io.result)[w]); k++)
            all.slots[all.of(w, k)] = all.of(w, k);
}
JOINS_KERNEL(joins_words_naive)

/* Geometry: a block a tile. */
template <typename, typename> SMP_DEVICE void joins_words_tiled(const smp_io &io, const smp_joins &p)
{
    SMP_SHARED(joins_tile, tile);
    const joins_slots all(io.out, io.second, p);
    const int t = (int)threadIdx.x;
    const bool fits = p.fits && io.out.data;
    joins_tiles(tile, all, 0, fits ? all.height : 0, p.near, fits, [&](int64_t top, int64_t first) {
        const int64_t y = top + t / SMP_JOINS_ACROSS, x = first + t % SMP_JOINS_ACROSS;
        return y < all.height && x < all.words ? static_cast<const uint32_t *>(io.result)[y * all.words + x] : 0u;
    });
}
JOINS_KERNEL(joins_words_tiled)
