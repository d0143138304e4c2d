/* resize by whole steps of 2 and 4 on GPUs, both passes in one launch: no picture lies between them.
 *   fused   A block has as many warps as there are channels, and walks down SMP_RESIZE_FUSED_ACROSS columns of the
 *           output. Two rows of the input at a time become floats in shared memory, a plane a channel. A lane makes
 *           eight neighbouring results of the row pass from them, so that a sample that it reads serves as many of them
 *           as its filter covers, and adds them at once to the sums of all output rows that the input row counts for.
 *           These sums stay in registers; the oldest is finished every `ratio` rows. Weights of the row pass are the
 *           same for all outputs but those at the borders, and come with the parameters, where an FFMA reads them.
 *           Lanes read 16 bytes `ratio` times 32 bytes apart: an unused word of 16 bytes after each such piece makes
 *           their distance odd, and no bank conflicts. */
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
        return sizeof(IN) == 1 ? smp_value((uint8_t)bits) : smp_from_bits(bits);
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

/* Rows y, y + 1 to shared memory, half a block each. What lies left or right of the picture becomes 0, what lies above
 * or below its next row: neither is used. inside: the block's columns are all there. */
template <typename IN, int C, int Q, int L>
SMP_DEVICE void resize_bring(const smp_io &io, int64_t y, int64_t left, bool inside, stencil_float4 *s)
{
    typedef resize_shape<Q, L> shape;
    constexpr int step = 32 * C / RESIZE_ROWS, times = (shape::units + step - 1) / step, size = 4 * C * (int)sizeof(IN);
    constexpr int batch = sizeof(IN) == 1 ? 6 : 3;
    static_assert(step % shape::piece == 0, "units of a thread lie a constant apart");
    const int lane = (int)(threadIdx.x + 32 * threadIdx.y), row = lane / step, unit = lane - row * step;
    y += row;
    y = y < 0 ? 0 : y < io.in.height ? y : io.in.height - 1;
    const char *from = static_cast<const char *>(smp_row(&io.in, y)) + (left + 4 * unit) * C * (int64_t)sizeof(IN);
    stencil_float4 *to = s + row * C * shape::plane + shape::at(unit);
    if (inside) {
#pragma unroll
        for (int first = 0; first < times; first += batch) {
            resize_unit<IN, C> units[batch];
#pragma unroll
            for (int b = 0; b < batch && first + b < times; b++)
                if ((first + b + 1) * step <= shape::units || unit + (first + b) * step < shape::units)
                    units[b].load(from + (first + b) * (step * size));
#pragma unroll
            for (int b = 0; b < batch && first + b < times; b++)
                if ((first + b + 1) * step <= shape::units || unit + (first + b) * step < shape::units)
                    units[b].keep(to + shape::at((first + b) * step), shape::plane);
        }
        return;
    }
    const int64_t bytes = stencil_samples(io.in) * (int64_t)sizeof(IN);
    int64_t at = (left + 4 * unit) * C * (int64_t)sizeof(IN);
#pragma unroll 1
    for (int u = unit; u < shape::units; u += step) {
        resize_unit<IN, C> one;
        smp_converge();
        one.load_until(from, at < 0 ? 0 : bytes - at);
        one.keep(to, shape::plane);
        from += step * size;
        at += step * size;
        to += shape::at(step);
    }
}

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

/* The same for one output beside a border, whose filter is cut off there. s: the plane; left: the pixel that it begins
 * with. */
template <int Q, int L>
SMP_DEVICE_COLD float resize_at_border(const smp_io &io, const smp_resize &p, const stencil_float4 *s, int64_t x,
                                       int64_t left)
{
    typedef resize_shape<Q, L> shape;
    const smp_resize_taps taps = smp_resize_taps_of(&p.across, io.table, x);
    const float *plane = reinterpret_cast<const float *>(s);
    float v = 0.f;
#pragma unroll 1
    for (int k = 0; k < taps.count; k++) {
        const int i = (int)(taps.first + k - left);
        smp_converge();
        v = fmaf(smp_resize_weight(taps.weight + k), plane[4 * shape::at(i / 4) + i % 4], v);
    }
    return v;
}

/* Replaces those of a lane's results that are so: sees each in turn, as an index at run time would need local memory.
 */
template <int Q, int L>
SMP_DEVICE void resize_mend(const smp_io &io, const smp_resize &p, const stencil_float4 *s, int64_t x, int64_t left,
                            float (&v)[RESIZE_EACH])
{
#pragma unroll 1
    for (int64_t at = x; at < x + RESIZE_EACH; at++) {
        float next = v[0];
        if (at < L / 2 || (at >= io.out.width - L / 2 && at < io.out.width))
            next = resize_at_border<Q, L>(io, p, s, at, left);
#pragma unroll
        for (int k = 0; k + 1 < RESIZE_EACH; k++)
            v[k] = v[k + 1];
        v[RESIZE_EACH - 1] = next;
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
    T *const made = reinterpret_cast<T *>(s + RESIZE_ROWS * C * shape::plane);
    /* the strips with borders take longest and begin first */
    const unsigned strip = blockIdx.x == 1 ? gridDim.x - 1 : blockIdx.x ? blockIdx.x - 1 : 0;
    const int64_t x0 = (int64_t)strip * SMP_RESIZE_FUSED_ACROSS, left = x0 * Q - shape::lead;
    const int64_t x = x0 + RESIZE_EACH * (int)threadIdx.x, end = io.out.y0 + io.out.rows;
    const bool border = x < L / 2 || x + RESIZE_EACH > io.out.width - L / 2;
    const bool inside = left >= 0 && left + 4 * shape::units <= io.in.width;
    const int64_t down = io.strips.tall;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * down; top < end; top += (int64_t)gridDim.y * down) {
        const int64_t below = top + down < end ? top + down : end;
        float sum[L][RESIZE_EACH] = {};
#pragma unroll 1
        for (int64_t i = top; i < below + L - 1; i++) { /* i: the last output that begins with these rows */
            const float *weight = static_cast<const float *>(io.table) + p.fused.weights + i * (Q * L);
            int64_t y = i * Q - shape::before;
#pragma unroll 1
            for (int pair = 0; pair < Q; pair += RESIZE_ROWS, y += RESIZE_ROWS, weight += RESIZE_ROWS * L) {
                __syncthreads();
                resize_bring<T, C, Q, L>(io, y, left, inside, s);
                __syncthreads();
#pragma unroll
                for (int r = 0; r < RESIZE_ROWS; r++) {
                    const stencil_float4 *plane = s + (r * C + (int)threadIdx.y) * shape::plane;
                    float v[RESIZE_EACH];
                    resize_across<Q, L>(p, plane + (shape::piece + 1) * (int)threadIdx.x, v);
                    if (border)
                        resize_mend<Q, L>(io, p, plane, x, left, v);
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
    SMP_KERNEL_BOUNDS(128, 4, resize_fused##Q##_##L##_##format##_##format, smp_resize, io, p)                          \
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
