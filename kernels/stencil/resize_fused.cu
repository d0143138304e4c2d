/* resize by whole steps of 2 and 4 on GPUs, both passes in one launch: no picture lies between them.
 *   fused   A block has as many warps as there are channels, and walks down SMP_RESIZE_FUSED_PIXELS columns of the
 *           input. Two rows of it at a time become floats in shared memory, a plane a channel. A lane makes eight or
 *           four neighbouring results of the row pass from 16 samples and their surroundings, so that a sample that it
 *           reads serves as many of them as its filter covers, and adds them at once to the sums of all output rows
 *           that the input row counts for. These sums stay in registers; the oldest is finished every `ratio` rows.
 *           The next rows are under way meanwhile. Weights are the same for all outputs but those at the borders, and
 *           come with the parameters, where an FFMA reads them. Lanes read 16 bytes 64 bytes apart: an unused word of
 *           16 bytes after each such piece makes their distance odd, and no bank conflicts. */
#include "stencil/resize.h"

#include "stencil/stencil.cuh"

enum { RESIZE_ROWS = SMP_RESIZE_FUSED_ROWS };

/* The shape of the work: a step of Q, filters of L steps. */
template <int Q, int L> struct resize_shape {
    static constexpr int taps = Q * L, before = (taps - Q) / 2;
    static constexpr int each = SMP_RESIZE_FUSED_PIXELS / 32 / Q; /* results of a row that a lane makes */
    static constexpr int across = 32 * each;
    static constexpr int lead = smp_resize_planes_of(Q, L).lead, from = smp_resize_planes_of(Q, L).from;
    static constexpr int piece = smp_resize_planes_of(Q, L).piece, reads = smp_resize_planes_of(Q, L).reads;
    static constexpr int units = smp_resize_planes_of(Q, L).units, plane = smp_resize_planes_of(Q, L).pitch;
    static SMP_DEVICE_MEMBER constexpr int at(int unit) { return unit + unit / piece; }
};

/* One unit of C channels as it lies in device memory. */
template <typename IN, int C> struct resize_unit {
    static constexpr int words = (int)sizeof(IN) * C;
    uint32_t v[words];

    SMP_DEVICE_MEMBER void load(const char *at)
    {
        typedef smp_pack<uint32_t, sizeof(IN) == 4 ? 4 : 1> pack;
        constexpr int each = (int)sizeof(pack) / 4;
#pragma unroll
        for (int i = 0; i < words / each; i++) {
            const pack some = reinterpret_cast<const pack *>(at)[i];
#pragma unroll
            for (int k = 0; k < each; k++)
                v[i * each + k] = some.v[k];
        }
    }
    /* The same beside a border. left: bytes of the row from there on; words that begin past them are not read. */
    SMP_DEVICE_MEMBER void load_until(const char *at, int64_t left)
    {
#pragma unroll
        for (int i = 0; i < words; i++)
            v[i] = 4 * i < left ? reinterpret_cast<const uint32_t *>(at)[i] : 0;
    }
    SMP_DEVICE_MEMBER float sample(int pixel, int channel) const
    {
        constexpr int each = 4 / (int)sizeof(IN);
        const int i = pixel * C + channel;
        uint32_t magic = 0x4b000000u; /* 2^23, to whose low byte a byte is added; in a register: permutes take one
                                         constant, which is the selector */
        smp_opaque(magic);
        return sizeof(IN) == 1 ? __uint_as_float(__byte_perm(v[i / each], magic, 0x7440u + i % each)) - 8388608.f
                               : smp_from_bits(v[i / each]);
    }
    /* To its place in the planes of a row. */
    SMP_DEVICE_MEMBER void keep(stencil_float4 *to, int plane) const
    {
#pragma unroll
        for (int c = 0; c < C; c++) {
            stencil_float4 four;
#pragma unroll
            for (int k = 0; k < 4; k++)
                four.v[k] = sample(k, c);
            to[c * plane] = four;
        }
    }
};

