/* One warp's walk down its strip, row by row: what stencils have in common that keep what they need of earlier rows in
 * registers. */
#pragma once

#include "stencil/warp_strip.cuh"

typedef smp_pack<unsigned, 4> strip_pack;

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
 * words FIRST .. LAST. OUTGOING: how many rows ago a row came that is wanted again, or 0. */
template <typename T, int CHANNELS, int SIDE_PACKS, int GROUP_ROWS, int OUTGOING_ROWS = 0, int FIRST_WORD = 0,
          int LAST_WORD = 8 * SIDE_PACKS + 3, int UNROLLED = 2>
struct strip_walk {
    typedef T sample;
    static constexpr int C = CHANNELS, V = 16 / (int)sizeof(T), PACKS = SIDE_PACKS, ROWS = GROUP_ROWS;
    static constexpr int OUTGOING = OUTGOING_ROWS, FIRST = FIRST_WORD, LAST = LAST_WORD;
    static constexpr int UNROLL = UNROLLED;        /* rows, of short stencils */
    static constexpr int AHEAD = OUTGOING ? 1 : 2; /* groups under way: where many rows stay, more leave fewer warps */
    static constexpr int STAGES = 1 + AHEAD + (OUTGOING + ROWS - 1) / ROWS;
    typedef strip_loader<T, C, 32 * V, PACKS * V, ROWS, STAGES> loader_type;
    typedef typename loader_type::rows_type rows_type;
};
template <typename WALK> struct strip_window {
    unsigned words[4 * (2 * WALK::PACKS + 1)];
    SMP_DEVICE_MEMBER strip_window(const typename WALK::sample *from)
    {
#pragma unroll
        for (int i = 0; i < 2 * WALK::PACKS + 1; i++)
            if (4 * i + 3 >= WALK::FIRST && 4 * i <= WALK::LAST)
                strip_words<WALK::FIRST, WALK::LAST>(words, i,
                                                     reinterpret_cast<const strip_pack *>(from + i * WALK::V));
    }
};

/* Adds a row to its window and stores the output row that it completes, if any. With OUTGOING, the row that leaves
 * comes too, once there is one. */
template <typename WALK, typename ROW>
SMP_DEVICE void strip_take(strip_pack &result, ROW &row, const strip_window<WALK> &window,
                           const typename WALK::sample *outgoing, int done, int made, int turn)
{
    if constexpr (WALK::OUTGOING > 0) {
        if (done > 0) {
            const strip_window<WALK> old(outgoing);
            row.change(window.words, old.words);
        } else {
            row.add(window.words);
        }
        if ((unsigned)done < (unsigned)made)
            result = row();
    } else {
        (void)outgoing;
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

/* Walks down the block's strip, band by band, for stencils of TALL rows, `up` of them above; beside: samples that
 * they reach to a side. After row.begin(), row.add(words) gets the window of each row in turn, and row() says what the
 * output row that it completes is, if one is; row.count(n) is called when that is stored, n samples of it;
 * ROW::sample(pack, i) is one of them. A walk with OUTGOING calls row.change(words, outgoing) in place of add() where a
 * row came OUTGOING = TALL rows ago. */
template <typename WALK, int TALL, typename ROW>
SMP_DEVICE void column_walk(const smp_io &io, int edge, int up, int beside, typename WALK::rows_type &s, ROW &row)
{
    typedef typename WALK::sample T;
    typedef typename WALK::loader_type loader_type;
    constexpr int V = WALK::V, ROWS = WALK::ROWS, AHEAD = WALK::AHEAD;
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    const int lane = (int)threadIdx.x, x0 = place.strip * 32 * V, x = x0 + V * lane;
    const int n = (int)stencil_samples(io.out);
    loader_type loader(s, io.in, x0, beside, edge);
    int take = x >= n ? 0 : x + V > n ? n - x : V + 1;
    take = __shfl_sync(0xffffffffu, take, lane); /* else nvcc works it out for every row */
    T *const window = s.first() + V * lane;
    const int64_t top = io.out.y0 + place.begin;
    if (place.rows > 0) { /* always; measured with the question, which matters to nvcc in gaussian_warp.cuh */
        const int made = place.rows, need = made + TALL - 1;
        const int groups = (need + ROWS - 1) / ROWS;
        int stage = 0, next = 0, done = 1 - TALL; /* the output row that is complete */
        int outgoing = loader_type::RING - WALK::OUTGOING * loader_type::PITCH;
        T *out = reinterpret_cast<T *>(static_cast<char *>(smp_row(&io.out, top)) - (TALL - 1) * io.out.stride) + x;
        row.begin();
        loader.begin(top - up, need, groups);
#pragma unroll 1
        for (int k = -AHEAD; k < groups; k++) { /* the first turns only load ahead */
            if (!strip_turn<AHEAD>(loader, k, groups, stage, next))
                continue;
#pragma unroll(TALL > 3 ? 1 : WALK::UNROLL)
            for (int q = 0; q < ROWS; q++) {
                const T *const line = window + stage + q * loader_type::PITCH;
                strip_pack result;
                strip_take<WALK>(result, row, strip_window<WALK>(line), window + outgoing, done, made, q & 1);
                if ((unsigned)done < (unsigned)made) /* what waits in vain is not stored */
                    strip_store(row, out, result, take);
                out = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + io.out.stride);
                done++;
                if (WALK::OUTGOING > 0) {
                    outgoing += loader_type::PITCH;
                    outgoing = outgoing == loader_type::RING ? 0 : outgoing;
                }
            }
            stage = strip_next<loader_type>(stage);
        }
    }
}
