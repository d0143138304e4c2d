/* gaussian arithmetic=fixed on GPUs (bell_fixed.h has the definition).
 *
 * naive: two launches, sample by sample: 2r+1 global reads through the border rule each; the picture between holds S,
 * which f32 holds exactly. Any radius, any storage.
 *
 * fused: bytes to bytes, radii up to 8. The f32 definition costs two operations a tap and sample, which at 15 taps is
 * all that an SM can issue; here both passes are products with banded matrices of weights on tensor cores
 * (smp_mma.cuh), high and low bytes apart.
 *   - Row pass: bell_banded.cuh.
 *   - Column pass: out (16 rows x 8 columns) = band (16 x 32) * S. The row pass's results are its right operand as they
 *     lie in registers, but for the order of bytes, since the 32 rows may be in any order that the band has too.
 *
 * One warp a strip of 128 bytes, as in bell_warp.cuh; rows arrive 16 at a time (strip.cuh). Nothing between the passes
 * leaves the registers. Loads and stores of shared memory are free of conflicts; copies of rows are not
 * (bell_banded.cuh). */
#include "gaussian.h"

#include "bell_banded.cuh"
#include "bell_fixed.h"

/* ---------------------------------------------------------------------------------------------- naive */

template <typename IN, typename OUT> SMP_DEVICE void gaussian_fixed_rows(const smp_io &io, const smp_bell &p)
{
    const float outside = (float)smp_fixed_outside(&p);
    const int channels = io.in.channels;
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        const IN *row = smp_in<IN>(io.in, y);
        uint32_t sum = 0;
        for (int k = -p.radius; k <= p.radius; k++)
            sum += smp_fixed_weight(&p, k) *
                   smp_fixed_code(stencil_across(row, io.in, i + (int64_t)k * channels, p.edge, outside));
        return (float)smp_fixed_row(sum);
    });
}
SMP_KERNEL_PAIR_(gaussian_fixed_rows, u8, uint8_t, f32, float, smp_bell)
SMP_KERNEL_PAIR_(gaussian_fixed_rows, f32, float, f32, float, smp_bell)

template <typename IN, typename OUT> SMP_DEVICE void gaussian_fixed_columns(const smp_io &io, const smp_bell &p)
{
    const float outside = 256.f * (float)smp_fixed_outside(&p);
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        uint32_t sum = 0;
        for (int k = -p.radius; k <= p.radius; k++)
            sum += smp_fixed_weight(&p, k) * (uint32_t)stencil_down<IN>(io.in, i, y + k, p.edge, outside);
        return (float)smp_fixed_result(sum);
    });
}
SMP_KERNEL_PAIR_(gaussian_fixed_columns, f32, float, u8, uint8_t, smp_bell)
SMP_KERNEL_PAIR_(gaussian_fixed_columns, f32, float, f32, float, smp_bell)

/* ---------------------------------------------------------------------------------------------- fused */

enum { FIXED_STAGES = 2 };

typedef banded_results<SMP_FIXED_ROWS> fixed_results;

/* The weights' matrices: high and low bytes. */
template <int STEPS> struct fixed_matrices : banded_weights<STEPS> {
    unsigned down[2][4];

    SMP_MEMBER fixed_matrices(const unsigned *table) : banded_weights<STEPS>(table)
    {
        const unsigned *from = table + threadIdx.x;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            down[0][k] = from[(8 * STEPS + k) * 32];
            down[1][k] = from[(8 * STEPS + 4 + k) * 32];
        }
    }
};

/* 8 columns of S in bytes, right operands of the second product: 16 rows that were there before, or 16 new ones. */
struct fixed_columns {
    unsigned high, low;
};

/* 16 rows of 8 columns, the results in the high bytes. */
template <int STEPS>
SMP_DEVICE void fixed_down(unsigned (&sum)[4], const fixed_matrices<STEPS> &w, const fixed_columns &before,
                           const fixed_columns &fresh)
{
    unsigned high[4] = {0, 0, 0, 0}, middle[4] = {0, 0, 0, 0};
    unsigned low[4] = {1u << 23, 1u << 23, 1u << 23, 1u << 23};
    smp_mma_u8(high, w.down[0], before.high, fresh.high);
    smp_mma_u8(middle, w.down[0], before.low, fresh.low);
    smp_mma_u8(low, w.down[1], before.low, fresh.low);
    smp_mma_u8(middle, w.down[1], before.high, fresh.high);
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum[k] = (high[k] * 256 + middle[k]) * 256 + low[k];
}

SMP_DEVICE unsigned fixed_high_bytes(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return __byte_perm(__byte_perm(a, b, 0x0073), __byte_perm(c, d, 0x0073), 0x5410);
}

/* A tile: 16 rows of S from rows g and g + 8 of the new rows, then 16 rows of results. */
template <int STEPS, typename WINDOWS>
SMP_DEVICE void fixed_tile(unsigned char *results, fixed_columns (&before)[2], const fixed_matrices<STEPS> &w,
                           const WINDOWS &row_g, const WINDOWS &row_g8)
{
    unsigned one[4], other[4], sum[2][4];
    w.across(one, row_g, 128);
    w.across(other, row_g8, 128);
#pragma unroll
    for (int q = 0; q < 2; q++) { /* low, low, high, high byte of two rows' S; then bytes of four rows */
        const unsigned a = __byte_perm(one[2 * q], one[2 * q + 1], 0x6251);
        const unsigned b = __byte_perm(other[2 * q], other[2 * q + 1], 0x6251);
        const fixed_columns fresh = {__byte_perm(a, b, 0x7632), __byte_perm(a, b, 0x5410)};
        fixed_down<STEPS>(sum[q], w, before[q], fresh);
        before[q] = fresh;
    }
    *reinterpret_cast<unsigned *>(results) = fixed_high_bytes(sum[0][0], sum[0][1], sum[1][0], sum[1][1]);
    *reinterpret_cast<unsigned *>(results + 8 * fixed_results::PITCH) =
        fixed_high_bytes(sum[0][2], sum[0][3], sum[1][2], sum[1][3]);
}