/* The units of two rows that a thread brings: half a block a row. AHEAD: those of the next rows fit its registers while
 * it computes. */
template <typename IN, int C, int Q, int L> struct resize_units {
    typedef resize_shape<Q, L> shape;
    static constexpr int step = 32 * C / RESIZE_ROWS, times = (shape::units + step - 1) / step;
    static constexpr int size = 4 * C * (int)sizeof(IN);
    static constexpr bool AHEAD = times * resize_unit<IN, C>::words <= 20;
    static constexpr int batch = AHEAD ? times : sizeof(IN) == 1 ? 6 : 3;
    static_assert(Q != 4 || shape::from < 4, "resize_mend");
    static_assert(step % shape::piece == 0, "units of a thread lie a constant apart");
    resize_unit<IN, C> units[batch];
    int row, unit;

    SMP_DEVICE_MEMBER void begin()
    {
        const int lane = (int)(threadIdx.x + 32 * threadIdx.y);
        row = lane / step;
        unit = lane - row * step;
        if (shape::piece == 4 && unit / 32 * 32 + 32 <= step)
            unit = unit / 32 * 32 + spread(unit % 32);
    }
    /* Returns thread i's unit of 32 that lie in 40 places, each fifth unused, such that eight threads, which store
     * together, have places of all eight remainders. Remainder r is that of an unused place once, the skipped one. */
    static SMP_DEVICE_MEMBER int spread(int i)
    {
        const int r = i % 8, turn = i / 8, skipped = (28 - 2 * r) % 5, place = r + 8 * (turn + (turn >= skipped));
        return place - place / 5;
    }
    SMP_DEVICE_MEMBER bool has(int i) const { return (i + 1) * step <= shape::units || unit + i * step < shape::units; }
    /* Units `first` on, of rows y and y + 1. What lies left or right of the picture becomes 0, what lies above or below
     * the rows that are there its next one: neither is used. inside: the block's columns are all there. */
    SMP_DEVICE_MEMBER void load(const smp_io &io, int y, int64_t left, bool inside, int first)
    {
        const int begin = (int)io.in.y0, end = begin + (int)io.in.rows - 1;
        y += row;
        y = y < end ? y : end;
        y = y < begin ? begin : y;
        const int64_t at = (left + 4 * unit) * C * (int64_t)sizeof(IN);
        const char *from = static_cast<const char *>(smp_row(&io.in, y)) + at;
        if (inside) {
#pragma unroll
            for (int b = 0; b < batch && first + b < times; b++)
                if (has(first + b))
                    units[b].load(from + (first + b) * (step * size));
            return;
        }
        const int64_t bytes = stencil_samples(io.in) * (int64_t)sizeof(IN);
#pragma unroll
        for (int b = 0; b < batch && first + b < times; b++) {
            const int64_t from_row = at + (first + b) * (step * size);
            if (has(first + b))
                units[b].load_until(from + (first + b) * (step * size), from_row < 0 ? 0 : bytes - from_row);
        }
    }
    SMP_DEVICE_MEMBER void keep(stencil_float4 *s, int first) const
    {
        stencil_float4 *const to = s + row * C * shape::plane + shape::at(unit);
#pragma unroll
        for (int b = 0; b < batch && first + b < times; b++)
            if (has(first + b))
                units[b].keep(to + shape::at((first + b) * step), shape::plane);
    }
};

/* A lane's results of the row pass, as if no border were near. s: its first unit. */
template <int Q, int L>
SMP_DEVICE void resize_across(const smp_resize &p, const stencil_float4 *s, float (&v)[resize_shape<Q, L>::each])
{
    typedef resize_shape<Q, L> shape;
#pragma unroll
    for (int k = 0; k < shape::each; k++)
        v[k] = 0.f;
#pragma unroll
    for (int u = 0; u < shape::reads; u++) {
        const stencil_float4 four = s[shape::at(u)];
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int k = 0; k < shape::each; k++) {
                const int tap = 4 * u + i - shape::from - Q * k;
                if (tap >= 0 && tap < shape::taps)
                    v[k] = fmaf(p.fused.weight[tap], four.v[i], v[k]);
            }
    }
}

