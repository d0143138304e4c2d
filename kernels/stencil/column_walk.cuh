/* One warp's walk down its strip, row by row, for stencils that keep what they need of earlier rows in registers. The
 * stencil is a ROW, an object that takes the window of each input row and gives the output row that it completes:
 *
 *   typedef .. walk;          a column_window: samples, halo, rows
 *   typedef .. out, pack;     the output's samples, and V of them
 *   void begin();             before the first row
 *   void add(words, kept, ready, parity);
 *                             the next input row. kept: the lane's window of the row KEPT rows above, which exists
 *                             where `ready`. parity: that of the row's number, for values in two alternating registers
 *   pack operator()(kept, n); the output row: V samples, of which the first n lie inside the picture
 *   void count(n);            counts the clipped ones of its first n samples */
#ifndef SMP_KERNELS_STENCIL_COLUMN_WALK_CUH
#define SMP_KERNELS_STENCIL_COLUMN_WALK_CUH

#include "stencil/warp_strip.cuh"

typedef smp_pack<unsigned, 4> strip_pack;

/* Words FIRST .. LAST of a row of packs, those of pack i. nvcc would drop the other loads anyway; written out, the
 * emulator counts the same accesses. */
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

/* A lane makes V samples, a pack, of every output row from its window: that pack of the input and PACKS more on either
 * side, of which it reads words FIRST .. LAST. ROWS rows arrive together, AHEAD such groups before they are needed;
 * KEPT rows stay in shared memory behind the newest. UNROLL: of the loop over rows. */
template <typename T, int CHANNELS, int LANE_SAMPLES, int SIDE_PACKS, int FIRST_WORD, int LAST_WORD, int GROUP_ROWS,
          int GROUPS_AHEAD, int KEPT_ROWS, int UNROLLED>
struct column_window {
    typedef T sample;
    static constexpr int C = CHANNELS, V = LANE_SAMPLES, PACKS = SIDE_PACKS, FIRST = FIRST_WORD, LAST = LAST_WORD;
    static constexpr int ROWS = GROUP_ROWS, AHEAD = GROUPS_AHEAD, KEPT = KEPT_ROWS, UNROLL = UNROLLED;
    static constexpr int WORDS = V * (int)sizeof(T) / 4; /* of a pack */
    static constexpr int VEC = 16 / (int)sizeof(T), HALO = (PACKS * V + VEC - 1) / VEC * VEC;
    static constexpr int STAGES = 1 + AHEAD + (KEPT + ROWS - 1) / ROWS;
    typedef smp_pack<unsigned, WORDS> pack;
    typedef strip_loader<T, C, 32 * V, HALO, ROWS, STAGES> loader_type;
    typedef typename loader_type::rows_type rows_type;

    unsigned words[WORDS * (2 * PACKS + 1)] = {};

    SMP_DEVICE_MEMBER column_window(const T *from)
    {
#pragma unroll
        for (int i = 0; i < 2 * PACKS + 1; i++)
            if ((i + 1) * WORDS > FIRST && i * WORDS <= LAST)
                strip_words<FIRST, LAST>(words, i, reinterpret_cast<const pack *>(from) + i);
    }
};

/* The window of stencils that make 16 bytes of a row at a time. Where many rows are kept, more than one group ahead
 * would leave fewer warps an SM. */
template <typename T, int CHANNELS, int SIDE_PACKS, int FIRST, int LAST, int ROWS, int KEPT, int UNROLL>
using column_window16 =
    column_window<T, CHANNELS, 16 / (int)sizeof(T), SIDE_PACKS, FIRST, LAST, ROWS, KEPT ? 1 : 2, KEPT, UNROLL>;

/* Walks down the block's strip for a stencil of TALL rows, `up` of them above, that reads `reach` samples to a side. */
template <int TALL, typename ROW>
SMP_DEVICE void column_walk(const smp_io &io, int edge, int up, int reach, typename ROW::walk::rows_type &s, ROW &row)
{
    typedef typename ROW::walk walk;
    typedef typename walk::sample T;
    typedef typename ROW::out OUT;
    typedef typename walk::loader_type loader_type;
    constexpr int V = walk::V, ROWS = walk::ROWS, AHEAD = walk::AHEAD;
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    const int lane = (int)threadIdx.x, x0 = place.strip * 32 * V, x = x0 + V * lane;
    const int n = (int)stencil_samples(io.out);
    loader_type loader(s, io.in, x0, reach, edge);
    int inside = x >= n ? 0 : x + V > n ? n - x : V; /* of the lane's samples; the others are padding */
    inside = __shfl_sync(0xffffffffu, inside, lane); /* else nvcc computes it again for every row */
    const T *const window = s.first() + walk::HALO - walk::PACKS * V + V * lane;
    const int64_t top = io.out.y0 + place.begin;
    if (place.rows > 0) { /* always; without the test nvcc's code is slower */
        const int needed = place.rows + TALL - 1;
        const unsigned made = inside ? (unsigned)place.rows : 0; /* rows that this lane stores */
        const int groups = (needed + ROWS - 1) / ROWS;
        int stage = 0, next = 0, done = 1 - TALL; /* done: the output row that is complete */
        int kept = loader_type::RING - walk::KEPT * loader_type::PITCH;
        OUT *out = reinterpret_cast<OUT *>(static_cast<char *>(smp_row(&io.out, top)) - (TALL - 1) * io.out.stride) + x;
        row.begin();
        loader.begin(top - up, needed, groups);
#pragma unroll 1
        for (int k = -AHEAD; k < groups; k++) {
            if (!strip_iteration<AHEAD>(loader, k, groups, stage, next))
                continue;
#pragma unroll(walk::UNROLL)
            for (int q = 0; q < ROWS; q++) {
                const walk w(window + stage + q * loader_type::PITCH);
                row.add(w.words, window + kept, done > 0, q & 1);
                if ((unsigned)done < made) {
                    const typename ROW::pack result = row(window + kept, inside);
                    if (inside >= V)
                        row.count(V);
                    else
                        row.count(inside);
                    *reinterpret_cast<typename ROW::pack *>(out) = result;
                }
                out = reinterpret_cast<OUT *>(reinterpret_cast<char *>(out) + io.out.stride);
                done++;
                if (walk::KEPT > 0) {
                    kept += loader_type::PITCH;
                    kept = kept == loader_type::RING ? 0 : kept;
                }
            }
            stage = strip_next<loader_type>(stage);
        }
    }
}

#endif
