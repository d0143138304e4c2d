/* label on GPUs: the bit plane, and slots for its runs (union_find.h). union_find.cu joins the rest.
 *   naive  a thread a word: its 32 pixels one after the other.
 *   tiled  a warp makes 32 words: a pixel a lane, so that lanes read side by side, and a ballot. Then tiles are joined
 * in shared memory. */
#include "lib/union_find_tile.cuh"
#include "reduce/label.h"

/* Geometry: SMP_UNION_FIND_BLOCK threads over the words of io.second's rows. */
template <typename IN, typename> SMP_DEVICE void label_join_naive(const smp_io &io, const smp_label &p)
{
    const union_find_slots all(io.out, io.in, p.sets);
    const int64_t begin = io.second.y0 * all.words, end = begin + io.second.rows * all.words;
    const bool fits = p.sets.fits && io.out.data;
    union_find_begin(io, p.sets, io.second.y0);
    for (int64_t w = begin + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; w < end;
         w += (int64_t)gridDim.x * blockDim.x) {
        const int64_t y = w / all.words, x = (w - y * all.words) * SMP_BITS_WORD;
        uint32_t word = 0;
        for (int i = 0; i < SMP_BITS_WORD && x + i < io.in.width; i++)
            word |= (uint32_t)smp_label_foreground(&p, &io.in, smp_row(&io.in, y), x + i) << i;
        static_cast<uint32_t *>(io.result)[w] = word;
        for (int k = 0; fits && k < union_find_runs(word); k++)
            all.slots[all.of(w, k)] = all.of(w, k);
    }
}
SMP_KERNEL_INTO_F32(label_join_naive, smp_label)

/* Geometry: a block a tile of io.second's rows. */
template <typename IN, typename> SMP_DEVICE void label_join_tiled(const smp_io &io, const smp_label &p)
{
    SMP_SHARED(union_find_tile, tile);
    const union_find_slots all(io.out, io.in, p.sets);
    const int t = (int)threadIdx.x, lane = t % 32;
    const int64_t end = io.second.y0 + io.second.rows;
    union_find_begin(io, p.sets, io.second.y0);
    union_find_tiles(tile, all, io.second.y0, io.second.rows, p.sets.near, p.sets.fits && io.out.data,
                     [&](int64_t top, int64_t first) {
                         uint32_t word = 0;
                         for (int i = 0; i < 32; i++) { /* word i of the warp's */
                             const int at = t - lane + i;
                             const int64_t y = top + at / SMP_UNION_FIND_ACROSS;
                             const int64_t x = (first + at % SMP_UNION_FIND_ACROSS) * SMP_BITS_WORD + lane;
                             const bool set =
                                 y < end && x < io.in.width && smp_label_foreground(&p, &io.in, smp_row(&io.in, y), x);
                             const uint32_t made = __ballot_sync(0xffffffffu, set);
                             word = lane == i ? made : word;
                         }
                         const int64_t y = top + t / SMP_UNION_FIND_ACROSS, column = first + t % SMP_UNION_FIND_ACROSS;
                         if (y < end && column < all.words)
                             static_cast<uint32_t *>(io.result)[y * all.words + column] = word;
                         return word;
                     });
}
SMP_KERNEL_INTO_F32(label_join_tiled, smp_label)
