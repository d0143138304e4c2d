/* Joining on GPUs (union_find.h): slots for the runs of a bit plane that is there, the first of io->result, of the
 * picture io.second. union_find.cu joins the rest. naive  every run is a root. tiled  tiles are joined in shared
 * memory. */
#include "lib/union_find_tile.cuh"

#define UNION_FIND_KERNEL(name) SMP_KERNEL_PAIR_(name, f32, float, f32, float, smp_union_find)

/* Geometry: SMP_UNION_FIND_BLOCK threads over the picture's words. */
template <typename, typename> SMP_DEVICE void union_find_words_naive(const smp_io &io, const smp_union_find &p)
{
    const union_find_slots all(io.out, io.second, p);
    const int64_t end = p.fits && io.out.data ? all.words * all.height : 0;
    for (int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; w < end; w += (int64_t)gridDim.x * blockDim.x)
        for (int k = 0; k < union_find_runs(static_cast<const uint32_t *>(io.result)[w]); k++)
            all.slots[all.of(w, k)] = all.of(w, k);
}
UNION_FIND_KERNEL(union_find_words_naive)

/* Geometry: a block a tile. */
template <typename, typename> SMP_DEVICE void union_find_words_tiled(const smp_io &io, const smp_union_find &p)
{
    SMP_SHARED(union_find_tile, tile);
    const union_find_slots all(io.out, io.second, p);
    const int t = (int)threadIdx.x;
    const bool fits = p.fits && io.out.data;
    union_find_tiles(tile, all, 0, fits ? all.height : 0, p.near, fits, [&](int64_t top, int64_t first) {
        const int64_t y = top + t / SMP_UNION_FIND_ACROSS, x = first + t % SMP_UNION_FIND_ACROSS;
        return y < all.height && x < all.words ? static_cast<const uint32_t *>(io.result)[y * all.words + x] : 0u;
    });
}
UNION_FIND_KERNEL(union_find_words_tiled)
