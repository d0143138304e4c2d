/* canny on GPUs, when the candidates are joined (reduce/union_find.cu): those that hang together with a seed are kept.
 * Geometry: SMP_UNION_FIND_BLOCK threads over the picture's words. io.second: the picture. */
#include "stencil/canny.h"

#include "lib/union_find.cuh"

/* Words to look at; 0: the host joins. */
SMP_DEVICE int64_t canny_words(const smp_io &io, const smp_canny &p, const union_find_slots &all)
{
    return p.sets.fits && io.out.data ? all.words * all.height : 0;
}

/* Roots of components that have a seed become UNION_FIND_NUMBERED. */
template <typename, typename> SMP_DEVICE void canny_mark(const smp_io &io, const smp_canny &p)
{
    const union_find_slots all(io.out, io.second, p.sets);
    const uint32_t *const some = smp_canny_plane_of(&io, &io.second, 0);
    const uint32_t *const seeds = smp_canny_plane_of(&io, &io.second, 1);
    const int64_t end = canny_words(io, p, all);
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < end; at += (int64_t)gridDim.x * blockDim.x) {
        const unsigned word = seeds[at] ? some[at] : 0, seed = seeds[at];
        for (unsigned starts = union_find_starts(word), k = 0; starts; starts &= starts - 1, k++) {
            const uint32_t root =
                union_find_run(word, starts & (0u - starts)) & seed ? all.root_of(at, (int)k) : UNION_FIND_NUMBERED;
            if (root < UNION_FIND_NUMBERED)
                atomicMax(all.slots + root, (uint32_t)UNION_FIND_NUMBERED);
        }
    }
}
SMP_KERNEL_PAIR_(canny_mark, f32, float, f32, float, smp_canny)

/* The table: runs of such components. */
template <typename, typename> SMP_DEVICE void canny_keep(const smp_io &io, const smp_canny &p)
{
    const union_find_slots all(io.out, io.second, p.sets);
    const uint32_t *const some = smp_canny_plane_of(&io, &io.second, 0);
    const int64_t end = canny_words(io, p, all);
    if (end && blockIdx.x == 0 && threadIdx.x == 0) /* the host gets a word that says so */
        *union_find_at<uint64_t>(io.out, 0) = *union_find_head(io, p.sets) = sizeof(uint64_t);
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < end; at += (int64_t)gridDim.x * blockDim.x) {
        const unsigned word = some[at];
        unsigned kept = 0;
        for (unsigned starts = union_find_starts(word), k = 0; starts; starts &= starts - 1, k++)
            kept |= all.settled(at, (int)k) == UNION_FIND_NUMBERED ? union_find_run(word, starts & (0u - starts)) : 0u;
        union_find_at<uint32_t>(io.out, p.sets.table_at)[at] = kept;
    }
}
SMP_KERNEL_PAIR_(canny_keep, f32, float, f32, float, smp_canny)
