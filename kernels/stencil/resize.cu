/* resize on GPUs: a gather-stencil whose weights depend on the place. Two launches with an f32 picture between them.
 *   naive   each thread reads the input samples of one result from device memory; the caches serve a sample as often as
 *           it is used, six times with lanczos3.
 *   tiled   rows: a block keeps the part of four rows that its 128 results need in shared memory, and a thread makes
 *           the same result of all four, so that a weight is loaded once. Neighbouring lanes read at the stride of the
 *           ratio (of one channel): 2:1, 4:1 and 8:1 are 2-, 4- and 8-way bank conflicts, 1:1 and below none. Columns:
 *           four results a thread, of 16-byte loads.
 *   padded  as tiled, of ratios of whole numbers or nearly: what neighbouring lanes read lies side by side, in as many
 *           planes as the ratio is large, with unused words between them that spread over the banks what is stored.
 * Rows that do not fit shared memory (from ratios of some 20:1 on), and filter=nearest, have naive's row pass. */
#include "stencil/resize.h"

#include "lib/elementwise.cuh"
#include "lib/many.h"
#include "stencil/stencil.cuh"

template <typename IN> SMP_DEVICE constexpr int resize_format()
{
    return sizeof(IN) == 1 ? SMP_U8 : sizeof(IN) == 2 ? SMP_U16 : SMP_F32;
}

template <typename IN, typename OUT> SMP_DEVICE void resize_rows(const smp_io &io, const smp_resize &p)
{
    const int channels = io.in.channels;
    const int64_t n = stencil_samples(io.out), end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
            const int64_t x = stencil_pixel(i, channels);
            smp_out<float>(io.out, y)[i] =
                smp_resize_sample(&p.across, p.kind, io.table, x, smp_in<IN>(io.in, y) + (i - x * channels), 0,
                                  channels * (int64_t)sizeof(IN), resize_format<IN>());
        }
}

template <typename OUT>
SMP_DEVICE void resize_put(const smp_io &io, const smp_resize &p, int64_t y, int64_t i, float v, unsigned *clipped)
{
    smp_out<OUT>(io.out, y)[i] = smp_point_rounded<OUT>(io, smp_resize_last(p.kind, v), clipped);
}

template <typename IN, typename OUT> SMP_DEVICE void resize_columns(const smp_io &io, const smp_resize &p)
{
    unsigned clipped = 0;
    const int64_t n = stencil_samples(io.out), end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
            resize_put<OUT>(io, p, y, i,
                            smp_resize_sample(&p.down, p.kind, io.table, y, static_cast<const float *>(io.in.data) + i,
                                              io.in.y0, io.in.stride, SMP_F32),
                            &clipped);
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_INTO_F32(resize_rows, smp_resize)
SMP_KERNEL_FROM_F32(resize_columns, smp_resize)
SMP_KERNEL_MANY(resize_rows, u8, uint8_t, f32, float, smp_resize)
SMP_KERNEL_MANY(resize_columns, f32, float, u8, uint8_t, smp_resize)

/* A place in a line, which steps from pixel to pixel: see smp_resize_plane. Not padded: of one plane. */
typedef struct resize_place {
    int phases, plane, channels, phase, at;
} resize_place;

template <bool PADDED> SMP_DEVICE resize_place resize_begin(const smp_resize &p, int channels)
{
    const int phases = PADDED ? p.phases : 1;
    return {phases, (int)smp_resize_plane(p.window, channels, phases, p.spread), channels, 0, 0};
}

/* Goes to sample i. */
template <bool PADDED> SMP_DEVICE void resize_set(resize_place &place, int i)
{
    place.at = i;
    if (PADDED) {
        const int pixel = (int)stencil_pixel(i, place.channels), cell = pixel / place.phases;
        place.phase = pixel - cell * place.phases;
        place.at = place.phase * place.plane + cell * place.channels + (i - pixel * place.channels);
    }
}

/* Goes on to the same channel of the next pixel. */
template <bool PADDED> SMP_DEVICE void resize_next(resize_place &place)
{
    if (PADDED && ++place.phase < place.phases) {
        place.at += place.plane;
        return;
    }
    place.at += place.channels - (PADDED ? (place.phases - 1) * place.plane : 0);
    place.phase = 0;
}

/* The row pass of SMP_RESIZE_ACROSS samples of SMP_RESIZE_LINES rows. A line begins with the first sample of the first
 * result's first pixel. FIXED: words of shared memory are floats all the same, which bytes are exactly. */
template <typename IN, bool PADDED, bool FIXED>
SMP_DEVICE void resize_rows_tile(const smp_io &io, const smp_resize &p, float *s)
{
    const int channels = io.in.channels, lane = (int)threadIdx.x;
    resize_place place = resize_begin<PADDED>(p, channels);
    const int line = place.phases * place.plane;
    const int64_t n = stencil_samples(io.out), i = (int64_t)blockIdx.x * SMP_RESIZE_ACROSS + lane;
    const int64_t end = io.out.y0 + io.out.rows,
                  last = n - 1 < i - lane + SMP_RESIZE_ACROSS - 1 ? n - 1 : i - lane + SMP_RESIZE_ACROSS - 1;
    const smp_resize_taps first = smp_resize_taps_of(&p.across, io.table, stencil_pixel(i - lane, channels));
    const smp_resize_taps final = smp_resize_taps_of(&p.across, io.table, stencil_pixel(last, channels));
    const int count = (final.first + final.count - first.first) * channels;
    const int64_t mine = i < n ? i : last, x = stencil_pixel(mine, channels);
    const smp_resize_taps taps = smp_resize_taps_of(&p.across, io.table, x);
    const int from = (taps.first - first.first) * channels + (int)(mine - x * channels);
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_RESIZE_LINES; top < end; top += gridDim.y * SMP_RESIZE_LINES) {
        for (int k = lane; k < count; k += SMP_RESIZE_ACROSS) {
            resize_set<PADDED>(place, k);
#pragma unroll
            for (int r = 0; r < SMP_RESIZE_LINES; r++) {
                const IN *row = smp_in<IN>(io.in, top + r < end ? top + r : end - 1) + (int64_t)first.first * channels;
                const float v = smp_value(row[k]);
                s[r * line + place.at] = FIXED ? (float)smp_to_u8(v) : v;
            }
        }
        __syncthreads();
        float sum[SMP_RESIZE_LINES] = {};
        int32_t whole[SMP_RESIZE_LINES];
#pragma unroll
        for (int r = 0; r < SMP_RESIZE_LINES; r++)
            whole[r] = SMP_RESIZE_HALF;
        resize_set<PADDED>(place, from);
        for (int k = 0; k < taps.count; k++, resize_next<PADDED>(place)) {
            smp_converge();
            const float w = smp_resize_weight(taps.weight + k);
#pragma unroll
            for (int r = 0; r < SMP_RESIZE_LINES; r++) {
                const float v = s[r * line + place.at];
                if (FIXED)
                    whole[r] += taps.weight[k] * (int32_t)v;
                else
                    sum[r] = fmaf(w, v, sum[r]);
            }
        }
#pragma unroll
        for (int r = 0; r < SMP_RESIZE_LINES; r++)
            if (top + r < end && i < n)
                smp_out<float>(io.out, top + r)[i] = FIXED ? (float)smp_resize_byte(whole[r]) : sum[r];
        __syncthreads();
    }
}

