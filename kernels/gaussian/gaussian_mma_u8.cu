/* gaussian on GPUs for bytes and radii of 4 to 12: the row pass on tensor cores, the column pass in f32.
 *
 * The definition (gaussian_weights.h) has whole row weights for 8-bit pictures, so that sums of the row pass are exact
 * however they are made. As multiplications and additions in f32 they are half of what the definition takes (2r+1 of
 * 4r+2 operations a sample), and the one-warp blur of gaussian_warp.cuh is bound by its number of instructions: 43 a
 * sample at 15 taps. Here they are products with a banded matrix (banded_mma.cuh), 2.5 instructions a sample whatever
 * the radius: 26 to 30 in all.
 *
 * One warp a strip of 128 bytes, rows eight at a time:
 *   - S of eight rows goes through shared memory, from lanes that have pairs of rows to lanes that have four columns;
 *   - S < 2^24 is a float as its bits lie there, S * 2^-149, which FFMA takes at full speed; column weights
 *     carry 2^126;
 *   - the column pass is that of gaussian_warp.cuh: each lane keeps 2r sums for each of its four columns;
 *   - products of the next eight rows, a tile of them beside each row of the column pass: one after the other, each
 *     would wait for the other's latency (0.405 ms and 0.33, 15 taps, 16384 x 16384).
 *
 * Loads and stores of shared memory are free of conflicts. S of a column is eight words, in two halves; lane l's column
 * 4l + i lies in slot 4l + (i ^ swap), swap being l % 4 with its two bits exchanged, and the halves change places where
 * l & 4. So stores of 8 bytes by lanes that have four columns in two neighbouring quads, and loads of 16 bytes by lanes
 * that have neighbouring quads, both meet all banks. */
#include "gaussian/gaussian.h"

#include "gaussian/banded_mma.cuh"

enum { BANDED_ROWS = SMP_BANDED_ROWS, BANDED_STAGES = 2, BANDED_LANE = 4 /* columns */ };

/* S on its way from rows to columns: [column's slot][half][four rows]. */
struct banded_sums {
    alignas(128) uint4 v[2][SMP_BANDED_ACROSS][2]; /* of one group, and of the next */
};
enum { BANDED_BUFFER = SMP_BANDED_ACROSS * 32 /* bytes */ };

/* Returns how lane l's four columns lie in slots. */
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

/* A tile's S, of smp_mma_u8's d, to where `put` says: of odd tiles halves change places. */
SMP_DEVICE void banded_put(unsigned char *to, const int (&put)[2], int tile, const unsigned (&S)[4])
{
#pragma unroll
    for (int q = 0; q < 2; q++)
        *reinterpret_cast<uint2 *>(to + (put[q] ^ tile % 2 * 16) + tile * SMP_BANDED_TILE * 32) =
            make_uint2(S[2 * q], S[2 * q + 1]);
}

template <int STEPS> struct banded_rows : banded_loader<STEPS, BANDED_ROWS, BANDED_STAGES> {
    typedef typename banded_loader<STEPS, BANDED_ROWS, BANDED_STAGES>::type::rows_type rows_type;
};

/* FLUSH: results lie in shared memory until eight rows of them are there, for rows of them that end within the strip.
 * Else there are whole groups of output rows, and lanes store four bytes. */
