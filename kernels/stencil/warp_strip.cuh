/* Loads the rows of a strip for kernels in which one warp walks down a strip of the picture: stencils whose limit is
 * the number of instructions.
 *
 * A block is one warp, so no block barrier exists. Asynchronous copies of 16-byte vectors bring ROWS rows at a time
 * into shared memory, STAGES - 1 groups ahead. Each row has HALO samples of halo on both sides.
 *   - Lanes without halo data copy a dummy vector past the row's end, so that the copy needs no predicate: CUPTI counts
 *     a predicated copy for inactive lanes too, and a branch costs more (docs/why.md).
 *   - Interior groups, whose rows lie inside the picture, cost three instructions a copy.
 *   - At the picture's left and right end fill_halo() makes the samples outside from the samples that arrived. Rows
 *     with a wrapping border are read sample by sample there.
 *   - Rows are aligned and own their padding (smp_rows_aligned), so that the vector in which a row ends is a vector
 *     like any other. Launches over other rows take the tiled kernels.
 * Vectors of a row are adjacent in shared memory and do not conflict. Halo vectors of several rows in one copy do,
 * since rows start at multiples of 128 bytes. */
#ifndef SMP_KERNELS_STENCIL_WARP_STRIP_CUH
#define SMP_KERNELS_STENCIL_WARP_STRIP_CUH

#include "stencil/stencil.cuh"
#include "stencil/warp_strip_grid.h"

/* The largest of n, n/2, n/4 .. that is at most `most`. */
SMP_HOST_DEVICE constexpr int strip_halves(int n, int most)
{
    return n > most ? strip_halves(n / 2, most) : n;
}

/* A warp's rows in shared memory. ACROSS, HALO: samples, whole 16-byte vectors. The first of the ACROSS samples of a
 * row lies at a multiple of 128 bytes, as in device memory: a copy of 32 vectors then takes 4 wavefronts instead of up
 * to 16 (docs/banks.md, 8). */
template <typename IN, int ACROSS, int HALO, int ROWS, int STAGES> struct strip_rows {
    static constexpr int VEC = 16 / (int)sizeof(IN);                         /* samples of a vector */
    static constexpr int HALO_VECS = 2 * HALO / VEC;                         /* of a row, both sides */
    static constexpr int HALO_ROWS = strip_halves(ROWS, 32 / HALO_VECS);     /* whose halo one copy brings */
    static constexpr int HALO_LANES = 32 / HALO_ROWS;                        /* of a row; some copy a dummy vector */
    static constexpr int LINE = 8 * VEC, LEAD = (LINE - HALO % LINE) % LINE; /* LINE: samples of 128 bytes */
    static constexpr int PITCH = (ACROSS + HALO_LANES * VEC + LINE - 1) / LINE * LINE;
    alignas(128) uint4 v[(LEAD + STAGES * ROWS * PITCH) / VEC];

    SMP_DEVICE_MEMBER IN *first() { return reinterpret_cast<IN *>(v) + LEAD; }
};

/* The same value, which the compiler cannot take for a constant or parameter (no height is negative): it stays in a
 * register instead of being loaded for each use. */
SMP_DEVICE unsigned strip_opaque(const smp_io &io, unsigned v)
{
    return v | (unsigned)(io.in.height >> 63);
}
SMP_DEVICE float strip_opaque(const smp_io &io, float v)
{
    return __uint_as_float(strip_opaque(io, __float_as_uint(v)));
}

/* smp_border() for indices a few steps outside, without its slow division. */
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

/* The index of the sample that stands for sample i of a row of n; -1: zero. */
SMP_DEVICE int strip_border(int i, int n, int channels, int edge)
{
    if (i >= 0 && i < n)
        return i;
    const int x = i >= 0 ? i / channels : -((channels - 1 - i) / channels), from = strip_fold(x, n / channels, edge);
    return from < 0 ? -1 : from * channels + (i - x * channels);
}

