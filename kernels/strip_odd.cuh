/* Strips of rows that begin anywhere, as rows that lie end to end do: what strip.cuh does at multiples of 16 bytes.
 *
 * In: each row comes as the aligned pieces that hold what is wanted of it, one more than of an aligned row, and is
 * moved into place in shared memory when it has arrived (settle): five words for four, shifted by 0 to 3 bytes.
 *
 * Out: results take the place of the row that was read for the last time; at the end of their group they leave as the
 * aligned pieces that they fill (strip_flush), and what is beside those as single samples.
 *
 * Kernels have two marches, since an aligned one pays for registers that only these ways want (docs/gpu-log.md); those
 * of four channels and sharpen's have one, in which such rows go by samples: twice the code is twice nvcc's time. */
#ifndef SMP_KERNELS_STRIP_ODD_CUH
#define SMP_KERNELS_STRIP_ODD_CUH

#include "smp_apart.cuh"
#include "strip.cuh"

/* Whether kernels for so many channels have a march for such rows. */
SMP_FN constexpr bool strip_has_odd(int channels)
{
    return channels != 4;
}

/* The 16 bytes that begin `shift` bytes after `from`, which is aligned to 16. The last word is read where bytes of it
 * are wanted: else it may not exist. */
template <typename T> SMP_DEVICE uint4 strip_after(const T *from, unsigned shift)
{
    const unsigned *const words =
        reinterpret_cast<const unsigned *>(reinterpret_cast<const unsigned char *>(from) + (shift & ~3u));
    unsigned word[5] = {words[0], words[1], words[2], words[3], 0};
    if constexpr (sizeof(T) == 1) {
        if (shift & 3)
            word[4] = words[4];
#pragma unroll
        for (int w = 0; w < 4; w++)
            word[w] = __funnelshift_r(word[w], word[w + 1], 8 * shift);
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Parameters, and what a march calls, as strip_loader's; quick: whole, and its groups of rows all exist. */
template <typename IN, int C, int ACROSS, int SIDE, int ROWS, int STAGES>
struct strip_odd_loader
    : strip_loader<IN, C, ACROSS, SIDE, ROWS, STAGES, strip_rows<IN, ACROSS, SIDE, ROWS, STAGES>::ODD_PITCH> {
    typedef strip_loader<IN, C, ACROSS, SIDE, ROWS, STAGES, strip_rows<IN, ACROSS, SIDE, ROWS, STAGES>::ODD_PITCH> base;
    typedef typename base::rows_type rows_type;
    using base::edge, base::from, base::in, base::n, base::next, base::pieces, base::quick, base::row, base::side,
        base::side_from, base::side_row, base::side_to, base::side_x, base::to, base::wanted, base::whole, base::x0;
    using base::PIECE, base::PITCH, base::MIDDLE, base::TURN, base::HALO, base::SIDE_TURN, base::BESIDE;
    static_assert(ROWS <= 16 && SIDE_TURN % TURN == 0, "half a warp brings the ends of a group's rows");
    static constexpr bool ODD = true;
    int64_t settled; /* the first row of the next group to settle */

    SMP_MEMBER strip_odd_loader(rows_type &rows, const smp_view &view, int start, int far, int border)
        : base(rows, view, start, far, border)
    {
        whole = x0 >= SIDE + PIECE && x0 + ACROSS + SIDE + PIECE <= n;
        pieces = whole || edge != SMP_WRAP;
        if (pieces && (int)threadIdx.x % BESIDE == HALO) { /* brings the last piece, which aligned rows do not have */
            side = true;
            side_x = x0 - SIDE + (MIDDLE + HALO) * PIECE;
        }
    }
    SMP_MEMBER void begin(int64_t top, int rows, int groups)
    {
        base::begin(top, rows, groups);
        settled = top;
    }
    /* How many samples after a multiple of 16 bytes sample `at` of a row lies. */
    static SMP_MEMBER int past(const IN *line, int at)
    {
        return (int)(((uintptr_t)line + (uintptr_t)(int64_t)at * sizeof(IN)) % 16 / sizeof(IN));
    }
    static SMP_MEMBER const IN *aligned_down(const IN *at)
    {
        return reinterpret_cast<const IN *>((uintptr_t)at & ~(uintptr_t)15);
    }
    /* Starts copying the piece of picture row y that holds sample `at`, or makes zeros where none is; the pieces in
     * which a row begins or ends are left to copy_ends(). */
    SMP_MEMBER void copy(IN *place, int64_t y, int at, bool needed) const
    {
        const IN *const line = base::line_of(y, needed);
        const int start = at - past(line, at);
        if (line && start >= 0 && start + PIECE <= n)
            smp_copy_async_along(place, line + start);
        else if (!line || start + PIECE <= 0 || start >= n)
            *reinterpret_cast<uint4 *>(place) = make_uint4(0, 0, 0, 0);
    }
    /* Brings the pieces in which the ROWS rows end and begin: a row a lane, so that all wait for memory once. rows:
     * where the rows go. */
    SMP_MEMBER void copy_ends(IN *rows) const
    {
        const int lane = (int)threadIdx.x % 16;
        const bool end = threadIdx.x < 16;
        const IN *const line = lane < ROWS ? base::line_of(next + lane, lane < wanted) : nullptr;
        if (!line)
            return;
        const int before = SIDE - x0 + past(line, x0 - SIDE); /* samples from the first piece to the row's first */
        const int at = (before + (end ? n : 0)) & -PIECE, start = at - before; /* of that piece */
        if (at >= 0 && at <= ACROSS + 2 * SIDE && (end ? start < n : start < 0 && start + PIECE <= n))
            *reinterpret_cast<uint4 *>(rows + lane * PITCH + at) = base::part(
                reinterpret_cast<const unsigned char *>(line + start), start < 0 ? -start * (int)sizeof(IN) : 0,
                start + PIECE > n ? (n - start) * (int)sizeof(IN) : 16);
    }
    /* The last piece of each row, where no lane of the halo's is left for it. */
    SMP_MEMBER void copy_last(IN *rows) const
    {
        const int lane = (int)threadIdx.x, at = (MIDDLE + HALO) * PIECE;
        if (BESIDE == HALO && lane < ROWS) {
            smp_apart();
            copy(rows + lane * PITCH + at, next + lane, x0 - SIDE + at, lane < wanted);
        }
    }
    SMP_MEMBER void load(int offset)
    {
        if (quick) {
#pragma unroll
            for (int i = 0; i < ROWS; i += SIDE_TURN) /* by all lanes, as for aligned rows */
                smp_copy_async_along(side_to + offset + i * PITCH, aligned_down(base::down(side_from, i)));
#pragma unroll
            for (int i = 0; i < ROWS / TURN; i++)
                smp_copy_async_along(to + offset + i * TURN * PITCH, aligned_down(base::down(from, i * TURN)));
            from = base::down(from, ROWS);
            side_from = base::down(side_from, ROWS);
        } else {
            base::load_edge(*this, offset);
            if (pieces)
                copy_ends(base::rows_at(offset));
        }
        if (pieces)
            copy_last(base::rows_at(offset));
        next += ROWS;
        wanted -= ROWS;
    }
    SMP_MEMBER bool unsettled() const
    {
        return pieces;
    }
    /* Moves the ROWS rows of the stage at `offset` into place; then as for aligned rows. */
    SMP_MEMBER void settle(int offset)
    {
        move(offset);
        if (!whole) {
            __syncwarp();
            base::settle(offset);
        }
    }
    /* Each lane moves the pieces that it brought, which want the next lane's too. Halos are read first and stored last.
     */
    SMP_MEMBER void move(int offset)
    {
        const int lane = (int)threadIdx.x;
        const int64_t y = quick ? settled + lane : strip_fold(settled + lane, in.height, edge);
        const unsigned shift = ((unsigned)(uintptr_t)in.data + (unsigned)(y - in.y0) * (unsigned)in.stride +
                                (unsigned)(x0 - SIDE) * (unsigned)sizeof(IN)) %
                               16; /* of this lane's row, if it is one */
        const bool beside = lane % BESIDE < HALO;
        settled += ROWS;
#pragma unroll
        for (int j = 0; j < ROWS; j += SIDE_TURN) {
            IN *const halo = side_to + offset + j * PITCH;
            const unsigned halo_shift = __shfl_sync(0xffffffffu, shift, side_row + j);
            uint4 v = make_uint4(0, 0, 0, 0);
            smp_together();
            if (beside)
                v = strip_after(halo, halo_shift);
            smp_together();
#pragma unroll
            for (int i = j; i < j + SIDE_TURN; i += TURN) {
                IN *const place = to + offset + i * PITCH;
                const uint4 moved = strip_after(place, __shfl_sync(0xffffffffu, shift, row + i));
                __syncwarp();
                *reinterpret_cast<uint4 *>(place) = moved;
            }
            if (beside)
                *reinterpret_cast<uint4 *>(halo) = v;
        }
    }
};

/* How many samples from `at` on lie before a multiple of 16 bytes. */
template <typename T> SMP_DEVICE int strip_head(const T *at)
{
    return (int)(-(unsigned)(uintptr_t)at % 16 / (unsigned)sizeof(T));
}

/* Stores rows first .. last - 1 of a group of ROWS results, of `count` samples each, ACROSS at most: row q lies at made
 * + (at + q * PITCH) modulo RING, if that is one, at a multiple of 16 bytes, and goes to row q of out, at any address.
 * A lane takes 16 bytes of a row, then some of the samples beside what all take so. */
template <int ACROSS, int ROWS, int PITCH, int RING, typename T>
SMP_DEVICE void strip_flush(const T *made, int at, T *out, int64_t stride, int first, int last, int count)
{
    constexpr int PIECE = 16 / (int)sizeof(T), LANES = ACROSS / PIECE, TURN = 32 / LANES;
    const int lane = (int)threadIdx.x, piece = lane % LANES * PIECE;
    count = count < ACROSS ? count : ACROSS;
    T *to = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + lane / LANES * stride);
    const int first_slot = at;
    at += lane / LANES * PITCH;
#pragma unroll 2
    for (int q = lane / LANES; q < lane / LANES + ROWS; q += TURN) {
        smp_together();
        const int i = strip_head(to) + piece;
        if (RING && at >= RING)
            at -= RING;
        if (q >= first && q < last && i + PIECE <= count) {
            *reinterpret_cast<uint4 *>(to + i) = strip_after(made + at, (unsigned)i * (unsigned)sizeof(T));
        }
        to = reinterpret_cast<T *>(reinterpret_cast<char *>(to) + TURN * stride);
        at += TURN * PITCH;
    }
    to = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + lane / 16 * stride);
    at = first_slot + lane / 16 * PITCH;
#pragma unroll 2
    for (int q = lane / 16; q < lane / 16 + ROWS; q += 2) { /* side by side, so that they are one access of the L2 */
        smp_together();
        const int most = strip_head(to), head = most < count ? most : count, whole = (count - head) / PIECE * PIECE;
        if (RING && at >= RING)
            at -= RING;
        if (q >= first && q < last)
#pragma unroll 1
            for (int j = lane % 16; j < count - whole; j += 16) {
                const int i = j < head ? j : j + whole;
                to[i] = made[at + i];
            }
        to = reinterpret_cast<T *>(reinterpret_cast<char *>(to) + 2 * stride);
        at += 2 * PITCH;
    }
}

/* The same after a group of a march: its results lie in the rows of the stage at `stage`, or, where rows stay for
 * longer, in those that left meanwhile, before `late`. out: where the group's first row goes, at the strip's first
 * sample; done, of `made` rows, so many rows are complete before it. */
template <int ACROSS, int ROWS, bool LATE, typename LOADER, typename T>
SMP_DEVICE void strip_flush_group(const T *results, int stage, int late, T *out, int64_t stride, int done, int made,
                                  int count)
{
    const int first = late - LOADER::GROUP, at = !LATE ? stage : first < 0 ? first + LOADER::RING : first;
    __syncwarp();
    strip_flush<ACROSS, ROWS, LOADER::PITCH, LATE ? LOADER::RING : 0>(results, at, out, stride, -done, made - done,
                                                                      count);
}

#endif
