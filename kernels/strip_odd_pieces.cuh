/* Strips whose rows begin anywhere, by pieces of 16 bytes: what strip.cuh does at multiples of them.
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

/* The 16 bytes that begin `shift` bytes after `from`, which is aligned to 16; a word more is read. */
SMP_DEVICE uint4 strip_after(const void *from, unsigned shift)
{
    const unsigned *const words = static_cast<const unsigned *>(from) + shift / 4;
    unsigned word[5] = {words[0], words[1], words[2], words[3], words[4]};
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
            for (int i = 0; i < ROWS; i += SIDE_TURN) { /* by all lanes, as for aligned rows */
                smp_copy_async_along(side_to + offset + i * PITCH, aligned_down(side_from));
                base::go_down(side_from, SIDE_TURN);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i += TURN) {
                smp_copy_async_along(to + offset + i * PITCH, aligned_down(from));
                base::go_down(from, TURN);
            }
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
    /* The address at which the strip's part of picture row y begins, of which few bits are asked. */
    SMP_MEMBER unsigned start(int64_t y) const
    {
        return (unsigned)(uintptr_t)in.data + (unsigned)(y - in.y0) * (unsigned)in.stride +
               (unsigned)((x0 - SIDE) * SIZE);
    }
    /* How many bytes behind its place that row begins as it came. */
    SMP_MEMBER unsigned skew(int64_t y) const
    {
        return start(y) % 16;
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
        /* Of this lane's row, if it is one. */
        const unsigned shift = skew(quick ? settled + lane : strip_fold(settled + lane, in.height, edge));
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

/* The same where windows are shifted as they are read, with REACH samples of halo. Rows of quick bands begin
 * with the sector of 32 bytes in which the strip's part and its halo begin, and lie as far into ALIKE bytes of shared
 * memory as of device memory: copied elsewhere they would take up to four times as many wavefronts (docs/banks.md, 8),
 * and twice as many requests of the L2. One copy brings two rows, or one, or its first 32 pieces; another what is left
 * of all rows. Lanes for which no piece is left copy nothing, since copying another's asks the L2 once more (and CUPTI
 * may count them: strip.cuh).
 *
 * Where rows lie end to end, strips at a row's ends are quick too: what they read beside it are other rows, and in its
 * place settle() puts what the border rule says. */
template <typename T, int C, int ACROSS, int REACH, int SIDE, int ROWS, int STAGES, int ALIKE>
struct strip_lines_loader : strip_pieces_loader<T, C, ACROSS, SIDE, ROWS, STAGES> {
    typedef strip_pieces_loader<T, C, ACROSS, SIDE, ROWS, STAGES> base;
    typedef typename base::rows_type rows_type;
    using base::edge, base::from, base::in, base::n, base::PIECE, base::PITCH, base::quick, base::reach, base::settled,
        base::side_from, base::SIZE, base::whole, base::x0;
    static constexpr int SECTOR = 32, LINE = PITCH * SIZE; /* bytes; from a row to the next */
    static constexpr int LEAD = rows_type::LEAD;           /* samples */
    static constexpr int PIECES = ((ACROSS + 2 * REACH) * SIZE + SECTOR - SIZE + 15) / 16; /* at most */
    static constexpr int LANES = PIECES <= 16 ? 16 : 32, TURN = 32 / LANES;
    static constexpr int REST = PIECES > 32 ? 4 : 0; /* lanes for a row's rest */
    static constexpr int MOST = (PIECES < 32 ? PIECES : 32 + REST) * 16;
    static_assert(PIECES <= 32 + REST && REST * ROWS <= 32 && LINE % SECTOR == 0, "two copies bring a row");
    static_assert(ALIKE - SECTOR + MOST <= LINE && (LEAD + SIDE - REACH) * SIZE < ALIKE, "rows lie apart");
    uint8_t *first;      /* where the first row would lie that begins with ALIKE bytes */
    unsigned past, step; /* past % ALIKE: how far behind its place in a stage this lane's next row to load begins; .. */

    SMP_MEMBER strip_lines_loader(rows_type &rows, const smp_view &view, int start, int far, int border)
        : base(rows, view, start, far, border), first(reinterpret_cast<uint8_t *>(rows.first() - LEAD)), past(0),
          step(0)
    {
    }
    /* .. the same of picture row y, the first of those in the stage at `offset`, and from one row to the next. */
    SMP_MEMBER unsigned past_of(int64_t y, int offset) const
    {
        return quick ? base::start(y) + (unsigned)((SIDE - REACH - offset) * SIZE) : (LEAD + SIDE - REACH) * SIZE;
    }
    /* Before the first copy, where results take rows' places and are stored as pieces: what lies behind them is read
     * with them (strip_after), and not used. */
    SMP_MEMBER void clear_behind(rows_type &rows) const
    {
        static_assert(STAGES * ROWS <= 32, "a row a lane");
        const int lane = (int)threadIdx.x;
        if (lane < STAGES * ROWS)
            *reinterpret_cast<uint4 *>(rows.first() + lane * PITCH + SIDE + ACROSS) = make_uint4(0, 0, 0, 0);
    }
    SMP_MEMBER void begin(int64_t top, int rows, int groups)
    {
        const int64_t present = top - in.y0;
        base::begin(top, rows, groups);
        if (x0 - REACH + MOST / SIZE > n && present + groups * ROWS >= in.rows)
            quick = false; /* the last row has fewer behind its part than come */
        if (!whole && edge != SMP_WRAP && in.stride == n * SIZE && n * SIZE >= ACROSS * SIZE + MOST)
            quick = present > 0 && present + groups * ROWS < in.rows && in.stride >> 31 == 0;
        step = quick ? (unsigned)in.stride - LINE : 0;
        if (!quick)
            return;
        const int line = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
        past = past_of(top, 0) + (unsigned)line * step;
        from = smp_in<T>(in, top + line) + (x0 - REACH + lane / 2 * (SECTOR / SIZE));
        if constexpr (REST > 0)
            side_from = smp_in<T>(in, top + (int)threadIdx.x / REST) + (x0 - REACH);
    }
    /* The sector in which a byte lies, or the piece of it that lanes of odd number bring. */
    static SMP_MEMBER const uint8_t *sector(const T *at, unsigned piece)
    {
        return reinterpret_cast<const uint8_t *>(((uintptr_t)at & ~(uintptr_t)(SECTOR - 1)) | piece);
    }
    SMP_MEMBER void load(int offset)
    {
        if (!quick) {
            base::load(offset);
            return;
        }
        const int line = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
        constexpr unsigned SECTORS = ALIKE - SECTOR; /* of `past`: whole ones */
        if constexpr (REST > 0) {
            const int mine = lane / REST, rest = (32 + lane % REST) * 16;
            if (REST * ROWS == 32 || mine < ROWS)
                smp_copy_async_along(first + offset * SIZE + mine * LINE + ((past + (unsigned)mine * step) & SECTORS) +
                                         rest,
                                     sector(side_from, 0) + rest);
            base::go_down(side_from, ROWS);
        }
        const smp_shared place = smp_shared_of(first + lane * 16 + line * LINE + offset * SIZE);
#pragma unroll
        for (int q = 0; q < ROWS; q += TURN) {
            if (PIECES >= LANES || lane < PIECES)
                smp_copy_async_along_to(place + q * LINE + (past & SECTORS), sector(from, (unsigned)lane % 2 * 16));
            base::go_down(from, TURN);
            past += TURN * step;
        }
        past += (unsigned)(ROWS * LINE) - (unsigned)((strip_next<base>(offset) - offset) * SIZE);
    }
    SMP_MEMBER bool unsettled() const
    {
        return quick ? !whole : base::unsettled();
    }
    SMP_MEMBER void settle(int offset)
    {
        if (!quick) {
            base::settle(offset);
            return;
        }
        const int q = (int)threadIdx.x % ROWS;
        const unsigned into = (past_of(settled, offset) + (unsigned)q * step) % ALIKE;
        T *const line = reinterpret_cast<T *>(first + (offset * SIZE + q * LINE) + into) + (REACH - x0); /* sample 0 */
#pragma unroll 1
        for (int j = (int)threadIdx.x / ROWS; j < reach; j += 32 / ROWS) {
            if (x0 == 0)
                settle_sample(line, -1 - j);
            if (n + j < x0 + ACROSS + REACH)
                settle_sample(line, n + j);
        }
        settled += ROWS;
    }
    SMP_MEMBER void settle_sample(T *line, int i) const
    {
        const int source = strip_border(i, n, C ? C : in.channels, edge);
        line[i] = source < 0 ? (T)0 : line[source];
    }
};

/* Stores the pieces of 16 bytes that a row of ACROSS results fills, by as many lanes. No lane is left out, which would
 * take branches: one that has no piece stores the next lane's too. What would be less than zero is a large number, and
 * the lesser of that and what it is to be the latter: an instruction. */
template <int ACROSS, typename T> SMP_DEVICE void strip_flush_row_pieces(const T *made, char *out)
{
    const unsigned lane = threadIdx.x % (ACROSS * (unsigned)sizeof(T) / 16);
    const unsigned before = 16 * lane - (unsigned)(uintptr_t)out % 16, place = min(before, before + 16);
    *reinterpret_cast<uint4 *>(out + place) = strip_after(made, place);
}
/* Stores the samples beside those, a piece in all, by LANES lanes or as many as it has samples; of a row that begins a
 * piece, the first once more. */
template <int ACROSS, int LANES, typename T> SMP_DEVICE void strip_flush_row_ends(const T *made, char *out)
{
    constexpr unsigned SIZE = (unsigned)sizeof(T);
    const unsigned past = (unsigned)(uintptr_t)out % 16;
#pragma unroll
    for (unsigned i = 0; i < 16; i += LANES * SIZE) { /* side by side: one access of the L2 */
        const unsigned j = (threadIdx.x % LANES * SIZE + i) % 16 - past, at = min(j, j + ACROSS * SIZE);
        *reinterpret_cast<T *>(out + at) = *reinterpret_cast<const T *>(reinterpret_cast<const char *>(made) + at);
    }
}

/* Stores a row of `count` results, ACROSS at most, wherever. */
template <int ACROSS, typename T> SMP_DEVICE void strip_flush_part_row(const T *made, T *out, int count)
{
    constexpr int PIECE = 16 / (int)sizeof(T), LANES = ACROSS / PIECE;
    const int lane = (int)threadIdx.x % LANES, most = (int)(-(unsigned)(uintptr_t)out % 16 / sizeof(T));
    const int head = most < count ? most : count, whole = (count - head) / PIECE * PIECE, place = head + lane * PIECE;
    smp_together();
    if (place + PIECE <= count)
        *reinterpret_cast<uint4 *>(out + place) = strip_after(made, (unsigned)place * (unsigned)sizeof(T));
#pragma unroll 1
    for (int i = 0; i < 2 * PIECE; i += LANES) {
        const int j = lane + i, at = j < head ? j : j + whole;
        smp_together();
        if (at < count)
            out[at] = made[at];
    }
}

/* Stores rows first .. last - 1 of a group of ROWS results, of `count` samples each, ACROSS at most: row q lies at made
 * + (at + q * PITCH) modulo RING, if that is one, at a multiple of 16 bytes, and goes to row q of out, at any address.
 * Rows that are missing are not left out either: the next that is there is stored again. Groups that are there as a
 * whole, as most are, go without a question. */
template <int ACROSS, int ROWS, int PITCH, int RING, typename T>
SMP_DEVICE void strip_flush_pieces(const T *made, int at, T *out, int64_t stride, int first, int last, int count)
{
    constexpr int LANES = ACROSS * (int)sizeof(T) / 16, TURN = 32 / LANES;
    /* Ends of rows of 16 bits by as few lanes as have work, of several rows then, after the pieces of all. (Blurs
     * of bytes and sobel lose 1 to 2 % by it.) */
    constexpr int END_LANES = sizeof(T) == 2 ? 8 : LANES, END_TURN = 32 / END_LANES;
    constexpr bool APART = END_TURN > TURN && ROWS % END_TURN == 0;
    const int row = TURN == 1 ? 0 : (int)threadIdx.x / LANES; /* nvcc does not know that there are 32 threads */
    if (!RING && first <= 0 && last >= ROWS && count >= ACROSS) {
        char *to = reinterpret_cast<char *>(out) + row * stride;
        made += at;
#pragma unroll 4
        for (int i = 0; i < ROWS; i += TURN) {
            strip_flush_row_pieces<ACROSS>(made + (row + i) * PITCH, to);
            if (!APART)
                strip_flush_row_ends<ACROSS, LANES>(made + (row + i) * PITCH, to);
            to += TURN * stride;
        }
        if (APART) {
            const int end_row = (int)threadIdx.x / END_LANES;
            to = reinterpret_cast<char *>(out) + end_row * stride;
#pragma unroll 4
            for (int i = 0; i < ROWS; i += END_TURN) {
                strip_flush_row_ends<ACROSS, END_LANES>(made + (end_row + i) * PITCH, to);
                to += END_TURN * stride;
            }
        }
        return;
    }
    first = max(first, 0);
    last = min(last, ROWS) - 1;
    if (first > last)
        return;
    const auto place = [&](int q) { return RING && at + q * PITCH >= RING ? at + q * PITCH - RING : at + q * PITCH; };
    if (count >= ACROSS && stride >> 27 == 0) { /* rows of a group that lie less than 2^31 bytes apart */
#pragma unroll(RING ? 2 : LANES > 8 ? 1 : 4)    /* box keeps more warps so */
        for (int i = 0; i < ROWS; i += TURN) {
            const int q = min(max(row + i, first), last);
            char *const to = reinterpret_cast<char *>(out) + (uint64_t)(unsigned)q * (unsigned)stride;
            strip_flush_row_pieces<ACROSS>(made + place(q), to);
            strip_flush_row_ends<ACROSS, LANES>(made + place(q), to);
        }
    } else {
#pragma unroll 1
        for (int i = 0; i < ROWS; i += TURN) {
            const int q = min(max(row + i, first), last);
            strip_flush_part_row<ACROSS>(
                made + place(q), reinterpret_cast<T *>(reinterpret_cast<char *>(out) + q * stride), min(count, ACROSS));
        }
    }
}

#endif
