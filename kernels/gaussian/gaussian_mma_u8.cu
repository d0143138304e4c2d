/* gaussian on GPUs for u8 and radii of 4 to 12: the row pass on tensor cores, the column pass in f32.
 *
 * The definition (gaussian_weights.h) has integer row weights for 8-bit pictures, so that sums of the row pass are
 * exact in any order. In f32 the row pass is half of the definition's operations (2r + 1 of 4r + 2 a sample), and the
 * one-warp blur of gaussian_warp.cuh is limited by its instructions: 43 a sample at 15 taps. Here the row pass is a
 * product with a banded matrix (banded_mma.cuh) and takes 2.5 instructions a sample for every radius: 26 to 30 in all.
 *
 * A warp walks down a strip of 128 bytes, eight rows at a time:
 *   - S of eight rows goes through shared memory, from lanes that hold pairs of rows to lanes that hold four columns.
 *   - The bits of S < 2^24 are the float S * 2^-149, which FFMA takes at full speed; column weights carry 2^126.
 *   - The column pass is that of gaussian_warp.cuh: a lane keeps 2r sums for each of its four columns.
 *   - The products of the next eight rows are interleaved with the column pass, a tile with each row. One after the
 *     other they would wait for each other's latency (0.405 ms instead of 0.33, 15 taps, 16384 x 16384).
 *
 * Shared accesses have no conflicts. S of a column is eight words, in two halves. Lane l's column 4l + i lies in slot
 * 4l + (i ^ swap), where swap is l % 4 with its two bits exchanged, and the halves change places where l & 4. So stores
 * of 8 bytes, by lanes with four columns of two neighbouring slots of four, and loads of 16 bytes both use all banks.
 */
#include "gaussian/gaussian.h"

#include "gaussian/banded_mma.cuh"

enum { BANDED_ROWS = SMP_BANDED_ROWS, BANDED_STAGES = 2, BANDED_LANE = 4 /* columns */ };

/* S on its way from rows to columns: [column's slot][half][four rows]. */
struct banded_sums {
    alignas(128) uint4 v[2][SMP_BANDED_ACROSS][2]; /* of one group, and of the next */
};
enum { BANDED_BUFFER = SMP_BANDED_ACROSS * 32 /* bytes */ };

/* The swap of lane l's four columns. */
SMP_DEVICE int banded_swap(int l)
{
    return (l & 1) << 1 | (l & 2) >> 1;
}

/* Four finished columns: 2^23 + byte each. */
SMP_DEVICE unsigned banded_packed(const float *v)
{
    const unsigned low = __byte_perm(__float_as_uint(v[0]), __float_as_uint(v[1]), 0x0040);
    const unsigned high = __byte_perm(__float_as_uint(v[2]), __float_as_uint(v[3]), 0x0040);
    return __byte_perm(low, high, 0x5410);
}

/* Stores a tile's S, the d of smp_mma_u8, at offsets `put`. In odd tiles the halves change places. */
SMP_DEVICE void banded_put(unsigned char *to, const int (&put)[2], int tile, const unsigned (&S)[4])
{
#pragma unroll
    for (int q = 0; q < 2; q++)
        *reinterpret_cast<uint2 *>(to + (put[q] ^ tile % 2 * 16) + tile * SMP_BANDED_TILE * 32) =
            make_uint2(S[2 * q], S[2 * q + 1]);
}