template <typename IN, typename OUT> SMP_DEVICE void resize_rows_tiled(const smp_io &io, const smp_resize &p)
{
    SMP_SMEM_DYNAMIC(float, s);
    if (p.kind == SMP_RESIZE_FIXED)
        resize_rows_tile<IN, false, true>(io, p, s);
    else
        resize_rows_tile<IN, false, false>(io, p, s);
}
template <typename IN, typename OUT> SMP_DEVICE void resize_rows_padded(const smp_io &io, const smp_resize &p)
{
    SMP_SMEM_DYNAMIC(float, s);
    if (p.kind == SMP_RESIZE_FIXED)
        resize_rows_tile<IN, true, true>(io, p, s);
    else
        resize_rows_tile<IN, true, false>(io, p, s);
}
SMP_KERNEL_INTO_F32(resize_rows_tiled, smp_resize)
SMP_KERNEL_INTO_F32(resize_rows_padded, smp_resize)

/* Four results of the column pass, from sample i on, of which rows of the picture between have all. */
SMP_DEVICE stencil_float4 resize_down4(const smp_io &io, const smp_resize &p, const smp_resize_taps &taps, int64_t i)
{
    stencil_float4 sum = stencil_float4_of(0.f);
    const char *at = static_cast<const char *>(io.in.data) + (taps.first - io.in.y0) * io.in.stride + i * 4;
    if (p.kind == SMP_RESIZE_FIXED) {
        int32_t whole[4] = {SMP_RESIZE_HALF, SMP_RESIZE_HALF, SMP_RESIZE_HALF, SMP_RESIZE_HALF};
        for (int k = 0; k < taps.count; k++, at += io.in.stride) {
            const stencil_float4 v = stencil_load4(reinterpret_cast<const float *>(at));
#pragma unroll
            for (int j = 0; j < 4; j++)
                whole[j] += taps.weight[k] * (int32_t)v.v[j];
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum.v[j] = (float)smp_resize_byte(whole[j]);
        return sum;
    }
#pragma unroll 4
    for (int k = 0; k < taps.count; k++, at += io.in.stride) {
        const stencil_float4 v = stencil_load4(reinterpret_cast<const float *>(at));
        const float w = smp_resize_weight(taps.weight + k);
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum.v[j] = fmaf(w, v.v[j], sum.v[j]);
    }
    return sum;
}

template <typename IN, typename OUT> SMP_DEVICE void resize_columns_tiled(const smp_io &io, const smp_resize &p)
{
    unsigned clipped = 0;
    const int64_t n = stencil_samples(io.out), end = io.out.y0 + io.out.rows;
    const int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const bool aligned = ((uintptr_t)io.in.data | (uintptr_t)io.in.stride) % 16 == 0;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end && i < n; y += gridDim.y * blockDim.y)
        if (p.down.taps && aligned && i + 4 <= n)
            stencil_put4(io, smp_out<OUT>(io.out, y), i,
                         resize_down4(io, p, smp_resize_taps_of(&p.down, io.table, y), i), &clipped);
        else
            for (int64_t k = i; k < i + 4 && k < n; k++)
                resize_put<OUT>(io, p, y, k,
                                smp_resize_sample(&p.down, p.kind, io.table, y,
                                                  static_cast<const float *>(io.in.data) + k, io.in.y0, io.in.stride,
                                                  SMP_F32),
                                &clipped);
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FROM_F32(resize_columns_tiled, smp_resize)
