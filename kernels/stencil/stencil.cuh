/* Shared by the GPU kernels of stencil stages: samples beyond the border, loads of rows into shared memory and stores
 * of results, four samples at a time.
 *
 * A quad is four samples of a row that begin at a multiple of four. As f32 it has 16 bytes, and is one access in shared
 * memory, and in device memory where the row is aligned. The lanes of a warp take neighbouring quads: no bank
 * conflicts. */
#pragma once

#include "lib/gpu_kernel.h"

#include "stencil/stencil.h"

typedef smp_pack<float, 4> stencil_float4;

SMP_DEVICE stencil_float4 stencil_float4_of(float v)
{
    stencil_float4 quad;
    for (int i = 0; i < 4; i++)
        quad.v[i] = v;
    return quad;
}

/* Samples in a row. */
SMP_DEVICE int64_t stencil_samples(const smp_view &v)
{
    return v.width * v.channels;
}

/* The pixel of sample i >= 0. A 64-bit division takes many instructions, so it is a call. */
SMP_DEVICE_COLD int64_t stencil_cold_pixel(int64_t i, int channels)
{
    return i / channels;
}
SMP_DEVICE int64_t stencil_pixel(int64_t i, int channels)
{
    return i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : stencil_cold_pixel(i, channels);
}

/* Sample i of a row that exists; i counts from the row's start and may lie outside it. */
template <typename IN>
SMP_DEVICE float stencil_across(const IN *row, int64_t width, int channels, int64_t i, int edge, float outside)
{
    if (i >= 0 && i < width * channels)
        return smp_value(row[i]);
    const int64_t x = i >= 0 ? i / channels : -((channels - 1 - i) / channels), from = smp_border(x, width, edge);
    return from < 0 ? outside : smp_value(row[from * channels + (i - x * channels)]);
}
template <typename IN>
SMP_DEVICE float stencil_across(const IN *row, const smp_view &in, int64_t i, int edge, float outside)
{
    return stencil_across(row, in.width, in.channels, i, edge, outside);
}

/* The same, and smp_border(), as calls: for the few samples at borders. */
template <typename IN>
SMP_DEVICE_COLD float stencil_cold_across(const IN *row, int64_t width, int channels, int64_t i, int edge,
                                          float outside)
{
    return stencil_across(row, width, channels, i, edge, outside);
}
SMP_DEVICE_COLD int64_t stencil_cold_border(int64_t i, int64_t n, int edge)
{
    return smp_border(i, n, edge);
}
SMP_DEVICE int64_t stencil_border(int64_t i, int64_t n, int edge)
{
    return i >= 0 && i < n ? i : stencil_cold_border(i, n, edge);
}

/* Sample i of row y; the row may lie outside the picture. */
template <typename IN> SMP_DEVICE float stencil_down(const smp_view &in, int64_t i, int64_t y, int edge, float outside)
{
    y = smp_border(y, in.height, edge);
    return y < 0 ? outside : smp_value(smp_in<IN>(in, y)[i]);
}

/* Sample i of row y; both may lie outside the picture. */
template <typename IN> SMP_DEVICE float stencil_at(const smp_view &in, int64_t i, int64_t y, int edge, float outside)
{
    y = smp_border(y, in.height, edge);
    return y < 0 ? outside : stencil_across(smp_in<IN>(in, y), in, i, edge, outside);
}

/* The alpha channel, or -1; and the channel of a sample, by a division. */
SMP_DEVICE int stencil_alpha(const smp_view &in)
{
    return in.alpha ? in.channels - 1 : -1;
}
SMP_DEVICE int stencil_channel(const smp_view &in, int64_t i)
{
    return (int)(i - stencil_pixel(i, in.channels) * in.channels);
}

/* Loads four samples in one access, as code values. */
template <typename IN> SMP_DEVICE stencil_float4 stencil_load4(const IN *from)
{
    typedef smp_pack<IN, 4> pack;
    const pack four = *reinterpret_cast<const pack *>(from);
    stencil_float4 quad;
    for (int i = 0; i < 4; i++)
        quad.v[i] = smp_value(four.v[i]);
    return quad;
}
SMP_DEVICE void stencil_keep4(float *to, const stencil_float4 &quad)
{
    *reinterpret_cast<stencil_float4 *>(to) = quad;
}

