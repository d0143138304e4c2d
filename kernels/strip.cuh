/* Strips of a picture that one warp marches down, for stencils that are bound by the number of their instructions.
 *
 * A block is one warp: no block barrier exists. Rows arrive ROWS at a time, STAGES - 1 of such groups ahead, by
 * asynchronous copies of 16 bytes into the warp's own part of shared memory; each row has SIDE samples of halo on both
 * sides. Lanes for which no piece of halo is left copy another's to the row's end, where nobody reads: CUPTI counts a
 * copy under a predicate for lanes too that are switched off, and a branch costs more (docs/gpu-log.md). The common
 * group, whole rows inside the picture, costs three instructions a copy. In strips at the picture's left and right end,
 * what lies outside is made in shared memory from what has arrived (settle), so that they keep up with the others. Rows
 * that are not aligned to 16 bytes, and the ends of rows that wrap, go sample by sample through the border rule. Shared
 * accesses: pieces lie side by side in a row, and the pieces of halo of a group fall, by the row's pitch, into
 * different banks too. */
#ifndef SMP_KERNELS_STRIP_CUH
#define SMP_KERNELS_STRIP_CUH

#include "stencil.cuh"

/* The largest of n, n/2, n/4 .. that is at most `most`. */
SMP_FN constexpr int strip_halves(int n, int most)
{
    return n > most ? strip_halves(n / 2, most) : n;
}

/* Where a warp keeps its rows. ACROSS, SIDE: samples, whole pieces of 16 bytes. */
template <typename IN, int ACROSS, int SIDE, int ROWS, int STAGES> struct strip_rows {
    static constexpr int PIECE = 16 / (int)sizeof(IN), HALO = 2 * SIDE / PIECE; /* pieces of a row's halo */
    static constexpr int SIDE_TURN = strip_halves(ROWS, 32 / HALO);             /* rows of halo a copy */
    static constexpr int BESIDE = 32 / SIDE_TURN; /* lanes for a row's halo: the pieces past it are for nobody */
    static constexpr int PITCH = ACROSS + BESIDE * PIECE, GROUP = ROWS * PITCH;
    uint4 v[STAGES * GROUP / PIECE];
};

/* The same value, of which the compiler does not know that it is a constant or a parameter (pictures have no negative
 * heights): it stays in a register, where loading it again would cost an instruction each time. */
SMP_DEVICE unsigned strip_kept(const smp_io &io, unsigned v)
{
    return v | (unsigned)(io.in.height >> 63);
}
SMP_DEVICE float strip_kept(const smp_io &io, float v)
{
    return __uint_as_float(strip_kept(io, __float_as_uint(v)));
}

/* smp_border() for places a few steps outside: it folds, and does not divide, which is slow here. */
template <typename INT> SMP_DEVICE INT strip_fold(INT i, INT n, int edge)
{
    while (i < 0 || i >= n) {
        if (edge == SMP_CLAMP || (edge == SMP_MIRROR && n == 1))
            return i < 0 ? 0 : n - 1;
        if (edge == SMP_REFLECT)
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
        else if (edge == SMP_MIRROR)
            i = i < 0 ? -i : 2 * n - 2 - i;
        else if (edge == SMP_WRAP)
            i = i < 0 ? i + n : i - n;
        else
            return -1;
    }
    return i;
}

/* The sample that stands for sample i of a row of n, or -1: zero. */
SMP_DEVICE int strip_border(int i, int n, int channels, int edge)
{
    if (i >= 0 && i < n)
        return i;
    const int x = i >= 0 ? i / channels : -((channels - 1 - i) / channels), from = strip_fold(x, n / channels, edge);
    return from < 0 ? -1 : from * channels + (i - x * channels);
}

