/* Strips of a picture that one warp walks down, for stencils that are bound by the number of their instructions.
 *
 * A block is one warp: no block barrier exists. Rows arrive ROWS at a time, STAGES - 1 of such groups ahead, by
 * asynchronous copies of 16 bytes into the warp's own part of shared memory; each row has SIDE samples of halo on both
 * sides. Lanes for which no piece of halo is left copy another's to the row's end, where nobody reads: CUPTI counts a
 * copy under a predicate for lanes too that are switched off, and a branch costs more (docs/why.md). The common
 * group, whole rows inside the picture, costs three instructions a copy. In strips at the picture's left and right end,
 * what lies outside is made in shared memory from what has arrived (apply_border), so that they keep up with the
 * others. The ends of rows that wrap go sample by sample through the border rule. Rows begin at multiples of 16 bytes
 * (smp_rows_aligned); launches over others take the tiled kernels. Shared accesses: pieces lie side by side in a row;
 * only those of the halo, of several rows at a time, meet in banks, since rows lie at multiples of 128 bytes. */
#pragma once

#include "stencil/stencil.cuh"
#include "stencil/warp_strip_grid.h"

/* The largest of n, n/2, n/4 .. that is at most `most`. */
SMP_HOST_DEVICE constexpr int strip_halves(int n, int most)
{
    return n > most ? strip_halves(n / 2, most) : n;
}

/* Rows of a warp in shared memory. ACROSS, SIDE: samples, whole pieces of 16 bytes. What is copied to the ACROSS
 * samples of a row begins at a multiple of 128 bytes, as in device memory where rows do: 32 pieces then take four
 * wavefronts, and elsewhere up to 16 (docs/banks.md, 8). */
template <typename IN, int ACROSS, int SIDE, int ROWS, int STAGES> struct strip_rows {
    static constexpr int PIECE = 16 / (int)sizeof(IN), HALO = 2 * SIDE / PIECE; /* pieces of a row's halo */
    static constexpr int HALO_ROWS = strip_halves(ROWS, 32 / HALO);             /* rows of halo a copy */
    static constexpr int HALO_LANES = 32 / HALO_ROWS; /* lanes for a row's halo: the pieces past it are for nobody */
    static constexpr int LINE = 8 * PIECE, LEAD = (LINE - SIDE % LINE) % LINE;
    static constexpr int PITCH = (ACROSS + HALO_LANES * PIECE + LINE - 1) / LINE * LINE;
    alignas(128) uint4 v[(LEAD + STAGES * ROWS * PITCH) / PIECE];

    SMP_DEVICE_MEMBER IN *first() { return reinterpret_cast<IN *>(v) + LEAD; }
};

/* The same value, of which the compiler does not know that it is a constant or a parameter (pictures have no negative
 * heights): it stays in a register, where loading it again would cost an instruction each time. */
