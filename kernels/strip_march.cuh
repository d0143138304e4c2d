/* One warp's march down its strip, row by row: what stencils have in common that keep what they need of earlier rows in
 * registers. */
#ifndef SMP_KERNELS_STRIP_MARCH_CUH
#define SMP_KERNELS_STRIP_MARCH_CUH

#include "strip_odd.cuh"

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

/* N words from `shift` bytes behind the place that `from`, a multiple of four, points at. */
template <int N> SMP_DEVICE void strip_words_shifted(unsigned *words, const uint8_t *from, int shift)
{
    const unsigned *const in = reinterpret_cast<const unsigned *>(from + (shift & ~3));
    unsigned word = in[0];
#pragma unroll
    for (int i = 0; i < N; i++) {
        const unsigned next = in[i + 1];
        words[i] = __funnelshift_r(word, next, 8 * (unsigned)shift);
        word = next;
    }
}

/* The same of larger samples, of one shift for all lanes: read 16 bytes at a time, from the piece in which it begins,
 * by a branch that all lanes take alike. Words that lie apart by a lane's 16 bytes take four wavefronts each. */
template <int FIRST, int N> SMP_DEVICE void strip_words_behind(unsigned *words, const strip_pack *from, unsigned bits)
{
    unsigned all[(FIRST + N) / 4 * 4 + 4];
#pragma unroll
    for (int i = 0; i <= (FIRST + N) / 4; i++)
        strip_words<FIRST, FIRST + N>(all, i, from + i);
#pragma unroll
    for (int i = 0; i < N; i++)
        words[i] = __funnelshift_r(all[FIRST + i], all[FIRST + i + 1], bits);
}
template <int N> SMP_DEVICE void strip_words_picked(unsigned *words, const uint8_t *from, int shift)
{
    const strip_pack *const in = reinterpret_cast<const strip_pack *>(from + (shift & ~15));
    const unsigned bits = 8 * (unsigned)shift;
    if (shift & 8)
        shift & 4 ? strip_words_behind<3, N>(words, in, bits) : strip_words_behind<2, N>(words, in, bits);
    else
        shift & 4 ? strip_words_behind<1, N>(words, in, bits) : strip_words_behind<0, N>(words, in, bits);
}

/* How far behind its place each row of a group begins, if it is one of strip_lines_loader. */
template <bool SHIFTED> struct strip_shift {
    unsigned past, step;

    template <typename LOADER> SMP_MEMBER void begin(const LOADER &loader, int64_t y, int stage)
    {
        past = loader.past_of(y, stage);
        step = loader.step;
    }
    SMP_MEMBER int next()
    {
        const unsigned now = past;
        past += step;
        return (int)(now % STRIP_ALIKE);
    }
};
template <> struct strip_shift<false> {
    template <typename LOADER> SMP_MEMBER void begin(const LOADER &, int64_t, int) {}
};

/* A lane makes 16 bytes of every output row, V samples, from PACKS such packs on either side beside its own: of these
 * words FIRST .. LAST. LATE: how many rows ago a row came that is wanted again, or 0. */
template <typename T, int CHANNELS, int SIDE_PACKS, int GROUP_ROWS, int LATE_ROWS = 0, int FIRST_WORD = 0,
          int LAST_WORD = 8 * SIDE_PACKS + 3, int UNROLLED = 2, bool OVERLAPPING = false>