/* C: channels, or 0 when they are not constant. Border values are zero. */
template <typename IN, int C, int ACROSS, int SIDE, int ROWS, int STAGES> struct strip_loader {
    typedef strip_rows<IN, ACROSS, SIDE, ROWS, STAGES> rows_type;
    static_assert(sizeof(IN) == 1 || sizeof(IN) == 4, "bytes or floats");
    static constexpr int PIECE = rows_type::PIECE, PITCH = rows_type::PITCH, GROUP = rows_type::GROUP;
    static constexpr int MIDDLE = ACROSS / PIECE, TURN = 32 / MIDDLE; /* pieces of a row, rows a copy of all lanes */
    static constexpr int HALO = rows_type::HALO, SIDE_TURN = rows_type::SIDE_TURN, BESIDE = rows_type::BESIDE;
    static_assert(MIDDLE <= 32 && ROWS % TURN == 0 && HALO <= 32, "a row is one copy at most");
    const smp_view &in;
    const int edge, reach; /* samples beside a row's end that are read */
    const int n, x0;       /* samples of a row; the strip's first */
    int x, row, side_x, side_row;
    bool whole;                 /* every piece is aligned and inside */
    bool pieces;                /* pieces come whole, or as much of them as exists; else by samples */
    bool side;                  /* this lane brings a piece of halo; else it copies one more, for nobody: load() */
    bool quick;                 /* of a band: whole, and its groups of rows all exist */
    const IN *from, *side_from; /* of the next group, of quick ones */
    IN *to, *side_to;
    int64_t next; /* of others: the next group's first row, .. */
    int wanted;   /* .. and how many rows from there on are wanted */

    SMP_MEMBER strip_loader(rows_type &rows, const smp_view &view, int start, int far, int border)
        : in(view), edge(border), reach(far), n((int)stencil_samples(view)), x0(start)
    {
        const int lane = (int)threadIdx.x;
        IN *const first = reinterpret_cast<IN *>(rows.v);
        row = lane / MIDDLE;
        x = x0 + lane % MIDDLE * PIECE;
        to = first + row * PITCH + SIDE + lane % MIDDLE * PIECE;
        const int beside = lane % BESIDE, piece = beside % HALO < HALO / 2 ? beside % HALO : beside % HALO + MIDDLE;
        side = beside < HALO;
        side_row = lane / BESIDE;
        side_x = x0 - SIDE + piece * PIECE;
        side_to = first + side_row * PITCH + (side ? piece : beside + MIDDLE) * PIECE;
        const bool aligned = ((uintptr_t)in.data | (uintptr_t)in.stride) % 16 == 0;
        whole = aligned && x0 >= SIDE && x0 + ACROSS + SIDE <= n;
        pieces = aligned && (whole || edge != SMP_WRAP);
    }
    /* Before a band: its first row's place in the picture, the rows that it wants, and in how many groups. */
    SMP_MEMBER void begin(int64_t top, int rows, int groups)
    {
        const int64_t present = top - in.y0;
        next = top;
        wanted = rows;
        quick = whole && present >= 0 && present + groups * ROWS <= in.rows && in.stride >> 31 == 0;
        from = smp_in<IN>(in, top + row) + x;
        side_from = smp_in<IN>(in, top + side_row) + side_x;
    }
    SMP_MEMBER const IN *down(const IN *at, unsigned rows) const /* of quick bands: strides have 31 bits */
    {
        return reinterpret_cast<const IN *>(reinterpret_cast<const char *>(at) + (uint64_t)rows * (unsigned)in.stride);
    }
    /* Picture row y, or null: zeros do for it. */
    SMP_MEMBER const IN *line_of(int64_t y, bool needed) const
    {
        y = needed ? strip_fold(y, in.height, edge) : -1;
        return y >= in.y0 && y < in.y0 + in.rows ? smp_in<IN>(in, y) : nullptr;
    }
    /* Starts copying the piece of picture row y at sample `at`, or makes zeros where none is; the piece in which a row
     * ends is left to copy_end(). (cp.async can fill with zeros, but CUPTI counts that at random.) */
    SMP_MEMBER void copy(IN *place, int64_t y, int at, bool needed) const
    {
        const IN *const line = line_of(y, needed);
        if (line && at >= 0 && at + PIECE <= n)
            smp_copy_async_along(place, line + at);
        else if (!line || at < 0 || at >= n)
            *reinterpret_cast<uint4 *>(place) = make_uint4(0, 0, 0, 0);
    }
    /* Brings the pieces in which the ROWS rows end, if they end inside the strip's: a row a lane, so that all wait for
     * memory once. rows: where the rows go. */
    SMP_MEMBER void copy_end(IN *rows) const
    {
        const int last = n / PIECE * PIECE, at = last - x0 + SIDE, lane = (int)threadIdx.x;
        const IN *const line = lane < ROWS ? line_of(next + lane, lane < wanted) : nullptr;
        if (line && n > last && at >= 0 && at < ACROSS + 2 * SIDE)
            *reinterpret_cast<uint4 *>(rows + lane * PITCH + at) =
                part(reinterpret_cast<const unsigned char *>(line + last), (n - last) * (int)sizeof(IN));
    }
    /* The first `bytes` of 16 bytes, aligned; zeros follow them. */
    static SMP_MEMBER uint4 part(const unsigned char *from, int bytes)
    {
        unsigned word[4];
#pragma unroll
        for (int w = 0; w < 4; w++) {
            word[w] = 0;
            if (4 * w + 4 <= bytes)
                word[w] = reinterpret_cast<const unsigned *>(from)[w];
            else
#pragma unroll
                for (int b = 0; b < 3; b++)
                    if (4 * w + b < bytes)
                        word[w] |= (unsigned)from[4 * w + b] << 8 * b;
        }
        return make_uint4(word[0], word[1], word[2], word[3]);
    }
    /* 16 bytes of picture row y, from sample `at` on; needed: else zeros do. Where to copy them from, or null: they are
     * `made` here. */
    SMP_MEMBER const IN *piece(uint4 &made, int64_t y, int at, bool needed) const
    {
        unsigned word[4] = {0, 0, 0, 0};
        y = needed && at < n + reach ? strip_fold(y, in.height, edge) : -1;
        if (y >= in.y0 && y < in.y0 + in.rows) { /* else no row, or one that only taps of weight zero read */
            const IN *line = smp_in<IN>(in, y);
            if ((uintptr_t)line % 16 == 0 && at >= 0 && at + PIECE <= n)
                return line + at;
#pragma unroll 1
            for (int q = 0; q < PIECE; q += 4) { /* four loads under way */
                int place[4];
                unsigned code[4];
#pragma unroll
                for (int k = 0; k < 4; k++)
                    place[k] = strip_border(at + q + k, n, C ? C : in.channels, edge);
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const IN v = line[place[k] < 0 ? 0 : place[k]];
                    if (sizeof(IN) == 4)
                        code[k] = __float_as_uint((float)v);
                    else
                        code[k] = (unsigned)v;
                    code[k] = place[k] < 0 ? 0 : code[k];
                }
                if (sizeof(IN) == 4) {
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        word[k] = code[k];
                } else {
                    word[0] = word[1], word[1] = word[2], word[2] = word[3];
                    word[3] = code[0] | code[1] << 8 | code[2] << 16 | code[3] << 24;
                }
            }
        }
        made = make_uint4(word[0], word[1], word[2], word[3]);
        return nullptr;
    }
    /* Starts bringing the next ROWS rows into the stage at `offset` samples. */
    SMP_MEMBER void load(int offset)
    {
        if (quick) {
#pragma unroll
            for (int i = 0; i < ROWS; i += SIDE_TURN) /* by all lanes: a copy under a predicate would be miscounted */
                smp_copy_async_along(side_to + offset + i * PITCH, down(side_from, i));
#pragma unroll
            for (int i = 0; i < ROWS / TURN; i++)
                smp_copy_async_along(to + offset + i * TURN * PITCH, down(from, i * TURN));
            from = down(from, ROWS);
            side_from = down(side_from, ROWS);
            return;
        }
#pragma unroll 1
        for (int i = 0; i < ROWS + ROWS; i += i < ROWS ? TURN : SIDE_TURN) { /* the second ROWS are the halo's */
            smp_together();
            const bool middle = i < ROWS;
            const int line = middle ? row + i : side_row + i - ROWS;
            if (!middle && !side)
                continue;
            IN *const place = (middle ? to + i * PITCH : side_to + (i - ROWS) * PITCH) + offset;
            if (pieces) {
                if (middle) /* apart, so that a trace can tell which accesses are one instruction */
                    copy(place, next + line, x, line < wanted);
                else
                    copy(place, next + line, side_x, line < wanted);
                continue;
            }
            uint4 made = make_uint4(0, 0, 0, 0);
            const IN *const source = piece(made, next + line, middle ? x : side_x, line < wanted);
            if (middle) {
                if (source)
                    smp_copy_async<16>(place, source);
                else
                    *reinterpret_cast<uint4 *>(place) = made;
            } else {
                if (source)
                    smp_copy_async<16>(place, source);
                else
                    *reinterpret_cast<uint4 *>(place) = made;
            }
        }
        if (pieces)
            copy_end(to - (row * PITCH + SIDE + (int)threadIdx.x % MIDDLE * PIECE) + offset);
        next += ROWS;
        wanted -= ROWS;
    }
    /* Whether the rows that came need settle() before they are read, and a warp barrier after it. */
    SMP_MEMBER bool unsettled() const
    {
        return pieces && !whole;
    }
    /* Makes what the border rule says beside the ends of the ROWS rows at `offset`; they have arrived. */
    SMP_MEMBER void settle(IN *rows) const
    {
#pragma unroll 1
        for (int j = (int)threadIdx.x; j < reach; j += 32) {
            if (x0 == 0)
                settle_sample(rows, -1 - j);
            settle_sample(rows, n + j);
        }
    }
    /* Sample i of each row, unless it stays zero, or it or what stands for it lies beyond the strip. */
    SMP_MEMBER void settle_sample(IN *rows, int i) const
    {
        const int source = strip_border(i, n, C ? C : in.channels, edge), shift = SIDE - x0;
        if (source >= 0 && source + shift >= 0 && i + shift < ACROSS + 2 * SIDE)
#pragma unroll
            for (int q = 0; q < ROWS; q++)
                rows[q * PITCH + i + shift] = rows[q * PITCH + source + shift];
    }
};