/* Outputs whose filter is cut off, L / 2 at either end of a row: the one that lane j makes, counted from the block's
 * first. */
template <int L> SMP_DEVICE int64_t resize_cut(const smp_io &io, int j, int64_t x0)
{
    return (j < L / 2 ? j : io.out.width - L + j) - x0;
}

/* Their weights to shared memory, so that no row waits for device memory: tap by tap, those of neighbouring lanes side
 * by side. A tap outside the picture weighs -0: its sample is at least 0, and a sum with -0 stays what it is. */
template <int C, int Q, int L> SMP_DEVICE void resize_cut_weights(const smp_io &io, const smp_resize &p, float *to)
{
    typedef resize_shape<Q, L> shape;
#pragma unroll 1
    for (int i = (int)(threadIdx.x + 32 * threadIdx.y); i < shape::taps * L; i += 32 * C) {
        const int64_t x = resize_cut<L>(io, i % L, 0);
        const smp_resize_taps taps = smp_resize_taps_of(&p.across, io.table, x);
        const int64_t k = x * Q - shape::before + i / L - taps.first;
        smp_converge();
        to[i] = k >= 0 && k < taps.count ? smp_resize_weight(taps.weight + k) : -0.f;
    }
}

/* Replaces results by those of lanes 0 .. L - 1, which make one cut-off output each. s: the plane. */
template <int Q, int L>
SMP_DEVICE void resize_mend(const smp_io &io, const stencil_float4 *s, const float *weights, int64_t x0,
                            float (&v)[resize_shape<Q, L>::each])
{
    typedef resize_shape<Q, L> shape;
    const int lane = (int)threadIdx.x;
    const int64_t mine = resize_cut<L>(io, lane, x0);
    float made = 0.f;
    if (lane < L && mine >= 0 && mine < shape::across) {
        /* Taps are places off .. off + taps - 1 of the units from the first on; off is `low` or `high`. */
        constexpr int low = Q == 4 ? shape::from : 1, high = Q == 4 ? low : 3, end = high + shape::taps;
        const int from = (int)mine * Q + shape::from, off = low == high ? low : from % 4;
        const float *w = weights + lane - off * L;
#pragma unroll
        for (int u = 0; 4 * u < end; u++) {
            const stencil_float4 four = s[shape::at(from / 4 + u)];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int place = 4 * u + i;
                if (place < low || place >= end)
                    continue;
                if ((place >= high || place >= off) && (place < low + shape::taps || place < off + shape::taps))
                    made = fmaf(w[place * L], four.v[i], made);
            }
        }
    }
    const int first = shape::each * lane, end = (int)(io.out.width - x0), right = end - L / 2;
    const int most = x0 ? 0 : L / 2; /* of them cut off on the left */
#pragma unroll
    for (int k = 0; k < shape::each; k++) {
        const int x = first + k;
        const bool cut = x < most || (x >= right && x < end);
        const float theirs = __shfl_sync(0xffffffffu, made, cut ? (x < most ? x : x - right + L / 2) : 0);
        v[k] = cut ? theirs : v[k];
    }
}

/* The sum of the output row after that of sum[f]: what sum[f] becomes when the first row is finished. */
template <int L, int EACH> SMP_DEVICE float resize_next(const float (&sum)[L][EACH], int f, int k)
{
    return f + 1 < L ? sum[f + 1 < L ? f + 1 : f][k] : 0.f;
}