struct strip_walk {
    typedef T sample;
    static constexpr int C = CHANNELS, V = 16 / (int)sizeof(T), PACKS = SIDE_PACKS, ROWS = GROUP_ROWS;
    static constexpr int LATE = LATE_ROWS, FIRST = FIRST_WORD, LAST = LAST_WORD;
    static constexpr int UNROLL = UNROLLED;       /* rows, of short stencils */
    static constexpr bool OVERLAPS = OVERLAPPING; /* whether strips of rows that begin anywhere do (strip_odd.cuh) */
    static constexpr int AHEAD = LATE ? 1 : 2;    /* groups under way: where many rows stay, more leave fewer warps */
    static constexpr int STAGES = 1 + AHEAD + (LATE + ROWS - 1) / ROWS;
    /* Rows of bytes that begin anywhere are read where they came; with LATE, whose rows are read twice, moved once. */
    static constexpr bool SHIFTED = sizeof(T) == 1 && !LATE;
    static constexpr int REACH =
        PACKS * V - 4 * FIRST / (int)sizeof(T); /* samples beside a lane's own, of whole words */
    typedef strip_loader<T, C, 32 * V, PACKS * V, ROWS, STAGES> loader_type;
    typedef typename strip_odd_loader<T, C, 32 * V, PACKS * V, ROWS, STAGES, SHIFTED ? REACH : 0>::type odd_type;
    typedef typename loader_type::rows_type rows_type;
};
template <typename WALK> struct strip_window {
    unsigned words[4 * (2 * WALK::PACKS + 1)];
    SMP_MEMBER strip_window(const typename WALK::sample *from)
    {
#pragma unroll
        for (int i = 0; i < 2 * WALK::PACKS + 1; i++)
            if (4 * i + 3 >= WALK::FIRST && 4 * i <= WALK::LAST)
                strip_words<WALK::FIRST, WALK::LAST>(words, i,
                                                     reinterpret_cast<const strip_pack *>(from + i * WALK::V));
    }
    /* Of a row that lies `shift` bytes behind `from`. */
    SMP_MEMBER strip_window(const typename WALK::sample *from, int shift)
    {
        strip_words_shifted<WALK::LAST - WALK::FIRST + 1>(words + WALK::FIRST, from, shift);
    }
};

/* What a row makes of its window: the output row that it completes, if it completes one. With LATE, the row that leaves
 * comes too, once there is one. */
