/* warp on GPUs: a gather along slanted lines.
 *   naive   a thread a sample; taps come from device memory, and the caches serve what neighbours share.
 *   tiled   a block of 32 x 16 output pixels first copies the box of the input that they read to shared memory, as f32
 *           and with the border rule applied. A warp reads along a slanted line: at small angles words lie side by
 * side; the nearer to a quarter turn, the more lanes read a column, which is one bank, since rows are whole multiples
 * of 32 words: up to 32-way conflicts. padded  the same with one unused word after each row: columns meet all banks.
 * Boxes that do not fit (far smaller scales, perspective near the horizon) are read as naive does. */
#include "geometry/warp.h"

#include "lib/elementwise.cuh"

template <typename IN, typename OUT> SMP_DEVICE void warp_naive(const smp_io &io, const smp_warp &p)
{
    unsigned clipped = 0;
    const int channels = io.in.channels;
    const int64_t n = io.out.width * channels, end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
            const int64_t x = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels;
            const smp_warp_place at = smp_warp_place_of(&p, x, y);
            smp_out<OUT>(io.out, y)[i] = smp_point_rounded<OUT>(
                io, smp_warp_sample(&io, &p, &at, (int)(i - x * channels), smp_sample<IN>::format), &clipped);
        }
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(warp_naive, smp_warp)

/* The part of the input that a tile reads. */
struct warp_box {
    int64_t x, y;
    int width, height; /* 0: not to be had in shared memory */
    int pitch;
};

/* A transform takes a tile to a quadrangle, whose corners are the outermost. Perspective rounds: a pixel more. */
SMP_DEVICE warp_box warp_box_of(const smp_io &io, const smp_warp &p, int64_t x, int64_t y, bool padded)
{
    warp_box box = {};
    const int64_t right = x + SMP_WARP_ACROSS < io.out.width ? x + SMP_WARP_ACROSS - 1 : io.out.width - 1;
    const int64_t end = io.out.y0 + io.out.rows, below = y + SMP_WARP_DOWN < end ? y + SMP_WARP_DOWN - 1 : end - 1;
    const int before = smp_warp_before(p.filter) + p.perspective, after = smp_warp_after(p.filter) + p.perspective;
    int64_t least_x = INT64_MAX, most_x = INT64_MIN, least_y = INT64_MAX, most_y = INT64_MIN;
    for (int k = 0; k < 4; k++) {
        const smp_warp_place at = smp_warp_place_of(&p, k & 1 ? right : x, k & 2 ? below : y);
        if (!at.there)
            return box;
        const int64_t column = smp_warp_whole(at.x), row = smp_warp_whole(at.y);
        least_x = column < least_x ? column : least_x;
        most_x = column > most_x ? column : most_x;
        least_y = row < least_y ? row : least_y;
        most_y = row > most_y ? row : most_y;
    }
    const int64_t width = most_x - least_x + 1 + before + after, height = most_y - least_y + 1 + before + after;
    if (width > SMP_WARP_WORDS || height > SMP_WARP_WORDS ||
        smp_warp_pitch(width * io.in.channels, padded) * height > p.words[padded])
        return box;
    box.x = least_x - before;
    box.y = least_y - before;
    box.width = (int)width;
    box.height = (int)height;
    box.pitch = (int)smp_warp_pitch(width * io.in.channels, padded);
    return box;
}

template <typename IN> SMP_DEVICE void warp_load(const smp_io &io, const smp_warp &p, const warp_box &box, float *s)
{
    const int channels = io.in.channels, n = box.width * channels;
    const bool within = box.x >= 0 && box.x + box.width <= io.in.width;
    for (int r = (int)threadIdx.y; r < box.height; r += (int)blockDim.y) {
        const int64_t y = smp_border(box.y + r, io.in.height, p.edge);
        const IN *row = y < 0 ? nullptr : smp_in<IN>(io.in, y);
        for (int k = (int)threadIdx.x; k < n; k += SMP_WARP_ACROSS) {
            smp_converge();
            const int x = k / channels, c = k - x * channels;
            const int64_t from = within ? box.x + x : smp_border(box.x + x, io.in.width, p.edge);
            s[r * box.pitch + k] = y < 0 || from < 0 ? p.fill[c] : smp_value(row[from * channels + c]);
        }
    }
}

/* A sample between those in shared memory; at: its upper left one there. */
SMP_DEVICE float warp_shared(const smp_warp &p, const float *at, int channels, int pitch, float fx, float fy)
{
    if (p.filter == SMP_WARP_NEAREST)
        return *at;
    if (p.filter == SMP_WARP_BILINEAR)
        return smp_one_nan(smp_warp_between(at[0], at[channels], at[pitch], at[pitch + channels], fx, fy));
    float sum = 0.f;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float v = 0.f;
#pragma unroll
        for (int k = 0; k < 4; k++)
            v = fmaf(smp_warp_weight(k, fx), at[(j - 1) * pitch + (k - 1) * channels], v);
        sum = fmaf(smp_warp_weight(j, fy), v, sum);
    }
    return smp_one_nan(sum);
}

template <typename IN, typename OUT>
SMP_DEVICE void warp_tile(const smp_io &io, const smp_warp &p, bool padded, float *s)
{
    unsigned clipped = 0;
    const int channels = io.in.channels;
    const int64_t end = io.out.y0 + io.out.rows, left = (int64_t)blockIdx.x * SMP_WARP_ACROSS, x = left + threadIdx.x;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * SMP_WARP_DOWN; top < end;
         top += (int64_t)gridDim.y * SMP_WARP_DOWN) {
        const warp_box box = warp_box_of(io, p, left, top, padded);
        if (box.width)
            warp_load<IN>(io, p, box, s);
        __syncthreads();
        for (int64_t y = top + threadIdx.y; y < end && y < top + SMP_WARP_DOWN && x < io.out.width; y += blockDim.y) {
            const smp_warp_place at = smp_warp_place_of(&p, x, y);
            const float fx = smp_warp_fraction(at.x), fy = smp_warp_fraction(at.y);
            const int first =
                (int)(smp_warp_whole(at.y) - box.y) * box.pitch + (int)(smp_warp_whole(at.x) - box.x) * channels;
            for (int c = 0; c < channels; c++) {
                smp_converge();
                const float v = box.width ? warp_shared(p, s + first + c, channels, box.pitch, fx, fy)
                                          : smp_warp_sample(&io, &p, &at, c, smp_sample<IN>::format);
                smp_out<OUT>(io.out, y)[x * channels + c] = smp_point_rounded<OUT>(io, v, &clipped);
            }
        }
        __syncthreads();
    }
    smp_count_clipped<OUT>(io, clipped);
}

template <typename IN, typename OUT> SMP_DEVICE void warp_tiled(const smp_io &io, const smp_warp &p)
{
    SMP_SMEM_DYNAMIC(float, s);
    warp_tile<IN, OUT>(io, p, false, s);
}
template <typename IN, typename OUT> SMP_DEVICE void warp_padded(const smp_io &io, const smp_warp &p)
{
    SMP_SMEM_DYNAMIC(float, s);
    warp_tile<IN, OUT>(io, p, true, s);
}
SMP_KERNEL_FORMATS(warp_tiled, smp_warp)
SMP_KERNEL_FORMATS(warp_padded, smp_warp)
