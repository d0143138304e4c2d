/* The row pass of bytes on tensor cores, for kernels of one warp a strip (warp_strip.cuh): S = sums of whole weights
 * times bytes, as products of a banded matrix with the rows.
 *
 *   S^T (16 columns x 8 rows) = band (16 x 32) * rows^T, high and low bytes of the weights apart. The right operand is
 *   plain bytes of the rows, 8 of each 32 a lane: lane 4g + t reads them of row g. It ends with S of two rows, 2t and
 *   2t + 1, in four columns: those side by side that begin at 4 * (g / 2), in pairs that g % 2 tells apart
 *   (src/stages/shared/stencil/banded_matrices.c).
 *
 * Reads are free of conflicts: rows lie an odd number of 32 bytes apart. Copies of rows pay for it, since they then go
 * to other places in 128 bytes than they come from (docs/banks.md, 8). */
#pragma once

#include "gaussian/banded_mma.h"
#include "lib/mma.cuh"
#include "stencil/warp_strip.cuh"

/* Rows of a warp: an odd number of 32 bytes from one to the next, so that four of them take all banks. (The loader asks
 * strip_rows for its pitch.) */
template <int SIDE, int ROWS, int STAGES> struct strip_rows<uint8_t, SMP_BANDED_ACROSS, SIDE, ROWS, STAGES> {
    static constexpr int PIECE = 16, HALO = 2 * SIDE / PIECE;
    static constexpr int HALO_ROWS = strip_halves(ROWS, 32 / HALO), HALO_LANES = 32 / HALO_ROWS;
    static constexpr int LEAST = SMP_BANDED_ACROSS + (HALO_LANES + 1) * PIECE;
    static constexpr int PITCH = (LEAST + 31) / 64 * 64 + 32, LEAD = 0;
    uint4 v[STAGES * ROWS * PITCH / PIECE];

    SMP_DEVICE_MEMBER uint8_t *first() { return reinterpret_cast<uint8_t *>(v); }
};

template <int STEPS, int ROWS, int STAGES> struct banded_loader {
    typedef strip_loader<uint8_t, 0, SMP_BANDED_ACROSS, 16 * STEPS, ROWS, STAGES> type;
};

/* Results on their way out of a strip in which rows end. */
template <int ROWS> struct banded_results {
    static constexpr int PAD = 16, PITCH = SMP_BANDED_ACROSS + PAD;
    uint4 v[ROWS * PITCH / 16];

    SMP_DEVICE_MEMBER unsigned char *row(int y) { return reinterpret_cast<unsigned char *>(v) + y * PITCH; }
    /* Stores rows first .. last - 1 of them, of `count` bytes each, SMP_BANDED_ACROSS at most; row 0 goes to `out`. */
    SMP_DEVICE_MEMBER void store(unsigned char *out, int64_t stride, int first, int last, int count)
    {
#pragma unroll 1
        for (int i = (int)threadIdx.x; i < ROWS * SMP_BANDED_ACROSS / 16; i += 32) {
            const int y = i / (SMP_BANDED_ACROSS / 16), x = i % (SMP_BANDED_ACROSS / 16) * 16;
            unsigned char *const to = out + y * stride + x;
            smp_converge();
            if (y >= first && y < last && x + 16 <= count)
                *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(row(y) + x);
            else if (y >= first && y < last)
                for (int b = 0; b < count - x; b++)
                    to[b] = row(y)[x + b];
        }
    }
};

/* The weights' matrices: high and low bytes. */
template <int STEPS> struct banded_weights {
    unsigned high[STEPS][4], low[STEPS][4];

    SMP_DEVICE_MEMBER banded_weights(const unsigned *table)
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
    /* S of 8 rows and the 16 columns of a tile, as smp_mma_u8's d. windows: the lane's of this tile. */
    template <typename WINDOWS> SMP_DEVICE_MEMBER void across(unsigned (&sum)[4], const WINDOWS &windows) const
    {
        unsigned upper[4] = {0, 0, 0, 0}, lower[4] = {0, 0, 0, 0};
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

/* A lane's 8 bytes of each 32 that begin 16 bytes apart in a row: step s of a tile takes those 2s behind the tile's. */
struct banded_windows {
    const uint2 *from;

    SMP_DEVICE_MEMBER banded_windows(const unsigned char *row) : from(reinterpret_cast<const uint2 *>(row)) {}
    SMP_DEVICE_MEMBER uint2 operator[](int s) const { return from[4 * s]; }
    SMP_DEVICE_MEMBER void next() { from += 2; }
};
