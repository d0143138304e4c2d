/* A tile's rows of input in shared memory, by asynchronous copies of 16 bytes. */
#ifndef SMP_KERNELS_TURN_FETCH_CUH
#define SMP_KERNELS_TURN_FETCH_CUH

#include "geometry/transpose_tile.cuh"
#include "lib/warp_control.cuh"

/* 16 bytes to shared memory. LINE 256: what is missing comes to the second-level cache by 256 bytes. */
template <int LINE> SMP_DEVICE void transpose_fetch(void *to, const unsigned char *from)
{
    if (LINE == 256)
        smp_copy_async_along(to, from);
    else
        smp_copy_async<16>(to, from);
}

/* The tile's rows, which begin at `from` in its first, to where `place`(row) says; zeros where there are none.
 * (cp.async can fill with zeros itself, but CUPTI counts that at random.) Waits; the block has them after its next
 * barrier. */
template <int PX, typename PLACE>
SMP_DEVICE void transpose_fetch_rows(const transpose_place &t, const unsigned char *from, PLACE place)
{
    typedef transpose_shape<PX> shape;
    constexpr int T = shape::threads, WORDS = shape::columns * PX / 16;
    constexpr int LINE = WORDS % 16 ? 256 : 0;                  /* some tiles begin within 256 bytes */
    if (t.rows >= shape::rows && t.columns >= shape::columns) { /* as most tiles are */
#pragma unroll
        for (int k = 0; k < shape::rows * WORDS; k += T) {
            const int i = k + (int)threadIdx.x, r = i / WORDS, c = i % WORDS;
            transpose_fetch<LINE>(place(r) + 16 * c, from + r * t.in_step + c * 16);
        }
    } else {
#pragma unroll 1
        for (int k = 0; k < shape::rows * WORDS; k += T) {
            smp_converge();
            const int i = k + (int)threadIdx.x, r = i / WORDS, c = i % WORDS;
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

#endif
