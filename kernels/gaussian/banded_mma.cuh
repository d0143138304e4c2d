/* The row pass of u8 on tensor cores, for kernels in which a warp walks down a strip (warp_strip.cuh): S = sums of
 * integer weights times bytes, as products of a banded matrix with the rows.
 *
 *   S^T (16 columns x 8 rows) = band (16 x 32) * rows^T, for the high and the low bytes of the weights. The right
 * operand is the rows' own bytes, 8 of each 32 a lane: lane 4g + t reads them from row g. It ends with S of rows 2t and
 * 2t + 1 in four of the columns 4 * (g / 2) .. + 7: pairs that g % 2 selects (src/stages/shared/banded_matrices.c).
 *
 * Reads have no conflicts: the pitch of rows is an odd multiple of 32 bytes. The price is in the copies, which then go
 * to other places within 128 bytes than they come from (docs/banks.md, 8). */
#ifndef SMP_KERNELS_GAUSSIAN_BANDED_MMA_CUH
#define SMP_KERNELS_GAUSSIAN_BANDED_MMA_CUH

#include "gaussian/banded_mma.h"
#include "lib/mma.cuh"
#include "stencil/warp_strip.cuh"

/* A warp's rows, for strip_loader: an odd multiple of 32 bytes from one to the next, so that four of them use all
 * banks.
 */
template <int HALO, int ROWS, int STAGES> struct strip_rows<uint8_t, SMP_BANDED_ACROSS, HALO, ROWS, STAGES> {
    static constexpr int VEC = 16, HALO_VECS = 2 * HALO / VEC;
    static constexpr int HALO_ROWS = strip_halves(ROWS, 32 / HALO_VECS), HALO_LANES = 32 / HALO_ROWS;
    static constexpr int LEAST = SMP_BANDED_ACROSS + (HALO_LANES + 1) * VEC;
    static constexpr int PITCH = (LEAST + 31) / 64 * 64 + 32, LEAD = 0;
    uint4 v[STAGES * ROWS * PITCH / VEC];

    SMP_DEVICE_MEMBER uint8_t *first() { return reinterpret_cast<uint8_t *>(v); }
};

template <int STEPS, int ROWS, int STAGES> struct banded_loader {
    typedef strip_loader<uint8_t, 0, SMP_BANDED_ACROSS, 16 * STEPS, ROWS, STAGES> type;
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
    /* S of 8 rows and the 16 columns of a tile, as the d of smp_mma_u8, from the lane's windows of this tile. */
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

/* A lane's 8 bytes of each window of 32, which start 16 bytes apart in a row. Step s of a tile takes window 2s after
 * the tile's own. */
struct banded_windows {
    const uint2 *from;

    SMP_DEVICE_MEMBER banded_windows(const unsigned char *row) : from(reinterpret_cast<const uint2 *>(row)) {}
    SMP_DEVICE_MEMBER uint2 operator[](int s) const { return from[4 * s]; }
    SMP_DEVICE_MEMBER void next() { from += 2; }
};

#endif
