/* The row pass of bytes on tensor cores, for kernels of one warp a strip (strip.cuh): S = sums of whole weights times
 * bytes, as products of a banded matrix with the rows.
 *
 *   S^T (16 columns x 8 rows) = band (16 x 32) * rows^T, high and low bytes of the weights apart. The right operand is
 *   plain bytes of the rows, 8 of each 32 a lane: lane 4g + t reads them of row g. It ends with S of two rows, 2t and
 *   2t + 1, in four columns: those side by side that begin at 4 * (g / 2), in pairs that g % 2 tells apart
 *   (src/stages/banded_matrices.c).
 *
 * Reads are free of conflicts: rows lie an odd number of 32 bytes apart. Copies of rows pay for it, since they then go
 * to other places in 128 bytes than they come from (docs/banks.md, 8). */
#ifndef SMP_KERNELS_BELL_BANDED_CUH
#define SMP_KERNELS_BELL_BANDED_CUH

#include "bell_banded.h"
#include "smp_mma.cuh"
#include "strip_odd.cuh"

enum { BANDED_TILES = SMP_BANDED_ACROSS / SMP_BANDED_TILE };

/* Where a warp keeps its rows: an odd number of 32 bytes from one to the next, so that four of them take all banks.
 * (The loader asks strip_rows for its pitch.) */
template <int SIDE, int ROWS, int STAGES> struct strip_rows<uint8_t, SMP_BANDED_ACROSS, SIDE, ROWS, STAGES> {
    static constexpr int PIECE = 16, HALO = 2 * SIDE / PIECE;
    static constexpr int SIDE_TURN = strip_halves(ROWS, 32 / HALO), BESIDE = 32 / SIDE_TURN;
    static constexpr int LEAST = SMP_BANDED_ACROSS + (BESIDE + 1) * PIECE;
    static constexpr int PITCH = (LEAST + 31) / 64 * 64 + 32, ODD_PITCH = PITCH, LEAD = 0;
    uint4 v[STAGES * ROWS * PITCH / PIECE];

    SMP_MEMBER uint8_t *first() { return reinterpret_cast<uint8_t *>(v); }
};

/* The loaders of a kernel's two marches, for rows that are aligned and rows that begin anywhere. */
template <int STEPS, int ROWS, int STAGES> struct banded_loaders {
    typedef strip_loader<uint8_t, 0, SMP_BANDED_ACROSS, 16 * STEPS, ROWS, STAGES> even;
    /* Rows alike in more than 32 bytes, of any length, would lie in the same banks. */
    typedef strip_lines_loader<uint8_t, 0, SMP_BANDED_ACROSS, smp_banded_side(STEPS), 16 * STEPS, ROWS, STAGES, 32> odd;
    typedef typename even::rows_type rows_type;
};

/* Results on their way out of a march over rows that begin anywhere. */
template <int ROWS> struct banded_results {
    static constexpr int PAD = 16, PITCH = SMP_BANDED_ACROSS + PAD;
    uint4 v[ROWS * PITCH / 16];

    SMP_MEMBER unsigned char *row(int y) { return reinterpret_cast<unsigned char *>(v) + y * PITCH; }
    /* What lies behind rows is read with them and not used. */
    SMP_MEMBER void clear_pads()
    {
        if ((int)threadIdx.x < ROWS)
            *reinterpret_cast<uint4 *>(row((int)threadIdx.x) + SMP_BANDED_ACROSS) = make_uint4(0, 0, 0, 0);
    }
};

/* The weights' matrices: high and low bytes. */
template <int STEPS> struct banded_weights {
    unsigned high[STEPS][4], low[STEPS][4];

    SMP_MEMBER banded_weights(const unsigned *table)
    {
        const unsigned *from = table + threadIdx.x;
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                high[s][k] = from[(4 * s + k) * 32];
                low[s][k] = from[(4 * (STEPS + s) + k) * 32];
            }
    }
    /* S of 8 rows and the 16 columns of a tile, and `more`, as smp_mma_u8's d. windows: the lane's of this tile. */
    template <typename WINDOWS> SMP_MEMBER void across(unsigned (&sum)[4], const WINDOWS &windows, unsigned more) const
    {
        unsigned upper[4] = {0, 0, 0, 0}, lower[4] = {more, more, more, more};
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            const uint2 window = windows[s];
            smp_mma_u8(upper, high[s], window.x, window.y);
            smp_mma_u8(lower, low[s], window.x, window.y);
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum[k] = upper[k] * 256 + lower[k];
    }
};

/* A lane's 8 bytes of each 32 that begin 16 bytes apart in a row: step s of a tile takes those 2s behind the tile's.
 * SKEWED: the row begins `skew` bytes late. KEPT: what one step had is kept for the tiles whose others want it, which
 * takes registers. */
template <bool SKEWED, int STEPS, bool KEPT = SKEWED> struct banded_windows {
    const unsigned *words;
    unsigned bits;
    int tile;
    uint2 kept[2 * STEPS - 1];

    SMP_MEMBER banded_windows(const unsigned char *row, unsigned skew)
        : words(reinterpret_cast<const unsigned *>(row) + (SKEWED ? skew / 4 : 0)), bits(8 * skew), tile(0)
    {
        if (KEPT)
#pragma unroll
            for (int j = 0; j < 2 * STEPS - 1; j++)
                kept[j] = at(j);
    }
    /* From 16 * j bytes on. */
    SMP_MEMBER uint2 at(int j) const
    {
        const unsigned *const from = words + 4 * j;
        if (!SKEWED)
            return *reinterpret_cast<const uint2 *>(from);
        const unsigned middle = from[1];
        return make_uint2(__funnelshift_r(from[0], middle, bits), __funnelshift_r(middle, from[2], bits));
    }
    SMP_MEMBER uint2 operator[](int s) const
    {
        return KEPT ? kept[2 * s] : at(tile + 2 * s);
    }
    /* To the next tile, of `tiles`. */
    SMP_MEMBER void next(int tiles)
    {
        tile++;
        if (!KEPT || tile == tiles)
            return;
        if constexpr (STEPS > 1)
#pragma unroll
            for (int j = 0; j + 1 < 2 * STEPS - 1; j++)
                kept[j] = kept[j + 1];
        kept[2 * STEPS - 2] = at(tile + 2 * STEPS - 2);
    }
};

#endif