SMP_DEVICE unsigned strip_opaque(const smp_io &io, unsigned v)
{
    return v | (unsigned)(io.in.height >> 63);
}
SMP_DEVICE float strip_opaque(const smp_io &io, float v)
{
    return __uint_as_float(strip_opaque(io, __float_as_uint(v)));
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
    static constexpr int PIECE = rows_type::PIECE, PITCH = rows_type::PITCH, GROUP = ROWS * PITCH,
                         RING = STAGES * GROUP;
    static constexpr int MIDDLE = ACROSS / PIECE, TURN = 32 / MIDDLE; /* pieces of a row, rows a copy of all lanes */
    static constexpr int HALO = rows_type::HALO, HALO_ROWS = rows_type::HALO_ROWS, HALO_LANES = rows_type::HALO_LANES;
    static_assert(MIDDLE <= 32 && ROWS % TURN == 0 && HALO <= 32, "a row is one copy at most");
    const smp_view &in;
    const int edge, reach; /* samples beside a row's end that are read */
    const int n, x0;       /* samples of a row; the strip's first */
    int x, row, halo_x, halo_row;
    bool whole;                 /* every piece is inside */
    bool pieces;                /* pieces come whole, or as much of them as exists; else by samples */
    bool in_halo;               /* this lane brings a piece of halo; else it copies one more, for nobody: load() */
    bool interior;              /* of a band: whole, and its groups of rows all exist */
    const IN *from, *halo_from; /* of the next group, of interior ones */
    IN *to, *halo_to;
    int64_t next; /* of others: the next group's first row, .. */
    int wanted;   /* .. and how many rows from there on are wanted */

    SMP_DEVICE_MEMBER strip_loader(rows_type &rows, const smp_view &view, int start, int far, int border)
        : in(view), edge(border), reach(far), n((int)stencil_samples(view)), x0(start)
    {
        const int lane = (int)threadIdx.x;
        IN *const first = rows.first();
        row = lane / MIDDLE;
        x = x0 + lane % MIDDLE * PIECE;
        to = first + row * PITCH + SIDE + lane % MIDDLE * PIECE;
        const int beside = lane % HALO_LANES, piece = beside % HALO < HALO / 2 ? beside % HALO : beside % HALO + MIDDLE;
        in_halo = beside < HALO;
        halo_row = lane / HALO_LANES;
        halo_x = x0 - SIDE + piece * PIECE;
        halo_to = first + halo_row * PITCH + (in_halo ? piece : beside + MIDDLE) * PIECE;
        whole = x0 >= SIDE && x0 + ACROSS + SIDE <= n;
        pieces = whole || edge != SMP_WRAP;
    }
    /* Before a band: its first row's place in the picture, the rows that it wants, and in how many groups. */
    SMP_DEVICE_MEMBER void begin(int64_t top, int rows, int groups)
    {
        const int64_t present = top - in.y0;
        next = top;
        wanted = rows;
        interior = whole && present >= 0 && present + groups * ROWS <= in.rows && in.stride >> 31 == 0;
        from = smp_in<IN>(in, top + row) + x;
        halo_from = smp_in<IN>(in, top + halo_row) + halo_x;
    }
    /* For interior bands, whose strides have 31 bits. Computed anew, each address takes more instructions.
     */
    SMP_DEVICE_MEMBER void go_down(const IN *&at, unsigned rows) const
    {
        at = reinterpret_cast<const IN *>(reinterpret_cast<const char *>(at) + (uint64_t)(rows * (unsigned)in.stride));
        smp_opaque(at);
    }
    /* Picture row y, or null: zeros do for it. */
    SMP_DEVICE_MEMBER const IN *line_of(int64_t y, bool needed) const
    {
        y = needed ? strip_fold(y, in.height, edge) : -1;
        return y >= in.y0 && y < in.y0 + in.rows ? smp_in<IN>(in, y) : nullptr;
    }
    /* Starts copying the piece of picture row y at sample `at`, or makes zeros where none is; the piece in which a row
     * ends is left to copy_end(). (cp.async can fill with zeros, but CUPTI counts that at random.) */
    SMP_DEVICE_MEMBER void copy(IN *place, int64_t y, int at, bool needed) const
    {
        const IN *const line = line_of(y, needed);
        if (line && at >= 0 && at + PIECE <= n)
            smp_copy_async_along(place, line + at);
        else if (!line || at < 0 || at >= n)
            *reinterpret_cast<uint4 *>(place) = make_uint4(0, 0, 0, 0);
    }
    /* Brings the pieces in which the ROWS rows end, if they end inside the strip's: a row a lane, so that all wait for
     * memory once. rows: where the rows go. */
    SMP_DEVICE_MEMBER void copy_end(IN *rows) const
    {
        const int last = n / PIECE * PIECE, at = last - x0 + SIDE, lane = (int)threadIdx.x;
        const IN *const line = lane < ROWS ? line_of(next + lane, lane < wanted) : nullptr;
        if (line && n > last && at >= 0 && at < ACROSS + 2 * SIDE)
            *reinterpret_cast<uint4 *>(rows + lane * PITCH + at) =
                part(reinterpret_cast<const unsigned char *>(line + last), 0, (n - last) * (int)sizeof(IN));
    }
    /* Bytes first .. last - 1 of 16 bytes, aligned; zeros beside them. */
    static SMP_DEVICE_MEMBER uint4 part(const unsigned char *from, int first, int last)
    {
        unsigned word[4];
#pragma unroll
        for (int w = 0; w < 4; w++) {
            word[w] = 0;
            if (4 * w >= first && 4 * w + 4 <= last)
                word[w] = reinterpret_cast<const unsigned *>(from)[w];
            else
#pragma unroll
                for (int b = 0; b < 4; b++)
                    if (4 * w + b >= first && 4 * w + b < last)
                        word[w] |= (unsigned)from[4 * w + b] << 8 * b;
        }
        return make_uint4(word[0], word[1], word[2], word[3]);
    }
    /* 16 bytes of picture row y, from sample `at` on; needed: else zeros do. Where to copy them from, or null: they are
     * `made` here. */
    SMP_DEVICE_MEMBER const IN *piece(uint4 &made, int64_t y, int at, bool needed) const
    {
        unsigned word[4] = {0, 0, 0, 0};
        y = needed && at < n + reach ? strip_fold(y, in.height, edge) : -1;
        if (y >= in.y0 && y < in.y0 + in.rows) { /* else no row, or one that only taps of weight zero read */
            const IN *line = smp_in<IN>(in, y);
            if (at >= 0 && at + PIECE <= n)
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
                } else if (sizeof(IN) == 2) {
                    word[0] = word[2], word[1] = word[3];
                    word[2] = code[0] | code[1] << 16, word[3] = code[2] | code[3] << 16;
                } else {
                    word[0] = word[1], word[1] = word[2], word[2] = word[3];
                    word[3] = code[0] | code[1] << 8 | code[2] << 16 | code[3] << 24;
                }
            }
        }
        made = make_uint4(word[0], word[1], word[2], word[3]);
        return nullptr;
    }
    /* Returns the start of the stage at `offset` samples. */
    SMP_DEVICE_MEMBER IN *rows_at(int offset) const
    {
        return to - (row * PITCH + SIDE + (int)threadIdx.x % MIDDLE * PIECE) + offset;
    }
    /* Starts bringing the next ROWS rows into the stage at `offset` samples. */
    SMP_DEVICE_MEMBER void load(int offset)
    {
        if (interior) {
#pragma unroll
            for (int i = 0; i < ROWS; i += HALO_ROWS) { /* by all lanes: a copy under a predicate would be miscounted */
                smp_copy_async_along(halo_to + offset + i * PITCH, halo_from);
                go_down(halo_from, HALO_ROWS);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i += TURN) {
                smp_copy_async_along(to + offset + i * PITCH, from);
                go_down(from, TURN);
            }
            return;
        }
        load_edge(offset);
        if (pieces)
            copy_end(rows_at(offset));
        next += ROWS;
        wanted -= ROWS;
    }
    /* load() piece by piece, each by copy() or, where that cannot be, by samples. */
    SMP_DEVICE_MEMBER void load_edge(int offset) const
    {
#pragma unroll 1
        for (int i = 0; i < ROWS + ROWS; i += i < ROWS ? TURN : HALO_ROWS) { /* the second ROWS are the halo's */
            smp_converge();
            const bool middle = i < ROWS;
            const int line = middle ? row + i : halo_row + i - ROWS;
            if (!middle && !in_halo)
                continue;
            IN *const place = (middle ? to + i * PITCH : halo_to + (i - ROWS) * PITCH) + offset;
            if (pieces) {
                if (middle) /* apart, so that a trace can tell which accesses are one instruction */
                    copy(place, next + line, x, line < wanted);
                else
                    copy(place, next + line, halo_x, line < wanted);
                continue;
            }
            uint4 made = make_uint4(0, 0, 0, 0);
            const IN *const source = piece(made, next + line, middle ? x : halo_x, line < wanted);
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
    }
    /* Whether the rows that came need apply_border() before they are read, and a warp barrier after it. */
    SMP_DEVICE_MEMBER bool wants_border() const
    {
        return !interior && pieces && !whole;
    }
    /* Makes what the border rule says beside the ends of the ROWS rows at `offset`; they have arrived. */
    SMP_DEVICE_MEMBER void apply_border(int offset) const
    {
        IN *const rows = rows_at(offset);
#pragma unroll 1
        for (int j = (int)threadIdx.x; j < reach; j += 32) {
            if (x0 == 0)
                border_sample(rows, -1 - j);
            border_sample(rows, n + j);
        }
    }
    /* Sample i of each row, unless it stays zero, or it or what stands for it lies beyond the strip. */
    SMP_DEVICE_MEMBER void border_sample(IN *rows, int i) const
    {
        const int source = strip_border(i, n, C ? C : in.channels, edge), shift = SIDE - x0;
        if (source >= 0 && source + shift >= 0 && i + shift < ACROSS + 2 * SIDE)
#pragma unroll
            for (int q = 0; q < ROWS; q++)
                rows[q * PITCH + i + shift] = rows[q * PITCH + source + shift];
    }
};

/* The stage behind that at `stage`. */
template <typename LOADER> SMP_DEVICE int strip_next(int stage)
{
    return stage == LOADER::RING - LOADER::GROUP ? 0 : stage + LOADER::GROUP;
}

/* Turn k of a walk through groups: begins to load the one that is AHEAD further, into the stage at `next`, then sees
 * to it that group k, in the stage at `stage`, is there. False: there is none yet, for the first turns, from -AHEAD on,
 * only load. */
template <int AHEAD, typename LOADER>
SMP_DEVICE bool strip_turn(LOADER &loader, int k, int groups, int stage, int &next)
{
    if (k >= 0)
        smp_copy_wait<AHEAD - 1>();
    __syncwarp();
    if (k + AHEAD < groups)
        loader.load(next);
    smp_copy_commit();
    next = strip_next<LOADER>(next);
    if (k < 0)
        return false;
    if (loader.wants_border()) {
        loader.apply_border(stage);
        __syncwarp();
    }
    return true;
}
