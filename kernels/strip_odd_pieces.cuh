/* Strips of bytes, or of 16 bits, whose rows begin anywhere: what strip.cuh does at multiples of 16 bytes.
 *
 * In: each row comes as the aligned pieces that hold what is wanted of it, one more than of an aligned row, and is
 * moved into place in shared memory when it has arrived (settle): five words for four, shifted by 0 to 3 bytes.
 *
 * Out: results take the place of the row that was read for the last time; at the end of their group they leave as the
 * aligned pieces that they fill (strip_flush_pieces), and what is beside those as single samples. */
#ifndef SMP_KERNELS_STRIP_ODD_PIECES_CUH
#define SMP_KERNELS_STRIP_ODD_PIECES_CUH

#include "smp_apart.cuh"
#include "strip.cuh"

/* The 16 bytes that begin `shift` bytes after `from`, which is aligned to 16. The last word is read where bytes of it
 * are wanted: else it may not exist. */
SMP_DEVICE uint4 strip_after(const void *from, unsigned shift)
{
    const unsigned *const words = static_cast<const unsigned *>(from) + shift / 4;
    unsigned word[5] = {words[0], words[1], words[2], words[3], 0};
    if (shift & 3)
        word[4] = words[4];
#pragma unroll
    for (int w = 0; w < 4; w++)
        word[w] = __funnelshift_r(word[w], word[w + 1], 8 * shift);
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Parameters, and what a march calls, as strip_loader's; quick: whole, and its groups of rows all exist. */
template <typename T, int C, int ACROSS, int SIDE, int ROWS, int STAGES>
struct strip_pieces_loader
    : strip_loader<T, C, ACROSS, SIDE, ROWS, STAGES, strip_rows<T, ACROSS, SIDE, ROWS, STAGES>::ODD_PITCH> {
    typedef strip_loader<T, C, ACROSS, SIDE, ROWS, STAGES, strip_rows<T, ACROSS, SIDE, ROWS, STAGES>::ODD_PITCH> base;
    typedef typename base::rows_type rows_type;
    using base::edge, base::from, base::in, base::n, base::next, base::pieces, base::quick, base::row, base::side,
        base::side_from, base::side_row, base::side_to, base::side_x, base::to, base::wanted, base::whole, base::x0;
    using base::PIECE, base::PITCH, base::MIDDLE, base::TURN, base::HALO, base::SIDE_TURN, base::BESIDE;
    static_assert(ROWS <= 16 && SIDE_TURN % TURN == 0, "half a warp brings the ends of a group's rows");
    static constexpr bool ODD = true;
    static constexpr int SIZE = (int)sizeof(T);
    int64_t settled; /* the first row of the next group to settle */

    SMP_MEMBER strip_pieces_loader(rows_type &rows, const smp_view &view, int start, int far, int border)
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
    static SMP_MEMBER int past(const T *line, int at)
    {
        return (int)(((uintptr_t)line + (uintptr_t)((int64_t)at * SIZE)) % 16) / SIZE;
    }
    static SMP_MEMBER const T *aligned_down(const T *at)
    {
        return reinterpret_cast<const T *>((uintptr_t)at & ~(uintptr_t)15);
    }
    /* Starts copying the piece of picture row y that holds sample `at`, or makes zeros where none is; the pieces in
     * which a row begins or ends are left to copy_ends(). */
    SMP_MEMBER void copy(T *place, int64_t y, int at, bool needed) const
    {
        const T *const line = base::line_of(y, needed);
        const int start = at - past(line, at);
        if (line && start >= 0 && start + PIECE <= n)
            smp_copy_async_along(place, line + start);
        else if (!line || start + PIECE <= 0 || start >= n)
            *reinterpret_cast<uint4 *>(place) = make_uint4(0, 0, 0, 0);
    }
    /* Brings the pieces in which the ROWS rows end and begin: a row a lane, so that all wait for memory once. rows:
     * where the rows go. */
    SMP_MEMBER void copy_ends(T *rows) const
    {
        const int lane = (int)threadIdx.x % 16;
        const bool end = threadIdx.x < 16;
        const T *const line = lane < ROWS ? base::line_of(next + lane, lane < wanted) : nullptr;
        if (!line)
            return;
        const int before = SIDE - x0 + past(line, x0 - SIDE); /* samples from the first piece to the row's first */
        const int at = (before + (end ? n : 0)) & -PIECE, start = at - before; /* of that piece */
        if (at >= 0 && at <= ACROSS + 2 * SIDE && (end ? start < n : start < 0 && start + PIECE <= n))
            *reinterpret_cast<uint4 *>(rows + lane * PITCH + at) =
                base::part(reinterpret_cast<const unsigned char *>(line + start), start < 0 ? -start * SIZE : 0,
                           start + PIECE > n ? (n - start) * SIZE : 16);
    }
    /* The last piece of each row, where no lane of the halo's is left for it. */
    SMP_MEMBER void copy_last(T *rows) const
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
    /* Each lane moves the pieces that it brought, which want the next lane's too: a few are read before they are
     * stored. Halos are read first and stored last. */
    SMP_MEMBER void move(int offset)
    {
        constexpr int FEW = strip_halves(SIDE_TURN / TURN, 4) * TURN; /* rows */
        const int lane = (int)threadIdx.x;
        const int64_t y = quick ? settled + lane : strip_fold(settled + lane, in.height, edge);
        const unsigned shift = ((unsigned)(uintptr_t)in.data + (unsigned)(y - in.y0) * (unsigned)in.stride +
                                (unsigned)((x0 - SIDE) * SIZE)) %
                               16; /* of this lane's row, if it is one */
        const bool beside = lane % BESIDE < HALO;
        settled += ROWS;
#pragma unroll
        for (int j = 0; j < ROWS; j += SIDE_TURN) {
            T *const halo = side_to + offset + j * PITCH;
            const unsigned halo_shift = __shfl_sync(0xffffffffu, shift, side_row + j);
            uint4 v = make_uint4(0, 0, 0, 0);
            smp_together();
            if (beside)
                v = strip_after(halo, halo_shift);
            smp_together();
#pragma unroll
            for (int few = j; few < j + SIDE_TURN; few += FEW) {
                uint4 moved[FEW / TURN];
#pragma unroll
                for (int i = 0; i < FEW; i += TURN)
                    moved[i / TURN] =
                        strip_after(to + offset + (few + i) * PITCH, __shfl_sync(0xffffffffu, shift, row + few + i));
                __syncwarp();
#pragma unroll
                for (int i = 0; i < FEW; i += TURN)
                    *reinterpret_cast<uint4 *>(to + offset + (few + i) * PITCH) = moved[i / TURN];
            }
            if (beside)
                *reinterpret_cast<uint4 *>(halo) = v;
        }
    }
};

/* How many samples from `at` on lie before a multiple of 16 bytes. */
template <typename T> SMP_DEVICE int strip_head(const T *at)
{
    return (int)(-(unsigned)(uintptr_t)at % 16) / (int)sizeof(T);
}

/* Stores a row of `count` results, ACROSS at most (FULL: all of them), by as many lanes as it has pieces: the pieces of
 * 16 bytes that it fills, then what lies beside those. */
template <int ACROSS, bool FULL, typename T> SMP_DEVICE void strip_flush_piece_row(const T *made, T *out, int count)
{
    constexpr int PIECE = 16 / (int)sizeof(T), LANES = ACROSS / PIECE;
    const int lane = (int)threadIdx.x % LANES, most = strip_head(out), head = FULL || most < count ? most : count;
    const int whole = FULL ? ACROSS - PIECE : (count - head) / PIECE * PIECE, place = head + lane * PIECE;
    smp_together();
    if (place + PIECE <= count)
        *reinterpret_cast<uint4 *>(out + place) = strip_after(made, (unsigned)place * (unsigned)sizeof(T));
#pragma unroll
    for (int i = 0; i < (FULL ? PIECE : 2 * PIECE); i += LANES) { /* side by side: one access of the L2 */
        const int j = lane + i, at = j < head ? j : j + whole;
        smp_together();
        if ((LANES <= PIECE || j < PIECE || !FULL) && (FULL ? head > 0 : at < count))
            out[at] = made[at];
    }
}

/* Stores rows first .. last - 1 of a group of ROWS results, of `count` samples each, ACROSS at most: row q lies at made
 * + (at + q * PITCH) modulo RING, if that is one, at a multiple of 16 bytes, and goes to row q of out, at any address.
 */
template <int ACROSS, int ROWS, int PITCH, int RING, typename T>
SMP_DEVICE void strip_flush_pieces(const T *made, int at, T *out, int64_t stride, int first, int last, int count)
{
    constexpr int LANES = ACROSS * (int)sizeof(T) / 16, TURN = 32 / LANES;
    const int row = (int)threadIdx.x / LANES;
    out = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + row * stride);
    at += row * PITCH;
#pragma unroll 2
    for (int q = row; q < row + ROWS; q += TURN) {
        smp_together();
        if (RING && at >= RING)
            at -= RING;
        if (q >= first && q < last) {
            if (count >= ACROSS)
                strip_flush_piece_row<ACROSS, true>(made + at, out, ACROSS);
            else
                strip_flush_piece_row<ACROSS, false>(made + at, out, count);
        }
        out = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + TURN * stride);
        at += TURN * PITCH;
    }
}

#endif