template <typename WALK, bool ALWAYS, typename ROW>
SMP_DEVICE void strip_take(strip_pack &result, ROW &row, const strip_window<WALK> &window,
                           const typename WALK::sample *late, int done, int made, int turn)
{
    if constexpr (WALK::LATE > 0) {
        if (done > 0) {
            const strip_window<WALK> gone(late);
            row.change(window.words, gone.words);
        } else {
            row.add(window.words);
        }
        if ((unsigned)done < (unsigned)made)
            result = row();
    } else {
        (void)late;
        row.add(window.words, turn);
        if (ALWAYS || (unsigned)done < (unsigned)made)
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

/* Marches down the block's strip, band by band, for stencils of TALL rows, `up` of them above; beside: samples that
 * they reach to a side. After row.begin(), row.add(words) gets the window of each row in turn, and row() says what the
 * output row that it completes is, if one is; row.count(n) is called when that is stored, n samples of it;
 * ROW::sample(pack, i) is one of them. A walk with LATE calls row.change(words, gone) in place of add() where a row
 * came LATE = TALL rows ago. */
template <typename WALK, int TALL, typename loader_type, typename ROW>
SMP_DEVICE void strip_march_by(const smp_io &io, int edge, int up, int beside, typename WALK::rows_type &s, ROW &row)
{
    typedef typename WALK::sample T;
    constexpr int V = WALK::V, ROWS = WALK::ROWS, AHEAD = WALK::AHEAD;
    constexpr bool ODD = loader_type::ODD, SHIFTED = ODD && WALK::SHIFTED;
    const smp_strip_place place = smp_strip_place_of(&io.strips, io.out.rows, blockIdx.x);
    constexpr bool OVERLAPS = ODD && WALK::OVERLAPS;
    static_assert(!OVERLAPS || sizeof(T) == 4, "what is shared would be counted twice; floats have no counts");
    const int step = OVERLAPS ? (int)io.strips.step : 32 * V;
    const int lane = (int)threadIdx.x, x0 = place.strip * step, x = x0 + V * lane;
    const int n = (int)stencil_samples(io.out);
    loader_type loader(s, io.in, x0, beside, edge);
    const bool aligned = ((uintptr_t)io.out.data | (uintptr_t)io.out.stride) % 16 == 0;
    int take = x >= n ? 0 : x + V > n ? n - x : V + (int)(aligned && !ODD);
    take = __shfl_sync(0xffffffffu, take, lane); /* else nvcc works it out for every row */
    const bool straight = OVERLAPS && strip_stores_straight(step, 32 * V, x0, n);
    T *const window = s.first() + V * lane;
    const int64_t top = io.out.y0 + place.begin;
    if (place.rows > 0) { /* always; measured with the question, which matters to nvcc in bell_warp.cuh */
        const int made = place.rows, need = made + TALL - 1;
        const int groups = (need + ROWS - 1) / ROWS;
        int stage = 0, next = 0, done = 1 - TALL; /* the output row that is complete */
        int late = loader_type::RING - WALK::LATE * loader_type::PITCH;
        T *out = reinterpret_cast<T *>(static_cast<char *>(smp_row(&io.out, top)) - (TALL - 1) * io.out.stride) +
                 (ODD ? x0 : x);
        row.begin();
        loader.begin(top - up, need, groups);
#pragma unroll 1
        for (int k = -AHEAD; k < groups; k++) { /* the first turns only load ahead */
            if (!strip_turn<AHEAD>(loader, k, groups, stage, next))
                continue;
            strip_shift<SHIFTED> shift;
            shift.begin(loader, top - up + k * ROWS, stage);
#pragma unroll(TALL > 3 ? 1 : ODD ? 2 : WALK::UNROLL)
            for (int q = 0; q < ROWS; q++) {
                const int at = stage + q * loader_type::PITCH;
                const T *const line = window + at;
                strip_pack result;
                if constexpr (SHIFTED) {
                    const strip_window<WALK> words(loader.first + V * lane + at, shift.next());
                    strip_take<WALK, true>(result, row, words, line, done, made, q & 1);
                } else {
                    strip_take<WALK, false>(result, row, strip_window<WALK>(line), window + late, done, made, q & 1);
                }
                if (SHIFTED || (unsigned)done < (unsigned)made) { /* what waits in vain is not stored */
                    if (OVERLAPS && straight) {
                        strip_store_piece<T>(result.v, reinterpret_cast<char *>(out + V * lane), true);
                    } else if constexpr (ODD) {
                        if (!SHIFTED || (unsigned)done < (unsigned)made)
                            row.count(take);
                        __syncwarp(); /* until others have read this row */
                        *reinterpret_cast<strip_pack *>(window + WALK::PACKS * V +
                                                        (WALK::LATE > 0 ? late : stage + q * loader_type::PITCH)) =
                            result;
                    } else {
                        strip_store(row, out, result, take);
                    }
                }
                if (!ODD || straight)
                    out = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + io.out.stride);
                done++;
                if (WALK::LATE > 0) {
                    late += loader_type::PITCH;
                    late = late == loader_type::RING ? 0 : late;
                }
            }
            if constexpr (ODD)
                if (!straight) {
                    strip_flush_group<32 * V, ROWS, (WALK::LATE > 0), loader_type>(
                        s.first() + WALK::PACKS * V, stage, late, out, io.out.stride, done - ROWS, made, n - x0);
                    out = reinterpret_cast<T *>(reinterpret_cast<char *>(out) + ROWS * io.out.stride);
                }
            stage = strip_next<loader_type>(stage);
        }
    }
}
template <typename WALK, int TALL, strip_kernels KERNELS = STRIP_BOTH, typename ROW>
SMP_DEVICE void strip_march(const smp_io &io, int edge, int up, int beside, typename WALK::rows_type &s, ROW &row)
{
    if constexpr (strip_has_odd(WALK::C) && KERNELS != STRIP_EVEN)
        if (KERNELS == STRIP_LOOSE || !smp_rows_even(&io)) {
            strip_march_by<WALK, TALL, typename WALK::odd_type>(io, edge, up, beside, s, row);
            return;
        }
    if constexpr (KERNELS != STRIP_LOOSE)
        strip_march_by<WALK, TALL, typename WALK::loader_type>(io, edge, up, beside, s, row);
}

#endif