/* C: channels, or 0 when they are not constant. Border values are zero. */
template <typename IN, int C, int ACROSS, int HALO, int ROWS, int STAGES> struct strip_loader {
    typedef strip_rows<IN, ACROSS, HALO, ROWS, STAGES> rows_type;
    static constexpr int VEC = rows_type::VEC, PITCH = rows_type::PITCH, GROUP = ROWS * PITCH, RING = STAGES * GROUP;
    static constexpr int BODY_VECS = ACROSS / VEC, BODY_ROWS = 32 / BODY_VECS; /* of a row; rows that one copy brings */
    static constexpr int HALO_VECS = rows_type::HALO_VECS, HALO_ROWS = rows_type::HALO_ROWS,
                         HALO_LANES = rows_type::HALO_LANES;
    static_assert(BODY_VECS <= 32 && ROWS % BODY_ROWS == 0 && HALO_VECS <= 32, "a row is one copy at most");
    const smp_view &in;
    const int edge, reach; /* reach: samples that the stencil reads beyond a row's end */
    const int n, x0;       /* samples of a row; the strip's first */
    int x, row, halo_x, halo_row;
    bool inside;                /* the strip with its halo lies between the row's ends */
    bool by_vectors;            /* vectors are copied whole; else sample by sample where they cross a row's end */
    bool has_halo;              /* this lane copies a halo vector; else a dummy */
    bool interior;              /* of a band: inside, and all rows of its groups exist */
    const IN *from, *halo_from; /* the next group of an interior band */
    IN *to, *halo_to;
    int64_t next; /* other bands: the next group's first row, .. */
    int needed;   /* .. and how many rows from there on the band reads */

    SMP_DEVICE_MEMBER strip_loader(rows_type &rows, const smp_view &view, int start, int far, int border)
        : in(view), edge(border), reach(far), n((int)stencil_samples(view)), x0(start)
    {
        const int lane = (int)threadIdx.x;
        IN *const first = rows.first();
        row = lane / BODY_VECS;
        x = x0 + lane % BODY_VECS * VEC;
        to = first + row * PITCH + HALO + lane % BODY_VECS * VEC;
        const int place = lane % HALO_LANES, vec = place % HALO_VECS,
                  at = vec < HALO_VECS / 2 ? vec : vec + BODY_VECS; /* the vector's number in the row */
        has_halo = place < HALO_VECS;
        halo_row = lane / HALO_LANES;
        halo_x = x0 - HALO + at * VEC;
        halo_to = first + halo_row * PITCH + (has_halo ? at : place + BODY_VECS) * VEC;
        inside = x0 >= HALO && x0 + ACROSS + HALO <= n;
        by_vectors = inside || edge != SMP_WRAP;
    }
    /* Before a band: its first row in the picture, the rows that it reads, and their number of groups. */
    SMP_DEVICE_MEMBER void begin(int64_t top, int rows, int groups)
    {
        const int64_t present = top - in.y0;
        next = top;
        needed = rows;
        interior = inside && present >= 0 && present + groups * ROWS <= in.rows && in.stride >> 31 == 0;
        from = smp_in<IN>(in, top + row) + x;
        halo_from = smp_in<IN>(in, top + halo_row) + halo_x;
    }
    /* Interior bands only (stride < 2^31). Advancing a pointer row by row takes fewer instructions than computing each
     * row's address. */
    SMP_DEVICE_MEMBER void advance(const IN *&at, unsigned rows) const
    {
        at = reinterpret_cast<const IN *>(reinterpret_cast<const char *>(at) + (uint64_t)(rows * (unsigned)in.stride));
        smp_opaque(at);
    }
    /* Picture row y, or null: a row of zeros. Rows that only zero weights read may be absent. */
    SMP_DEVICE_MEMBER const IN *row_of(int64_t y, bool wanted) const
    {
        y = wanted ? strip_fold(y, in.height, edge) : -1;
        return y >= in.y0 && y < in.y0 + in.rows ? smp_in<IN>(in, y) : nullptr;
    }
    /* Starts the copy of the vector at sample `at` of picture row y, or stores zeros where there is none. (cp.async can
     * fill with zeros, but CUPTI's count of that varies.) */
    SMP_DEVICE_MEMBER void copy(IN *place, int64_t y, int at, bool wanted) const
    {
        const IN *const line = row_of(y, wanted);
        if (line && at >= 0 && at < n)
            smp_copy_async_along(place, line + at);
        else
            *reinterpret_cast<uint4 *>(place) = make_uint4(0, 0, 0, 0);
    }
    /* The vector at sample `at` of picture row y under a wrapping border: where to copy it from, or null when it
     * crosses a row's end and is `made` here. */
    SMP_DEVICE_MEMBER const IN *wrapped(uint4 &made, int64_t y, int at, bool wanted) const
    {
        unsigned word[4] = {0, 0, 0, 0};
        const IN *const line = row_of(y, wanted && at < n + reach);
        if (line) {
            if (at >= 0 && at + VEC <= n)
                return line + at;
#pragma unroll 1
            for (int q = 0; q < VEC; q += 4) { /* four loads in flight */
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
                } else if (sizeof(IN) == 2) { /* shifted in, so that no register is indexed */
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
    /* The first row of the stage at `offset` samples. */
    SMP_DEVICE_MEMBER IN *rows_at(int offset) const
    {
        return to - (row * PITCH + HALO + (int)threadIdx.x % BODY_VECS * VEC) + offset;
    }
    /* Starts the copy of the next ROWS rows into the stage at `offset` samples. */
    SMP_DEVICE_MEMBER void load(int offset)
    {
        if (interior) {
#pragma unroll
            for (int i = 0; i < ROWS; i += HALO_ROWS) {
                smp_copy_async_along(halo_to + offset + i * PITCH, halo_from);
                advance(halo_from, HALO_ROWS);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i += BODY_ROWS) {
                smp_copy_async_along(to + offset + i * PITCH, from);
                advance(from, BODY_ROWS);
            }
            return;
        }
        load_edge(offset);
        next += ROWS;
        needed -= ROWS;
    }
    /* load() at the picture's ends. */
    SMP_DEVICE_MEMBER void load_edge(int offset) const
    {
#pragma unroll 1
        for (int i = 0; i < ROWS + ROWS; i += i < ROWS ? BODY_ROWS : HALO_ROWS) { /* the rows, then their halo */
            smp_converge();
            const bool body = i < ROWS;
            const int line = body ? row + i : halo_row + i - ROWS;
            if (!body && !has_halo)
                continue;
            IN *const place = (body ? to + i * PITCH : halo_to + (i - ROWS) * PITCH) + offset;
            if (by_vectors) {
                if (body) /* separate statements: a trace takes each for one instruction */
                    copy(place, next + line, x, line < needed);
                else
                    copy(place, next + line, halo_x, line < needed);
                continue;
            }
            uint4 made = make_uint4(0, 0, 0, 0);
            const IN *const source = wrapped(made, next + line, body ? x : halo_x, line < needed);
            if (body) {
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
    /* Whether rows that arrived need fill_halo() and a warp barrier before they are read. */
    SMP_DEVICE_MEMBER bool needs_halo() const
    {
        return !interior && by_vectors && !inside;
    }
    /* Fills the halo of the ROWS rows at `offset` by the border mode. Their copies must be complete. */
    SMP_DEVICE_MEMBER void fill_halo(int offset) const
    {
        IN *const rows = rows_at(offset);
#pragma unroll 1
        for (int j = (int)threadIdx.x; j < reach; j += 32) {
            if (x0 == 0)
                fill_sample(rows, -1 - j);
            fill_sample(rows, n + j);
        }
    }
    /* Sample i of each row, unless it or the sample that stands for it lies outside the strip. */
    SMP_DEVICE_MEMBER void fill_sample(IN *rows, int i) const
    {
        const int source = strip_border(i, n, C ? C : in.channels, edge), shift = HALO - x0;
        if (i + shift >= ACROSS + 2 * HALO || (source >= 0 && source + shift < 0))
            return;
#pragma unroll
        for (int q = 0; q < ROWS; q++)
            rows[q * PITCH + i + shift] = source < 0 ? (IN)0 : rows[q * PITCH + source + shift];
    }
};

/* The stage behind that at `stage`. */
template <typename LOADER> SMP_DEVICE int strip_next(int stage)
{
    return stage == LOADER::RING - LOADER::GROUP ? 0 : stage + LOADER::GROUP;
}

/* Iteration k of the pipeline: starts the copy of group k + AHEAD into the stage at `next`, then waits for group k, in
 * the stage at `stage`. Returns false during the AHEAD prologue iterations, which begin with k = -AHEAD. */
template <int AHEAD, typename LOADER>
SMP_DEVICE bool strip_iteration(LOADER &loader, int k, int groups, int stage, int &next)
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
    if (loader.needs_halo()) {
        loader.fill_halo(stage);
        __syncwarp();
    }
    return true;
}

#endif