/* 16 rows of S come from the rows g and g + 8, as lanes see them; with the 16 before them they give 16 rows of results.
 */
template <int STEPS, typename WINDOWS>
SMP_DEVICE void fixed_group(unsigned char *results, fixed_columns (&before)[BANDED_TILES][2],
                            const fixed_matrices<STEPS> &w, WINDOWS &row_g, WINDOWS &row_g8)
{
#pragma unroll
    for (int j = 0; j < BANDED_TILES; j++) {
        smp_loads_stay(); /* early loads take 30 registers more */
        fixed_tile<STEPS>(results + 16 * j, before[j], w, row_g, row_g8);
        row_g.next();
        row_g8.next();
    }
}

/* The kernel for windows of STEPS * 32 bytes; geometry: smp_geometry_bell_warp. */
template <int STEPS> SMP_DEVICE void fixed_march(const smp_io &io, const smp_bell &p)
{
    typedef typename banded_loader<STEPS, SMP_FIXED_ROWS, FIXED_STAGES>::type loader_type;
    typedef typename loader_type::rows_type rows_type;
    SMP_SMEM(rows_type, s);
    SMP_SMEM(fixed_results, made);
    constexpr int ROWS = SMP_FIXED_ROWS, UP = SMP_FIXED_WARP_RADIUS, AHEAD = FIXED_STAGES - 1;
    constexpr int PITCH = loader_type::PITCH;
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    const int lane = (int)threadIdx.x, g = lane / 4, t = lane % 4, x0 = place.strip * SMP_BANDED_ACROSS;
    const int n = (int)stencil_samples(io.out);
    const fixed_matrices<STEPS> w(static_cast<const unsigned *>(io.table));
    loader_type loader(s, io.in, x0, p.radius * io.in.channels, p.edge);
    unsigned char *const rows = s.first();
    unsigned char *const results = made.row(0);
    /* On the way out, a tile's 16 bytes a lane. Eight lanes have one row, or two that lie in different banks. */
    constexpr int TURN = 32 / BANDED_TILES;
    const int row = lane / 8 + lane % 8 / BANDED_TILES * 4, tile = lane % BANDED_TILES, x = x0 + 16 * tile;
    const bool whole = x + 16 <= n;
    const int singly = (n - x0) / 16; /* from this tile on, bytes go one by one */
    const int64_t top = io.out.y0 + place.begin;
    if (place.rows > 0) { /* always; measured with the question, which matters to nvcc in bell_warp.cuh */
        const int height = place.rows, groups = (height + ROWS - 1) / ROWS + 1;
        fixed_columns before[BANDED_TILES][2] = {};
        int stage = 0, next = 0, left = height + ROWS - row; /* rows to store from this lane's on */
        unsigned char *out = static_cast<unsigned char *>(smp_row(&io.out, top)) + (row - ROWS) * io.out.stride + x;
        loader.begin(top - UP, height + UP + p.radius, groups);
#pragma unroll 1
        for (int k = -AHEAD; k < groups; k++) { /* the first turns only load ahead */
            if (!strip_turn<AHEAD>(loader, k, groups, stage, next))
                continue;
            const unsigned char *const own =
                rows + stage + g * PITCH + 16 * STEPS - smp_banded_side(STEPS) + 8 * t;
            banded_windows row_g(own), row_g8(own + 8 * PITCH);
            fixed_group<STEPS>(results + g * fixed_results::PITCH + 4 * t, before, w, row_g, row_g8);
            __syncwarp();
#pragma unroll
            for (int i = 0; i < ROWS; i += TURN) {
                const unsigned char *from = results + (row + i) * fixed_results::PITCH + 16 * tile;
                unsigned char *to = out + i * io.out.stride;
                if (whole && k > 0 && left > i)
                    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
            }
#pragma unroll 1
            for (int j = singly; j < BANDED_TILES && k > 0; j++) /* a tile: two rows of 16 bytes at a time */
                for (int r = lane / 16, c = 16 * j + lane % 16; r < ROWS && r < left + row && x0 + c < n; r += 2)
                    (out - 16 * tile)[(r - row) * io.out.stride + c] = results[r * fixed_results::PITCH + c];
            out += ROWS * io.out.stride;
            left -= ROWS;
            stage = strip_next<loader_type>(stage);
        }
    }
}

/* 12 warps an SM have 168 registers each; 16 with 128 spill. */
#define GAUSSIAN_FIXED(STEPS)                                                                                          \
    SMP_KERNEL_BOUNDS(32, 12, gaussian_fixed_warp##STEPS##_u8_u8, smp_bell, io, p)                                     \
    {                                                                                                                  \
        fixed_march<STEPS>(io, p);                                                                                     \
    }
GAUSSIAN_FIXED(1)
GAUSSIAN_FIXED(2)
GAUSSIAN_FIXED(3)