/* The kernel for radii up to R and windows of STEPS * 32 bytes; grid: mma() of src/stages/gaussian.c. */
template <int R, int STEPS> SMP_DEVICE void banded_column_walk(const smp_io &io, const smp_gaussian &p)
{
    typedef typename banded_loader<STEPS, BANDED_ROWS, BANDED_STAGES>::type loader_type;
    typedef typename loader_type::rows_type rows_type;
    constexpr int ROWS = BANDED_ROWS, AHEAD = BANDED_STAGES - 1, PITCH = loader_type::PITCH, V = BANDED_LANE;
    SMP_SHARED(rows_type, s);
    SMP_SHARED(banded_sums, sums);
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    const int lane = (int)threadIdx.x, g = lane / 4, t = lane % 4, x0 = place.strip * SMP_BANDED_ACROSS;
    const int x = x0 + V * lane;
    const int64_t top = io.out.y0 + place.begin;
    const banded_weights<STEPS> w(static_cast<const unsigned *>(io.table));
    loader_type loader(s, io.in, x0, p.radius * io.in.channels, p.edge);
    float down[R + 1];
#pragma unroll
    for (int k = 0; k <= R; k++)
        down[k] = k <= p.radius ? p.w[k] * 0x1p126f : 0.f;
    /* put: where rows 2t and 2t + 1 of the lane's S go, two pairs of columns. own: where the lane's columns lie. */
    unsigned char *const all = reinterpret_cast<unsigned char *>(sums.v);
    const int swap_g = banded_swap(g / 2), swap_lane = banded_swap(lane % 4);
    int put[2], own[V];
#pragma unroll
    for (int q = 0; q < 2; q++)
        put[q] = (4 * (g / 2) + ((g % 2 + 2 * q) ^ swap_g)) * 32 + t / 2 * 16 + t % 2 * 8;
#pragma unroll
    for (int i = 0; i < V; i++)
        own[i] = (V * lane + (i ^ swap_lane)) * 32 + (lane >> 2 & 1) * 16;
    constexpr int EARLY = (ROWS - 2 * R % ROWS) % ROWS; /* rows above, so that output rows come in whole groups */
    const int needed = EARLY + 2 * R + place.rows, groups = (needed + ROWS - 1) / ROWS;
    const unsigned made = x < (int)stencil_samples(io.out) ? (unsigned)place.rows : 0; /* output rows of this lane */
    float sum[2 * R][V];
#pragma unroll
    for (int j = 0; j < 2 * R; j++)
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[j][i] = 0.f;
    int stage = 0, next = 0, row = -2 * R - EARLY; /* row: the group's first output row */
    unsigned char *out = static_cast<unsigned char *>(smp_row(&io.out, top)) + row * io.out.stride + x;
    loader.begin(top - R - EARLY, needed, groups);
    int buffer = 0; /* the column pass reads this one, products fill the other */
    const unsigned char *rows = s.first() + g * PITCH + 16 * STEPS - smp_banded_side(STEPS) + 8 * t;
#pragma unroll 1
    for (int k = -AHEAD; k <= groups; k++) { /* iteration k: S of group k, output of group k - 1 */
        if (k < groups) {
            if (!strip_iteration<AHEAD>(loader, k, groups, stage, next))
                continue;
        } else {
            __syncwarp();
        }
        banded_windows from(rows + stage);
        unsigned char *const fresh = all + (buffer ^ BANDED_BUFFER);
        uint4 v[V];
        if (k == 0) {
#pragma unroll
            for (int q = 0; q < ROWS; q++) {
                unsigned S[4];
                w.across(S, from);
                from.next();
                banded_put(fresh, put, q, S);
            }
        } else {
#pragma unroll
            for (int q = 0; q < ROWS; q++) {
                if (q % 2 == 0)
                    smp_load_fence(); /* early loads would take registers */
                if (q % 4 == 0)
#pragma unroll
                    for (int i = 0; i < V; i++)
                        v[i] = *reinterpret_cast<const uint4 *>(all + buffer + (own[i] ^ q / 4 * 16));
                unsigned S[4];
                w.across(S, from);
                from.next();
                float done[V];
#pragma unroll
                for (int i = 0; i < V; i++) {
                    const unsigned S_i[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
                    const float m = __uint_as_float(S_i[q % 4]);
                    done[i] = fmaf(smp_gaussian_tap(sum[0][i], down[R], m), 0x1p7f, 8388608.f);
#pragma unroll
                    for (int j = 0; j < 2 * R - 1; j++)
                        sum[j][i] = smp_gaussian_tap(sum[j + 1][i], down[j < R ? R - 1 - j : j + 1 - R], m);
                    sum[2 * R - 1][i] = smp_gaussian_first(down[R], m);
                }
                banded_put(fresh, put, q, S);
                smp_store_where((unsigned)(row + q) < made,
                                reinterpret_cast<unsigned *>(out + (uint64_t)(unsigned)q * (unsigned)io.out.stride),
                                banded_packed(done));
            }
            row += ROWS;
            out += ROWS * io.out.stride;
        }
        if (k < groups - 1)
            stage = strip_next<loader_type>(stage);
        buffer ^= BANDED_BUFFER;
    }
}

#define GAUSSIAN_BANDED(R, STEPS)                                                                                      \
    SMP_KERNEL_BOUNDS(32, SMP_BANDED_WARPS(R, STEPS), gaussian_banded##R##_##STEPS##_u8_u8, smp_gaussian, io, p)       \
    {                                                                                                                  \
        banded_column_walk<R, STEPS>(io, p);                                                                           \
    }
GAUSSIAN_BANDED(4, 1)
GAUSSIAN_BANDED(4, 2)
GAUSSIAN_BANDED(5, 1)
GAUSSIAN_BANDED(5, 2)
GAUSSIAN_BANDED(6, 1)
GAUSSIAN_BANDED(6, 2)
GAUSSIAN_BANDED(7, 1)
GAUSSIAN_BANDED(7, 2)
GAUSSIAN_BANDED(7, 3)
GAUSSIAN_BANDED(8, 1)
GAUSSIAN_BANDED(8, 2)
GAUSSIAN_BANDED(8, 3)
GAUSSIAN_BANDED(10, 2)
GAUSSIAN_BANDED(10, 3)
GAUSSIAN_BANDED(12, 2)
GAUSSIAN_BANDED(12, 3)
