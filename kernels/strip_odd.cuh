/* Strips of rows that begin anywhere, as rows that lie end to end do: by pieces of 16 bytes (strip_odd_pieces.cuh), or,
 * of floats with wide windows, by words (strip_odd_floats.cuh).
 *
 * They have marches of their own, since an aligned one pays for registers that only these ways want, and most have
 * kernels of their own as well, NAME_loose, since a kernel with two marches has the registers of the dearer
 * (docs/gpu-log.md). Kernels of four channels, and sharpen's, have no such march: there such rows go by samples, for
 * twice the code is twice nvcc's time. */
#ifndef SMP_KERNELS_STRIP_ODD_CUH
#define SMP_KERNELS_STRIP_ODD_CUH

#include "strip_odd_floats.cuh"
#include "strip_odd_pieces.cuh"

/* Whether kernels for so many channels have a march for such rows. */
SMP_FN constexpr bool strip_has_odd(int channels)
{
    return channels != 4;
}

/* The marches of a kernel: for aligned rows alone, for others alone, or both. */
enum strip_kernels { STRIP_EVEN, STRIP_LOOSE, STRIP_BOTH };

/* So many bytes of memory and of shared memory rows lie alike in, where windows of them are shifted: a line. */
enum { STRIP_ALIKE = 128 };

/* ::type is their loader, with strip_loader's parameters. REACH: if windows are to be shifted as they are read
 * (strip_lines_loader), the samples of halo; else 0. */
template <typename T, int C, int ACROSS, int SIDE, int ROWS, int STAGES, int REACH = 0> struct strip_odd_loader {
    typedef strip_lines_loader<T, C, ACROSS, REACH, SIDE, ROWS, STAGES, STRIP_ALIKE> type;
};
template <typename T, int C, int ACROSS, int SIDE, int ROWS, int STAGES>
struct strip_odd_loader<T, C, ACROSS, SIDE, ROWS, STAGES, 0> {
    typedef strip_pieces_loader<T, C, ACROSS, SIDE, ROWS, STAGES> type;
};
template <int C, int ACROSS, int SIDE, int ROWS, int STAGES>
struct strip_odd_loader<float, C, ACROSS, SIDE, ROWS, STAGES, 0> {
    typedef strip_words_loader<C, ACROSS, SIDE, ROWS, STAGES> type;
};

/* Where a lane makes 16 bytes of a row, strips may overlap by as many (SMP_STRIP_OVERLAP): then a strip in which no row
 * ends stores whole pieces alone, straight from registers, and asks the L2 for a third less than one that stores what
 * is beside its pieces too. Whether the strip of `across` samples at x0 is such a one, of rows of n: */
SMP_DEVICE bool strip_stores_straight(int step, int across, int x0, int n)
{
    return step < across && x0 > 0 && x0 + across < n;
}

/* 16 bytes of such a row of results: those that begin `words` words and `bits` bits behind the lane's first, the rest
 * of them the next lane's. */
template <bool BITS> SMP_DEVICE uint4 strip_piece_behind(const unsigned *lanes, int words, unsigned bits)
{
    unsigned all[8];
#pragma unroll
    for (int i = 0; i < 4; i++)
        all[i] = lanes[i];
#pragma unroll
    for (int i = 0; i < words + (int)BITS; i++)
        all[4 + i] = __shfl_down_sync(0xffffffffu, lanes[i], 1);
    if (BITS)
#pragma unroll
        for (int i = words; i < words + 4; i++)
            all[i] = __funnelshift_r(all[i], all[i + 1], bits);
    return make_uint4(all[words], all[words + 1], all[words + 2], all[words + 3]);
}

/* Stores a lane's piece of such a row, if `there`: the one that begins among the lane's results, which go to `out`. The
 * last lane has none: what begins there is the next strip's. */
template <typename T> SMP_DEVICE void strip_store_piece(const unsigned *lanes, char *out, bool there)
{
    constexpr bool BITS = sizeof(T) < 4;
    const unsigned before = __shfl_sync(0xffffffffu, -(unsigned)(uintptr_t)out % 16, 0), bits = 8 * before;
    uint4 piece;
    if (before & 8)
        piece = before & 4 ? strip_piece_behind<BITS>(lanes, 3, bits) : strip_piece_behind<BITS>(lanes, 2, bits);
    else
        piece = before & 4 ? strip_piece_behind<BITS>(lanes, 1, bits) : strip_piece_behind<BITS>(lanes, 0, bits);
    if (there && threadIdx.x < 31)
        *reinterpret_cast<uint4 *>(out + before) = piece;
}

/* Stores a group of a march's results, of `count` samples each. They lie in the rows of the stage at `stage`, or, where
 * rows stay for longer, in those that left meanwhile, before `late`. out: where the group's first row goes, at the
 * strip's first sample; done, of `made` rows, so many rows are complete before it. */
template <int ACROSS, int ROWS, bool LATE, typename LOADER, typename T>
SMP_DEVICE void strip_flush_group(const T *results, int stage, int late, T *out, int64_t stride, int done, int made,
                                  int count)
{
    const int first = late - LOADER::GROUP, at = !LATE ? stage : first < 0 ? first + LOADER::RING : first;
    __syncwarp();
    if constexpr (sizeof(T) < sizeof(float))
        strip_flush_pieces<ACROSS, ROWS, LOADER::PITCH, LATE ? LOADER::RING : 0>(results, at, out, stride, -done,
                                                                                 made - done, count);
    else
        strip_flush_words<ACROSS, ROWS, LOADER::PITCH, LATE ? LOADER::RING : 0>(results, at, out, stride, -done,
                                                                                made - done, count);
}

#endif
