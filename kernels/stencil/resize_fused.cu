/* resize by whole steps of 2 and 4 on GPUs, both passes in one launch: no picture lies between them.
 *   fused   A block has as many warps as there are channels, and walks down SMP_RESIZE_FUSED_ACROSS columns of the
 *           output. Two rows of the input at a time become floats in shared memory, a plane a channel. A lane makes
 *           eight neighbouring results of the row pass from them, so that a sample that it reads serves as many of them
 *           as its filter covers, and adds them at once to the sums of all output rows that the input row counts for.
 *           These sums stay in registers; the oldest is finished every `ratio` rows. The next rows are under way
 *           meanwhile. Weights of the row pass are the same for all outputs but those at the borders, and come with
 *           the parameters, where an FFMA reads them. Lanes read 16 bytes `ratio` times 32 bytes apart: an unused word
 *           of 16 bytes after each such piece makes their distance odd, and no bank conflicts. */
#include "stencil/resize.h"

#include "stencil/stencil.cuh"

enum { RESIZE_EACH = SMP_RESIZE_FUSED_EACH, RESIZE_ROWS = SMP_RESIZE_FUSED_ROWS };

/* The shape of the work: a step of Q, filters of L steps. */
template <int Q, int L> struct resize_shape {
    static constexpr int taps = Q * L, before = (taps - Q) / 2;
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
        const uint32_t bits = v[i / each] >> 32 / each * (i % each) % 32;
        return sizeof(IN) == 1 ? (float)(bits & 255) : smp_from_bits(bits); /* of 32 bits: the quicker conversion */
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
    /* Of 32 units that lie in 40 places, each fifth unused: the one of thread i, such that eight threads, which store
     * together, have places of all eight remainders. Remainder r is that of an unused place once, the skipped one. */
    static SMP_DEVICE_MEMBER int spread(int i)
    {
        const int r = i % 8, turn = i / 8, skipped = (28 - 2 * r) % 5, place = r + 8 * (turn + (turn >= skipped));
        return place - place / 5;
    }
    SMP_DEVICE_MEMBER bool has(int i) const { return (i + 1) * step <= shape::units || unit + i * step < shape::units; }
    /* Units `first` on, of rows y and y + 1. What lies left or right of the picture becomes 0, what lies above or below
     * the rows that are there its next one: neither is used. inside: the block's columns are all there. */
    SMP_DEVICE_MEMBER void load(const smp_io &io, int64_t y, int64_t left, bool inside, int first)
    {
        y += row;
        const int64_t end = io.in.y0 + io.in.rows - 1;
        y = y < io.in.y0 ? io.in.y0 : y < end ? y : end;
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
SMP_DEVICE void resize_across(const smp_resize &p, const stencil_float4 *s, float (&v)[RESIZE_EACH])
{
    typedef resize_shape<Q, L> shape;
#pragma unroll
    for (int k = 0; k < RESIZE_EACH; k++)
        v[k] = 0.f;
#pragma unroll
    for (int u = 0; u < shape::reads; u++) {
        const stencil_float4 four = s[shape::at(u)];
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int k = 0; k < RESIZE_EACH; k++) {
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
 * by side. */
template <int C, int Q, int L> SMP_DEVICE void resize_cut_weights(const smp_io &io, const smp_resize &p, float *to)
{
    typedef resize_shape<Q, L> shape;
#pragma unroll 1
    for (int i = (int)(threadIdx.x + 32 * threadIdx.y); i < shape::taps * L; i += 32 * C) {
        const int64_t x = resize_cut<L>(io, i % L, 0);
        const smp_resize_taps taps = smp_resize_taps_of(&p.across, io.table, x);
        const int64_t k = x * Q - shape::before + i / L - taps.first;
        smp_converge();
        to[i] = k >= 0 && k < taps.count ? smp_resize_weight(taps.weight + k) : 0.f;
    }
}

/* Replaces results by those of lanes 0 .. L - 1, which make one cut-off output each. s: the plane. */
template <int Q, int L>
SMP_DEVICE void resize_mend(const smp_io &io, const stencil_float4 *s, const float *weights, int64_t x0,
                            float (&v)[RESIZE_EACH])
{
    typedef resize_shape<Q, L> shape;
    constexpr int some = shape::taps % 12 ? 4 : 12;
    const float *plane = reinterpret_cast<const float *>(s);
    const int lane = (int)threadIdx.x;
    const int64_t mine = resize_cut<L>(io, lane, x0), before = (x0 + mine) * Q - shape::before;
    float made = 0.f;
    if (lane < L && mine >= 0 && mine < SMP_RESIZE_FUSED_ACROSS) {
        const int from = (int)mine * Q + shape::from;
#pragma unroll 1
        for (int first = 0; first < shape::taps; first += some) {
            smp_converge();
#pragma unroll
            for (int k = first; k < first + some; k++) {
                const int i = from + k;
                const float next = fmaf(weights[k * L + lane], plane[4 * shape::at(i / 4) + i % 4], made);
                made = before + k >= 0 && before + k < io.in.width ? next : made;
            }
        }
    }
    const int64_t right = io.out.width - L / 2;
#pragma unroll
    for (int k = 0; k < RESIZE_EACH; k++) {
        const int64_t x = x0 + RESIZE_EACH * lane + k;
        const bool cut = x < L / 2 || (x >= right && x < io.out.width);
        const float theirs = __shfl_sync(0xffffffffu, made, cut ? (int)(x < L / 2 ? x : x - right + L / 2) : 0);
        v[k] = cut ? theirs : v[k];
    }
}

/* The sum of the output row after that of sum[f]: what sum[f] becomes when the first row is finished. */
template <int L> SMP_DEVICE float resize_next(const float (&sum)[L][RESIZE_EACH], int f, int k)
{
    return f + 1 < L ? sum[f + 1 < L ? f + 1 : f][k] : 0.f;
}

/* Finished results of a lane to the block's row of the output, in shared memory. */
template <typename OUT, int C>
SMP_DEVICE void resize_keep(const smp_io &io, OUT *s, const float (&sum)[RESIZE_EACH], int64_t left, unsigned *clipped)
{
    const int first = RESIZE_EACH * (int)threadIdx.x, c = (int)threadIdx.y;
    smp_pack<OUT, sizeof(OUT) == 1 ? RESIZE_EACH : (int)(16 / sizeof(OUT))> pack;
    constexpr int each = (int)(sizeof pack / sizeof(OUT));
    if (sizeof(OUT) < 4 && io.clipped) {
#pragma unroll
        for (int k = 0; k < RESIZE_EACH; k++)
            *clipped += left + first + k < io.out.width ? smp_clipped<OUT>(sum[k]) : 0;
    }
#pragma unroll
    for (int k = 0; k < RESIZE_EACH; k++) {
        const OUT v = smp_rounded<OUT>(smp_one_nan(sum[k]));
        if (C > 1)
            s[(first + k) * C + c] = v;
        else
            pack.v[k % each] = v;
        if (C == 1 && k % each == each - 1)
            *reinterpret_cast<decltype(pack) *>(s + first + k - (each - 1)) = pack;
    }
}

/* The block's row to device memory, 16 bytes an access. */
template <typename OUT, int C> SMP_DEVICE void resize_send(const smp_io &io, const OUT *s, int64_t y, int64_t left)
{
    typedef smp_pack<uint32_t, 4> word;
    const int64_t size = stencil_samples(io.out) * (int64_t)sizeof(OUT), at = left * C * (int64_t)sizeof(OUT);
    constexpr int most = SMP_RESIZE_FUSED_ACROSS * C * (int)sizeof(OUT) / 16;
    const int words = size - at < 16 * most ? (int)((size - at + 15) / 16) : most;
    word *to = reinterpret_cast<word *>(smp_out<OUT>(io.out, y) + left * C);
#pragma unroll 1
    for (int i = (int)(threadIdx.x + 32 * threadIdx.y); i < words; i += 32 * C)
        to[i] = reinterpret_cast<const word *>(s)[i];
}

template <typename T, int C, int Q, int L>
SMP_DEVICE void resize_walk(const smp_io &io, const smp_resize &p, stencil_float4 *s, unsigned *clipped)
{
    typedef resize_shape<Q, L> shape;
    typedef resize_units<T, C, Q, L> brought;
    T *const made = reinterpret_cast<T *>(s + RESIZE_ROWS * C * shape::plane);
    float *const cut = reinterpret_cast<float *>(made + SMP_RESIZE_FUSED_ACROSS * C);
    /* the strips with borders take longest and begin first */
    const unsigned strip = blockIdx.x == 1 ? gridDim.x - 1 : blockIdx.x ? blockIdx.x - 1 : 0;
    const int64_t x0 = (int64_t)strip * SMP_RESIZE_FUSED_ACROSS, left = x0 * Q - shape::lead;
    const int64_t end = io.out.y0 + io.out.rows;
    const bool inside = left >= 0 && left + 4 * shape::units <= io.in.width;
    const int64_t down = io.strips.tall;
    brought rows;
    rows.begin();
    if (!inside)
        resize_cut_weights<C, Q, L>(io, p, cut);
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * down; top < end; top += (int64_t)gridDim.y * down) {
        const int64_t below = top + down < end ? top + down : end;
        float sum[L][RESIZE_EACH] = {};
        if (brought::AHEAD)
            rows.load(io, top * Q - shape::before, left, inside, 0);
#pragma unroll 1
        for (int64_t i = top; i < below + L - 1; i++) { /* i: the last output that begins with these rows */
            const float *weight = static_cast<const float *>(io.table) + p.fused.weights + i * (Q * L);
            int64_t y = i * Q - shape::before;
#pragma unroll 1
            for (int pair = 0; pair < Q; pair += RESIZE_ROWS, y += RESIZE_ROWS, weight += RESIZE_ROWS * L) {
                __syncthreads();
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
                    float v[RESIZE_EACH];
                    resize_across<Q, L>(p, plane + (shape::piece + 1) * (int)threadIdx.x, v);
                    if (!inside)
                        resize_mend<Q, L>(io, plane, cut, x0, v);
                    if (y + r < 0 || y + r >= io.in.height) {
#pragma unroll
                        for (int k = 0; k < RESIZE_EACH; k++)
                            v[k] = -0.f; /* leaves a sum as it is, with the weight 0 that the table has for it */
                    }
#pragma unroll
                    for (int f = 0; f < L; f++) {
                        const float w = weight[r * L + f];
#pragma unroll
                        for (int k = 0; k < RESIZE_EACH; k++) /* of one pair, sums move on as they are added to */
                            sum[f][k] = fmaf(w, v[k], Q > RESIZE_ROWS || r ? sum[f][k] : resize_next<L>(sum, f, k));
                    }
                }
            }
            if (i - (L - 1) >= top) {
                resize_keep<T, C>(io, made, sum[0], x0, clipped);
                __syncthreads();
                resize_send<T, C>(io, made, i - (L - 1), x0);
            }
            if (Q > RESIZE_ROWS) {
#pragma unroll
                for (int f = 0; f < L; f++)
#pragma unroll
                    for (int k = 0; k < RESIZE_EACH; k++)
                        sum[f][k] = resize_next<L>(sum, f, k);
            }
        }
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
#define RESIZE_FUSED(Q, L, format, T)                                                                                  \
    SMP_KERNEL_BOUNDS(128, 3, resize_fused##Q##_##L##_##format##_##format, smp_resize, io, p)                          \
    {                                                                                                                  \
        resize_fused<T, Q, L>(io, p);                                                                                  \
    }
#define RESIZE_BOTH(Q, L)                                                                                              \
    RESIZE_FUSED(Q, L, u8, uint8_t)                                                                                    \
    RESIZE_FUSED(Q, L, f32, float)
RESIZE_BOTH(2, 6)
RESIZE_BOTH(2, 4)
RESIZE_BOTH(2, 2)
RESIZE_BOTH(4, 6)
RESIZE_BOTH(4, 4)
RESIZE_BOTH(4, 2)