/* Finished results of a lane to the block's row of the output, in shared memory. */
template <typename OUT, int C, int EACH>
SMP_DEVICE void resize_keep(const smp_io &io, OUT *s, const float (&sum)[EACH], int64_t left, unsigned *clipped)
{
    const int first = EACH * (int)threadIdx.x, c = (int)threadIdx.y;
    constexpr int each = EACH * sizeof(OUT) < 16 ? EACH : (int)(16 / sizeof(OUT));
    smp_pack<OUT, each> pack;
    if (sizeof(OUT) == 1 && io.clipped) {
        bool any = false; /* more than 1/2 from what a byte holds, which is exact; seldom */
#pragma unroll
        for (int k = 0; k < EACH; k++)
            any |= !(fabsf(sum[k] - fminf(fmaxf(sum[k], 0.f), 255.f)) <= 0.5f);
        if (any) {
#pragma unroll
            for (int k = 0; k < EACH; k++)
                *clipped += left + first + k < io.out.width ? smp_clipped<OUT>(sum[k]) : 0;
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const OUT v = smp_rounded<OUT>(sizeof(OUT) == 1 ? sum[k] : smp_one_nan(sum[k]));
        if (C > 1)
            s[(first + k) * C + c] = v;
        else
            pack.v[k % each] = v;
        if (C == 1 && k % each == each - 1)
            *reinterpret_cast<decltype(pack) *>(s + first + k - (each - 1)) = pack;
    }
}

/* The block's row to device memory, 16 bytes an access. */
template <typename OUT, int C, int ACROSS>
SMP_DEVICE void resize_send(const smp_io &io, const OUT *s, int64_t y, int64_t left)
{
    typedef smp_pack<uint32_t, 4> word;
    const int64_t size = stencil_samples(io.out) * (int64_t)sizeof(OUT), at = left * C * (int64_t)sizeof(OUT);
    constexpr int most = ACROSS * C * (int)sizeof(OUT) / 16;
    const int words = size - at < 16 * most ? (int)((size - at + 15) / 16) : most;
    word *to = reinterpret_cast<word *>(smp_out<OUT>(io.out, y) + left * C);
#pragma unroll 1
    for (int i = (int)(threadIdx.x + 32 * threadIdx.y); i < words; i += 32 * C)
        to[i] = reinterpret_cast<const word *>(s)[i];
}

/* Row r of the rows that output i's filter begins with, to the sums of outputs i - L + 1 .. i. v: its results of the
 * row pass. With the first row sums move on: the oldest was finished. */
template <int Q, int L>
SMP_DEVICE void resize_down(const smp_io &io, const smp_resize &p, int i, int r, bool even,
                            float (&v)[resize_shape<Q, L>::each], float (&sum)[L][resize_shape<Q, L>::each])
{
    typedef resize_shape<Q, L> shape;
    if (even) {
#pragma unroll
        for (int f = 0; f < L; f++)
#pragma unroll
            for (int k = 0; k < shape::each; k++)
                sum[f][k] = fmaf(p.fused.weight[(L - 1 - f) * Q + r], v[k], r ? sum[f][k] : resize_next(sum, f, k));
        return;
    }
    const float *weight = static_cast<const float *>(io.table) + p.fused.weights + (int64_t)(i * Q + r) * L;
    const int y = i * Q - shape::before + r;
    if (y < 0 || y >= (int)io.in.height) {
#pragma unroll
        for (int k = 0; k < shape::each; k++)
            v[k] = -0.f; /* leaves a sum as it is, with the weight 0 that the table has for it */
    }
#pragma unroll
    for (int f = 0; f < L; f++) {
        const float w = weight[f];
#pragma unroll
        for (int k = 0; k < shape::each; k++)
            sum[f][k] = fmaf(w, v[k], r ? sum[f][k] : resize_next(sum, f, k));
    }
}

template <typename T, int C, int Q, int L>
SMP_DEVICE void resize_walk(const smp_io &io, const smp_resize &p, stencil_float4 *s, unsigned *clipped)
{
    typedef resize_shape<Q, L> shape;
    typedef resize_units<T, C, Q, L> brought;
    T *const made = reinterpret_cast<T *>(s + RESIZE_ROWS * C * shape::plane);
    float *const cut = reinterpret_cast<float *>(made + shape::across * C);
    /* the strips with borders take longest and begin first */
    const unsigned strip = blockIdx.x == 1 ? gridDim.x - 1 : blockIdx.x ? blockIdx.x - 1 : 0;
    const int64_t x0 = (int64_t)strip * shape::across, left = x0 * Q - shape::lead;
    const int begin = (int)io.out.y0, end = begin + (int)io.out.rows, down = (int)io.strips.tall;
    const bool inside = left >= 0 && left + 4 * shape::units <= io.in.width;
    brought rows;
    rows.begin();
    if (!inside)
        resize_cut_weights<C, Q, L>(io, p, cut);
    for (int top = begin + (int)blockIdx.y * down; top < end; top += (int)gridDim.y * down) {
        const int below = end - top < down ? end : top + down;
        float sum[L][shape::each] = {};
        if (brought::AHEAD)
            rows.load(io, top * Q - shape::before, left, inside, 0);
#pragma unroll 1
        for (int i = top; i < below + L - 1; i++) { /* i: the last output that begins with these rows */
            const bool even =
                i - (L - 1) >= L / 2 && i < (int)io.out.height - L / 2; /* none of their outputs is cut off */
#pragma unroll
            for (int pair = 0; pair < Q; pair += RESIZE_ROWS) {
                const int y = i * Q - shape::before + pair;
                __syncthreads();
                if (pair == 0 && i - L >= top) /* what the iteration before finished */
                    resize_send<T, C, shape::across>(io, made, i - L, x0);
#pragma unroll
                for (int first = 0; first < brought::times; first += brought::batch) {
                    if (!brought::AHEAD)
                        rows.load(io, y, left, inside, first);
                    rows.keep(s, first);
                }
                __syncthreads();
                if (brought::AHEAD)
                    rows.load(io, y + RESIZE_ROWS, left, inside, 0);
#pragma unroll
                for (int r = 0; r < RESIZE_ROWS; r++) {
                    const stencil_float4 *plane = s + (r * C + (int)threadIdx.y) * shape::plane;
                    float v[shape::each];
                    resize_across<Q, L>(p, plane + (shape::piece + 1) * (int)threadIdx.x, v);
                    if (!inside)
                        resize_mend<Q, L>(io, plane, cut, x0, v);
                    resize_down<Q, L>(io, p, i, pair + r, even, v, sum);
                }
            }
            if (i - (L - 1) >= top)
                resize_keep<T, C>(io, made, sum[0], x0, clipped);
        }
        __syncthreads();
        resize_send<T, C, shape::across>(io, made, below - 1, x0);
    }
}

template <typename T, int Q, int L> SMP_DEVICE void resize_fused(const smp_io &io, const smp_resize &p)
{
    SMP_SMEM_DYNAMIC(stencil_float4, s);
    unsigned clipped = 0;
    if (io.in.channels == 1)
        resize_walk<T, 1, Q, L>(io, p, s, &clipped);
    else if (io.in.channels == 3)
        resize_walk<T, 3, Q, L>(io, p, s, &clipped);
    else if (sizeof(T) == 4)
        resize_walk<T, sizeof(T) == 4 ? 4 : 3, Q, L>(io, p, s, &clipped);
    smp_count_clipped<T>(io, clipped);
}
#define RESIZE_FUSED(Q, L, format, T, threads, blocks)                                                                 \
    SMP_KERNEL_BOUNDS(threads, blocks, resize_fused##Q##_##L##_##format##_##format, smp_resize, io, p)                 \
    {                                                                                                                  \
        resize_fused<T, Q, L>(io, p);                                                                                  \
    }
#define RESIZE_BOTH(Q, L)                                                                                              \
    RESIZE_FUSED(Q, L, u8, uint8_t, 96, SMP_RESIZE_FUSED_WARPS_U8 / 3)                                                 \
    RESIZE_FUSED(Q, L, f32, float, 128, SMP_RESIZE_FUSED_WARPS / 4)
RESIZE_BOTH(2, 6)
RESIZE_BOTH(2, 4)
RESIZE_BOTH(2, 2)
RESIZE_BOTH(4, 6)
RESIZE_BOTH(4, 4)
RESIZE_BOTH(4, 2)