/* ---------------------------------------------------------------------------------------------- marching */

/* Words FIRST .. LAST of a row of packs, those of pack i. What is not wanted is not loaded, which nvcc would see to
 * anyhow: said here, traces count the accesses that a GPU makes. */
template <int FIRST, int LAST, int N>
SMP_DEVICE void strip_words(unsigned *words, int i, const smp_pack<unsigned, N> *from)
{
    typedef smp_pack<unsigned, 2> half;
    const int first = FIRST > i * N ? FIRST - i * N : 0, last = LAST < i * N + N - 1 ? LAST - i * N : N - 1;
    unsigned *to = words + i * N;
    if (first == last) {
        to[first] = reinterpret_cast<const unsigned *>(from)[first];
    } else if (N == 4 && (first >= 2 || last < 2)) {
        const half h = reinterpret_cast<const half *>(from)[first / 2];
        to[first / 2 * 2] = h.v[0], to[first / 2 * 2 + 1] = h.v[1];
    } else {
        const smp_pack<unsigned, N> p = *from;
#pragma unroll
        for (int j = 0; j < N; j++)
            to[j] = p.v[j];
    }
}

/* A lane makes 16 bytes of every output row, V samples, from PACKS such packs on either side beside its own: of these
 * words FIRST .. LAST. LATE: how many rows ago a row came that is wanted again, or 0. */