/* Four results of a row pass: row y at x .. x+3 (a multiple of 4). Columns have no left or right border. */
SMP_DEVICE stencil_float4 stencil_between(const smp_view &in, int64_t y, int64_t x, int edge, float outside)
{
    const int64_t n = stencil_samples(in), inside = stencil_border(y, in.height, edge);
    stencil_float4 four = stencil_float4_of(outside);
    if (inside < 0)
        return four;
    const float *row = smp_in<float>(in, inside);
    if (x + 4 <= n && (uintptr_t)row % 16 == 0)
        return stencil_load4(row + x);
    for (int i = 0; i < 4; i++)
        four.v[i] = x + i < n ? row[x + i] : 0.f;
    return four;
}

/* Loads samples first .. first + count - 1 of picture row y into shared memory as code values. They may lie outside the
 * picture. `first` is a multiple of 4, `to` is aligned to 16 bytes, and up to 3 samples more are written. Each of
 * `lanes` threads calls it and loads its share. */
template <typename IN>
SMP_DEVICE void stencil_bring(float *to, const smp_view &in, int64_t y, int64_t first, int count, int lane, int lanes,
                              int edge, float outside)
{
    const int64_t n = stencil_samples(in), inside = stencil_border(y, in.height, edge);
    const IN *row = inside < 0 ? nullptr : smp_in<IN>(in, inside);
    const bool aligned = (uintptr_t)row % (4 * sizeof(IN)) == 0;
    for (int i = 4 * lane; i < count; i += 4 * lanes) {
        const int64_t at = first + i;
        stencil_float4 quad = stencil_float4_of(outside);
        if (row && aligned && at >= 0 && at + 4 <= n)
            quad = stencil_load4(row + at);
        else if (row) {
#pragma unroll 1
            for (int k = 0; k < 4; k++) { /* shifts samples in: an index at run time would need local memory */
                quad.v[0] = quad.v[1], quad.v[1] = quad.v[2], quad.v[2] = quad.v[3];
                quad.v[3] = stencil_cold_across(row, in.width, in.channels, at + k, edge, outside);
            }
        }
        stencil_keep4(to + i, quad); /* one store for both ways, so that lanes store together */
    }
}

/* Rounds and stores one result; counts clipping. */
template <typename OUT> SMP_DEVICE void stencil_put(const smp_io &io, OUT *row, int64_t i, float v, unsigned *clipped)
{
    v = smp_one_nan(v);
    if (io.clipped)
        *clipped += smp_clipped<OUT>(v);
    row[i] = smp_rounded<OUT>(v);
}

/* Rounds and stores four results; drops those past the row's end. */
template <typename OUT>
SMP_DEVICE void stencil_put4(const smp_io &io, OUT *row, int64_t i, const stencil_float4 &quad, unsigned *clipped)
{
    typedef smp_pack<OUT, 4> pack;
    const int64_t n = stencil_samples(io.out);
    if (i + 4 <= n && (uintptr_t)row % sizeof(pack) == 0) {
        pack four;
        for (int k = 0; k < 4; k++) {
            const float v = smp_one_nan(quad.v[k]);
            if (io.clipped)
                *clipped += smp_clipped<OUT>(v);
            four.v[k] = smp_rounded<OUT>(v);
        }
        *reinterpret_cast<pack *>(row + i) = four;
        return;
    }
    if (i + 4 <= n) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            stencil_put(io, row, i + k, quad.v[k], clipped);
        return;
    }
    stencil_float4 left = quad;
#pragma unroll 1
    for (int64_t at = i; at < i + 4 && at < n; at++) { /* shifts results out, as stencil_bring() shifts in */
        stencil_put(io, row, at, left.v[0], clipped);
        left.v[0] = left.v[1], left.v[1] = left.v[2], left.v[2] = left.v[3];
    }
}

/* Stores sample(y, i) at every sample of the output: the walk of naive kernels. */
template <typename OUT, typename SAMPLE> SMP_DEVICE void stencil_each(const smp_io &io, const SAMPLE &sample)
{
    unsigned clipped = 0;
    const int64_t n = stencil_samples(io.out);
    smp_each(io, n, [&](int64_t y, int64_t i) { stencil_put(io, smp_out<OUT>(io.out, y), i, sample(y, i), &clipped); });
    smp_count_clipped<OUT>(io, clipped);
}
