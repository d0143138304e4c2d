/* Brings the rows of a tile's input into shared memory by asynchronous copies of 16 bytes. */
#pragma once

#include "geometry/transpose_tile.cuh"
#include "lib/warp_control.cuh"

/* 16 bytes to shared memory. LINE 256: a miss brings 256 bytes to the second-level cache. */
template <int LINE> SMP_DEVICE void transpose_fetch(void *to, const unsigned char *from)
{
    if (LINE == 256)
        smp_copy_async_along(to, from);
    else
        smp_copy_async<16>(to, from);
}

/* Brings the tile's rows, the first of which begins at `from`, to place(row), zeros for vectors that do not exist.
 * (cp.async can fill with zeros itself, but CUPTI's count of that varies.) Waits; the block sees them after its next
 * barrier. */
template <int PX, typename PLACE>
SMP_DEVICE void transpose_fetch_rows(const transpose_place &t, const unsigned char *from, PLACE place)
{
    typedef transpose_shape<PX> shape;
    constexpr int T = shape::threads, VECS = shape::columns * PX / 16;
    constexpr int LINE = VECS % 16 ? 256 : 0; /* some tiles begin within 256 bytes */
    if (t.full) {
#pragma unroll
        for (int k = 0; k < shape::rows * VECS; k += T) {
            const int i = k + (int)threadIdx.x, r = i / VECS, c = i % VECS;
            transpose_fetch<LINE>(place(r) + 16 * c, from + r * t.in_step + c * 16);
        }
    } else {
#pragma unroll 1
        for (int k = 0; k < shape::rows * VECS; k += T) {
            smp_converge();
            const int i = k + (int)threadIdx.x, r = i / VECS, c = i % VECS;
            smp_diverge_fence();
            if (r < t.rows && c * 16 < t.columns * PX)
                transpose_fetch<LINE>(place(r) + 16 * c, from + r * t.in_step + c * 16);
            else
                *reinterpret_cast<uint4 *>(place(r) + 16 * c) = make_uint4(0, 0, 0, 0);
        }
    }
    smp_copy_commit();
    smp_copy_wait<0>();
}