typedef smp_pack<unsigned, 4> strip_pack;
template <typename T, int CHANNELS, int SIDE_PACKS, int GROUP_ROWS, int LATE_ROWS = 0, int FIRST_WORD = 0,
          int LAST_WORD = 8 * SIDE_PACKS + 3, int UNROLLED = 2>
struct strip_walk {
    typedef T sample;
    static constexpr int C = CHANNELS, V = 16 / (int)sizeof(T), PACKS = SIDE_PACKS, ROWS = GROUP_ROWS;
    static constexpr int LATE = LATE_ROWS, FIRST = FIRST_WORD, LAST = LAST_WORD;
    static constexpr int UNROLL = UNROLLED;    /* rows, of short stencils */
    static constexpr int AHEAD = LATE ? 1 : 2; /* groups under way: where many rows stay, more leave fewer warps */
    static constexpr int STAGES = 1 + AHEAD + (LATE + ROWS - 1) / ROWS;
    typedef strip_loader<T, C, 32 * V, PACKS * V, ROWS, STAGES> loader_type;
    typedef typename loader_type::rows_type rows_type;
};
template <typename WALK> struct strip_window {
    unsigned words[4 * (2 * WALK::PACKS + 1)];
    SMP_MEMBER strip_window(const typename WALK::sample *from)
    {
#pragma unroll
        for (int i = 0; i < 2 * WALK::PACKS + 1; i++)
            if (4 * i + 3 >= WALK::FIRST && 4 * i <= WALK::LAST)
                strip_words<WALK::FIRST, WALK::LAST>(words, i,
                                                     reinterpret_cast<const strip_pack *>(from + i * WALK::V));
    }
};

/* What a row makes of its window: the output row that it completes, if it completes one. With LATE, the row that leaves
 * comes too, once there is one. */
template <typename WALK, typename ROW>
SMP_DEVICE void strip_take(strip_pack &result, ROW &row, const strip_window<WALK> &window,
                           const typename WALK::sample *late, int done, int made, int turn)
{
    if constexpr (WALK::LATE > 0) {
        if (done > 0) {
            const strip_window<WALK> gone(late);
            row.change(window.words, gone.words);
        } else {
            row.add(window.words);
        }
        if ((unsigned)done < (unsigned)made)
            result = row();
    } else {
        (void)late;
        row.add(window.words, turn);
        if ((unsigned)done < (unsigned)made)
            result = row();
    }
}