template <int R, int STEPS, bool FLUSH>
SMP_DEVICE void banded_column_walk_by(const smp_io &io, const smp_gaussian &p,
                                      typename banded_rows<STEPS>::rows_type &s, banded_sums &sums,
                                      banded_results<BANDED_ROWS> &results, int strip, int64_t top, int made)
{
    typedef typename banded_rows<STEPS>::type loader_type;
    constexpr int ROWS = BANDED_ROWS, AHEAD = BANDED_STAGES - 1, PITCH = loader_type::PITCH, V = BANDED_LANE;
    const int lane = (int)threadIdx.x, g = lane / 4, t = lane % 4, x0 = strip * SMP_BANDED_ACROSS;
    const int n = (int)stencil_samples(io.out), x = x0 + V * lane;
    const banded_weights<STEPS> w(static_cast<const unsigned *>(io.table));
    loader_type loader(s, io.in, x0, p.radius * io.in.channels, p.edge);
    float down[R + 1];
#pragma unroll
    for (int k = 0; k <= R; k++)
        down[k] = k <= p.radius ? p.w[k] * 0x1p126f : 0.f;
    /* Rows 2t and 2t + 1 go to columns in the quad g / 2 + 4 * tile: the pair that g % 2 tells, and two beside; then
     * this lane's columns. */
    unsigned char *const all = reinterpret_cast<unsigned char *>(sums.v);
    const int swap_g = banded_swap(g / 2), swap_lane = banded_swap(lane % 4);
    int put[2], own[V];
#pragma unroll
    for (int q = 0; q < 2; q++)
        put[q] = (4 * (g / 2) + ((g % 2 + 2 * q) ^ swap_g)) * 32 + t / 2 * 16 + t % 2 * 8;
#pragma unroll
    for (int i = 0; i < V; i++)
        own[i] = (V * lane + (i ^ swap_lane)) * 32 + (lane >> 2 & 1) * 16;
    constexpr int EARLY =
        (ROWS - 2 * R % ROWS) % ROWS; /* rows read above, so that groups of output rows are complete */
    const int need = EARLY + 2 * R + made, groups = (need + ROWS - 1) / ROWS;
    float sum[2 * R][V];
#pragma unroll
    for (int j = 0; j < 2 * R; j++)
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[j][i] = 0.f;
    int stage = 0, next = 0, row = -2 * R - EARLY; /* the first output row of a turn */
    unsigned char *out = static_cast<unsigned char *>(smp_row(&io.out, top)) + row * io.out.stride + x;
    loader.begin(top - R - EARLY, need, groups);
    int buffer = 0; /* S that columns are made of; products fill the other */
    /* With long windows results leave at once; else with what the next group begins with, which leaves columns and
     * products beside each other (nvcc put the former behind it: 0.385 and 0.373 ms), in kernels of their own. */
    constexpr bool LATER = FLUSH && STEPS == 1;
    /* Stores the group's results, whose rows begin with output row `first`. */
    const auto flush = [&](int first, unsigned char *to) {
        __syncwarp();
        results.store(to - V * lane, io.out.stride, -first, made - first, n - x0);
    };
    const unsigned char *rows = s.first() + g * PITCH + 16 * STEPS - smp_banded_side(STEPS) + 8 * t;
#pragma unroll 1
    for (int k = -AHEAD; k <= groups;
         k++) { /* the first turns only load ahead; turn k makes S of group k, output of k - 1 */
        if (k < groups) {
            if (!strip_turn<AHEAD>(loader, k, groups, stage, next))
                continue;
        } else {
            __syncwarp();
        }
        banded_windows from(rows + stage);
        unsigned char *const fresh = all + (buffer ^ BANDED_BUFFER);
        uint4 v[V];
        if (LATER && k > 1) /* all lanes meet before one stores the next result: smp_load_fence(), the product's */
            flush(row - ROWS, out - ROWS * io.out.stride);
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
                    smp_load_fence(); /* early loads take registers */
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
                const unsigned result = banded_packed(done);
                if constexpr (FLUSH)
                    *reinterpret_cast<unsigned *>(results.row(q) + V * lane) = result;
                else
                    smp_store_where(row >= 0,
                                    reinterpret_cast<unsigned *>(out + (uint64_t)(unsigned)q * (unsigned)io.out.stride),
                                    result);
            }
            if (FLUSH && !LATER)
                flush(row, out);
            row += ROWS;
            out += ROWS * io.out.stride;
        }
        if (k < groups - 1)
            stage = strip_next<loader_type>(stage);
        buffer ^= BANDED_BUFFER;
    }
    if (LATER)
        flush(row - ROWS, out - ROWS * io.out.stride);
}

/* The same, called: few strips end within a row, and what they need costs the others registers. */
template <int R, int STEPS>
SMP_DEVICE_COLD void banded_column_walk_cold(const smp_io &io, const smp_gaussian &p,
                                             typename banded_rows<STEPS>::rows_type &s, banded_sums &sums,
                                             banded_results<BANDED_ROWS> &results, int strip, int64_t top, int made)
{
    banded_column_walk_by<R, STEPS, true>(io, p, s, sums, results, strip, top, made);
}

/* The kernel for radii up to R and windows of STEPS * 32 bytes; grid: mma() of src/stages/gaussian.c. */
template <int R, int STEPS> SMP_DEVICE void banded_column_walk(const smp_io &io, const smp_gaussian &p)
{
    typedef typename banded_rows<STEPS>::rows_type rows_type;
    typedef banded_results<BANDED_ROWS> results_type;
    SMP_SHARED(rows_type, s);
    SMP_SHARED(banded_sums, sums);
    SMP_SHARED(results_type, results);
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    const int strip = place.strip, made = place.rows;
    const int64_t begin = place.begin;
    const bool whole = ((int64_t)strip + 1) * SMP_BANDED_ACROSS <= stencil_samples(io.out);
    const int missing = (BANDED_ROWS - made % BANDED_ROWS) % BANDED_ROWS; /* to whole groups, of the last band */
    const int64_t top = io.out.y0 + begin;
    if (whole && begin >= missing && io.out.stride >> 31 == 0) /* those it makes a second time */
        banded_column_walk_by<R, STEPS, false>(io, p, s, sums, results, strip, top - missing, made + missing);
    else if constexpr (STEPS == 1)
        banded_column_walk_by<R, STEPS, true>(io, p, s, sums, results, strip, top, made);
    else
        banded_column_walk_cold<R, STEPS>(io, p, s, sums, results, strip, top, made);
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
