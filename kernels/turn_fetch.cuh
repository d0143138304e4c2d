/* A tile's rows of input in shared memory, by asynchronous copies of 16 bytes.
 *
 * Rows that begin anywhere come as the whole sectors of memory, of 32 bytes, that hold them, each to a place as far
 * into its sector, or into 128 bytes, as where it comes from: copies by eight lanes that begin within a sector on
 * either side ask the second-level cache twice for it (docs/gpu-log.md). */
#ifndef SMP_KERNELS_TURN_FETCH_CUH
#define SMP_KERNELS_TURN_FETCH_CUH

#include "smp_apart.cuh"
#include "turn_tile.cuh"

/* 16 bytes to shared memory. LINE 256: what is missing comes to the second-level cache by 256 bytes. */
template <int LINE> SMP_DEVICE void turn_fetch(void *to, const unsigned char *from)
{
    if (LINE == 256)
        smp_copy_async_along(to, from);
    else
        smp_copy_async<16>(to, from);
}
/* The same, or zeros. (cp.async can fill with zeros itself, but CUPTI counts that at random.) */
template <int LINE> SMP_DEVICE void turn_fetch_or_zeros(void *to, const unsigned char *from, bool present)
{
    if (!present) {
        smp_apart();
        *static_cast<uint4 *>(to) = make_uint4(0, 0, 0, 0);
    } else {
        smp_apart();
        turn_fetch<LINE>(to, from);
    }
}

/* The tile's rows, which begin at `from` in its first, to where `place`(row) says. LOOSE: rows may begin anywhere, and
 * `place` is a multiple of 32 bytes, best of 128, with room for SMP_TURN_BESIDE more than the row's; a row begins there
 * turn_skew<SMP_TURN_BESIDE>() bytes behind it. Waits; the block has them after its next barrier. */
template <int PX, bool LOOSE, typename PLACE>
SMP_DEVICE void turn_fetch_rows(const turn_place &t, const unsigned char *from, PLACE place)
{
    typedef turn_shape<PX> shape;
    constexpr int T = shape::threads, WORDS = shape::columns * PX / 16, ALL = WORDS + (LOOSE ? 2 : 0);
    constexpr int LINE = LOOSE || WORDS % 16 ? 256 : 0; /* some tiles begin within 256 bytes */
    const auto sector = [&](int r) {
        const unsigned char *row = from + r * t.in_step;
        return LOOSE ? reinterpret_cast<const unsigned char *>((uintptr_t)row & ~(uintptr_t)31) : row;
    };
    /* Where that sector goes. */
    const auto goal = [&](int r) {
        const unsigned into = turn_skew<SMP_TURN_BESIDE>(from, t.in_step, r);
        return place(r) + (LOOSE ? (int)(into - into % 32) : 0);
    };
    if (t.rows >= shape::rows && t.columns >= shape::columns) { /* as most tiles are */
#pragma unroll
        for (int k = 0; k < shape::rows * WORDS; k += T) {
            const int i = k + (int)threadIdx.x, r = i / WORDS, c = i % WORDS;
            turn_fetch<LINE>(goal(r) + 16 * c, sector(r) + c * 16);
        }
        if (LOOSE)
#pragma unroll 1
            for (int i = (int)threadIdx.x; i < 2 * shape::rows; i += T) {
                smp_apart();
                turn_fetch<LINE>(goal(i / 2) + (WORDS + i % 2) * 16, sector(i / 2) + (WORDS + i % 2) * 16);
            }
    } else {
#pragma unroll 1
        for (int k = 0; k < shape::rows * ALL; k += T) {
            smp_together();
            const int i = k + (int)threadIdx.x, r = i / ALL, c = i % ALL;
            const unsigned char *word = sector(r) + c * 16;
            const bool present = r < t.rows && word < from + r * t.in_step + t.columns * PX;
            if (shape::rows * ALL % T == 0 || r < shape::rows)
                turn_fetch_or_zeros<LINE>(goal(r) + 16 * c, word, present);
        }
    }
    smp_copy_commit();
    smp_copy_wait<0>();
}

#endif
