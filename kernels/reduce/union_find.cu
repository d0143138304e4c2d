/* Joining on GPUs (union_find.h): runs of the bit plane that io->result begins with, of the picture io.second. Their
 * slots are there; those that are joined in a tile know its root alone. naive  a run is joined with those beside and
 * above it in global memory. tiled  the same where they are in another tile.
 *
 * In global memory, union-find by atomic minima (Playne and Hawick 2018, "A New Algorithm for Parallel Connected-
 * Component Labelling on GPUs"): a root is hung below a smaller one of its component; who finds that it was no root any
 * more goes on with what was above it. What hangs where meanwhile depends on who comes first, so that these kernels are
 * `unordered`; roots are the smallest of their component in the end.
 *
 * Geometry, where nothing else is said: SMP_UNION_FIND_BLOCK threads over the picture's words. */
#include "lib/union_find_counts.cuh"

#define UNION_FIND_KERNEL(name) SMP_KERNEL_PAIR_(name, f32, float, f32, float, smp_union_find)

/* Joins what word `at` touches that is not in its tile. TILED false: there are no tiles. */
template <bool TILED>
SMP_DEVICE void union_find_seam(const union_find_slots &all, const uint32_t *bits, int64_t at, int near)
{
    const int64_t y = at / all.words, x = at - y * all.words;
    const bool top = !TILED || y % SMP_UNION_FIND_DOWN == 0, begins = !TILED || x % SMP_UNION_FIND_ACROSS == 0;
    const bool ends = !TILED || x % SMP_UNION_FIND_ACROSS == SMP_UNION_FIND_ACROSS - 1;
    union_find_words w = {0, 0, 0, 0, 0, 0};
    if (top || begins || ends)
        w.here = bits[at];
    if (!w.here)
        return;
    const int64_t above = at - all.words;
    w.left = x > 0 ? bits[at - 1] : 0;
    w.right = x + 1 < all.words ? bits[at + 1] : 0;
    w.above = y > 0 ? bits[above] : 0;
    w.above_left = y > 0 && x > 0 ? bits[above - 1] : 0;
    w.above_right = y > 0 && x + 1 < all.words ? bits[above + 1] : 0;
    if (begins && union_find_left(w))
        all.unite(all.in_tile(at, 0), all.in_tile(at - 1, union_find_runs(w.left) - 1));
    uint32_t done_here = 0, done_above = 0; /* most runs of a word are of one component: a pair is joined once */
    for (unsigned starts = top ? union_find_starts(w.here) : 0, k = 0; starts; starts &= starts - 1, k++) {
        const union_find_touched up = union_find_above(union_find_run(w.here, starts & (0u - starts)), w.above, near);
        for (int j = up.from; j <= up.to; j++) {
            const uint32_t a = all.in_tile(at, (int)k), b = all.in_tile(above, j);
            if (a != done_here || b != done_above)
                all.unite(a, b);
            done_here = a;
            done_above = b;
        }
    }
    if ((top || begins) && union_find_above_left(w, near))
        all.unite(all.in_tile(at, 0), all.in_tile(above - 1, union_find_runs(w.above_left) - 1));
    if ((top || ends) && union_find_above_right(w, near))
        all.unite(all.in_tile(at, union_find_runs(w.here) - 1), all.in_tile(above + 1, 0));
}

template <bool TILED> SMP_DEVICE void union_find_seams(const smp_io &io, const smp_union_find &p)
{
    const union_find_slots all(io.out, io.second, p);
    const int64_t end = p.fits && io.out.data ? all.words * all.height : 0;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < end; at += (int64_t)gridDim.x * blockDim.x)
        union_find_seam<TILED>(all, static_cast<const uint32_t *>(io.result), at, p.near);
}
template <typename, typename>
SMP_DEVICE void union_find_seams_unordered_naive(const smp_io &io, const smp_union_find &p)
{
    union_find_seams<false>(io, p);
}
UNION_FIND_KERNEL(union_find_seams_unordered_naive)
template <typename, typename>
SMP_DEVICE void union_find_seams_unordered_tiled(const smp_io &io, const smp_union_find &p)
{
    union_find_seams<true>(io, p);
}
UNION_FIND_KERNEL(union_find_seams_unordered_tiled)

/* Every root of a tile learns the component's; roots are counted. Geometry: a block a chunk of words. */
template <typename, typename> SMP_DEVICE void union_find_flatten(const smp_io &io, const smp_union_find &p)
{
    SMP_SHARED(union_find_sums, s);
    const union_find_slots all(io.out, io.second, p);
    const uint32_t *const bits = static_cast<const uint32_t *>(io.result);
    const int64_t words = p.fits && io.out.data ? all.words * all.height : 0, chunk = smp_union_find_chunk(words);
    for (int64_t c = blockIdx.x; c * chunk < words; c += gridDim.x) {
        uint32_t mine = 0, sum;
        for (int64_t at = c * chunk + threadIdx.x; at < (c + 1) * chunk && at < words; at += SMP_UNION_FIND_BLOCK)
            for (int k = 0; k < union_find_runs(bits[at]); k++) {
                const uint32_t slot = all.of(at, k), value = all.look(slot);
                if (value == slot)
                    mine++;
                else if (value < UNION_FIND_LOCAL)
                    all.slots[slot] = all.root(value);
            }
        union_find_sum_before(s.warps, mine, &sum);
        if (threadIdx.x == 0)
            union_find_at<uint32_t>(io.out, p.counts_at)[c] = sum;
    }
}
UNION_FIND_KERNEL(union_find_flatten)