/* Counts and stores a lane's results: the first `take` of the V samples, or all as one when it is V + 1. */
template <typename ROW, typename T> SMP_DEVICE void strip_store(ROW &row, T *out, const strip_pack &result, int take)
{
    constexpr int V = 16 / (int)sizeof(T);
    if (take > V) {
        row.count(V);
        *reinterpret_cast<strip_pack *>(out) = result;
    } else {
        row.count(take);
#pragma unroll
        for (int i = 0; i < V; i++)
            if (i < take)
                out[i] = ROW::sample(result, i);
    }
}

/* Marches down the block's strip, band by band, for stencils of TALL rows, `up` of them above; beside: samples that
 * they reach to a side. After row.begin(), row.add(words) gets the window of each row in turn, and row() says what the
 * output row that it completes is, if one is; row.count(n) is called when that is stored, n samples of it;
 * ROW::sample(pack, i) is one of them. A walk with LATE calls row.change(words, gone) in place of add() where a row
 * came LATE = TALL rows ago. */
template <typename WALK, int TALL, typename ROW>
SMP_DEVICE void strip_march(const smp_io &io, int edge, int up, int beside, typename WALK::rows_type &s, ROW &row)
{
    typedef typename WALK::sample T;
    typedef typename WALK::loader_type loader_type;
    constexpr int V = WALK::V, ROWS = WALK::ROWS, STAGES = WALK::STAGES, AHEAD = WALK::AHEAD;
    const int lane = (int)threadIdx.x, x0 = (int)blockIdx.x * 32 * V, x = x0 + V * lane;
    const int n = (int)stencil_samples(io.out), band = smp_band_of(io.out.rows, (int)gridDim.y);
    loader_type loader(s, io.in, x0, beside, edge);
    const bool aligned = ((uintptr_t)io.out.data | (uintptr_t)io.out.stride) % 16 == 0;
    int take = x >= n ? 0 : x + V > n ? n - x : V + (int)aligned;
    take = __shfl_sync(0xffffffffu, take, lane); /* else nvcc works it out for every row */
    const T *const window = reinterpret_cast<const T *>(s.v) + V * lane;
    const int64_t top = io.out.y0 + (int64_t)blockIdx.y * band, end = io.out.y0 + io.out.rows;
    if (top < end) {
        const int made = end - top < band ? (int)(end - top) : band, need = made + TALL - 1;
        const int groups = (need + ROWS - 1) / ROWS;
        int stage = 0, next = 0, done = 1 - TALL; /* the output row that is complete */
        int late = STAGES * loader_type::GROUP - WALK::LATE * loader_type::PITCH;
        T *out = reinterpret_cast<T *>(static_cast<char *>(smp_row(&io.out, top)) - (TALL - 1) * io.out.stride) + x;
        row.begin();
        loader.begin(top - up, need, groups);
#pragma unroll 1
        for (int k = -AHEAD; k < groups; k++) { /* the first turns only load ahead */
            if (k >= 0)
                smp_copy_wait<AHEAD - 1>();
            __syncwarp();
            const int ahead = k + AHEAD;
            if (ahead < groups)
                loader.load(next);
            smp_copy_commit();
            next = next == (STAGES - 1) * loader_type::GROUP ? 0 : next + loader_type::GROUP;
            if (k < 0)
                continue;
            if (!loader.quick && loader.unsettled()) {
                loader.settle(reinterpret_cast<T *>(s.v) + stage);
                __syncwarp();
            }
#pragma unroll(TALL > 3 ? 1 : WALK::UNROLL)
            for (int q = 0; q < ROWS; q++) {
                const strip_window<WALK> words(window + stage + q * loader_type::PITCH);
                strip_pack result;
                strip_take<WALK>(result, row, words, window + late, done, made, q & 1);
                if ((unsigned)done < (unsigned)made) {
                    strip_store(row, out, result, take);
                }
                out = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + io.out.stride);
                done++;
                if (WALK::LATE > 0) {
                    late += loader_type::PITCH;
                    late = late == STAGES * loader_type::GROUP ? 0 : late;
                }
            }
            stage = stage == (STAGES - 1) * loader_type::GROUP ? 0 : stage + loader_type::GROUP;
        }
    }
}

#endif
