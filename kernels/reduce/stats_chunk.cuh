/* Shared by the GPU kernels of stats: the pixels of a chunk, and a lane's results. */
#pragma once

#include "lib/gpu_kernel.h"
#include "reduce/stats.h"

/* a / b of numbers that are not negative, in 32 bits where they fit: 64-bit divisions take longer than a load. */
SMP_DEVICE int64_t stats_quotient(int64_t a, int64_t b)
{
    return (uint64_t)(a | b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

/* Chunk number `index` of the launch: `rows` rows of `across` pixels. Packed rows are one. */
struct stats_chunk {
    const char *start;
    int64_t stride;
    int32_t across, rows, pixels, pixel_bytes;
    smp_stats_chunk *records; /* one a channel */

    SMP_DEVICE_MEMBER bool find(const smp_io &io, int64_t index)
    {
        const int64_t chunks = smp_chunks_across(io.in.width), down = stats_quotient(index, chunks);
        return find(io, index - down * chunks, down);
    }
    /* Finds a chunk by its place: chunks to the left of it, chunks above it in the launch. */
    SMP_DEVICE_MEMBER bool find(const smp_io &io, int64_t left, int64_t above)
    {
        const int64_t chunk_rows = io.in.width > SMP_CHUNK / 2 ? 1 : smp_chunk_rows(io.in.width);
        const int64_t y = io.out.y0 + above * chunk_rows, x = left * SMP_CHUNK;
        const int64_t below = io.out.y0 + io.out.rows - y, right = io.in.width - x;
        if (below <= 0)
            return false;
        pixel_bytes = (int32_t)(smp_sample_size(io.in.format) * io.in.channels);
        stride = io.in.stride;
        across = right < SMP_CHUNK ? (int32_t)right : (int32_t)SMP_CHUNK;
        rows = (int32_t)(below < chunk_rows ? below : chunk_rows);
        pixels = across * rows;
        start = static_cast<const char *>(smp_row(&io.in, y)) + x * pixel_bytes;
        const int64_t number = stats_quotient(y, chunk_rows) * smp_chunks_across(io.in.width) + left;
        records = static_cast<smp_stats_chunk *>(io.result) + number * io.in.channels;
        if (stride == (int64_t)across * pixel_bytes) {
            across = pixels;
            rows = 1;
        }
        return true;
    }
};

/* Pixels first, first + step, ... of a chunk, without divisions in the loop. */
struct stats_walk {
    const char *at;
    int64_t step, wrap; /* bytes to the next pixel; more of them at the end of a row */
    int32_t x, across, step_x;

    SMP_DEVICE_MEMBER void start(const stats_chunk &chunk, int32_t first, int32_t every)
    {
        across = chunk.across;
        x = first % across;
        step_x = every % across;
        at = chunk.start + first / across * chunk.stride + x * chunk.pixel_bytes;
        step = every / across * chunk.stride + step_x * chunk.pixel_bytes;
        wrap = chunk.stride - (int64_t)across * chunk.pixel_bytes;
    }
    SMP_DEVICE_MEMBER void next()
    {
        at += step;
        x += step_x;
        if (x >= across) {
            x -= across;
            at += wrap;
        }
    }
};

/* The results of one lane or several in one channel. */
struct stats_sums {
    double sum, squares;
    float min, max;
    int32_t count;

    SMP_DEVICE_MEMBER void clear()
    {
        sum = squares = 0.;
        min = FLT_MAX;
        max = -FLT_MAX;
        count = 0;
    }
    SMP_DEVICE_MEMBER void add(float v, float pivot)
    {
        const bool finite = smp_stats_finite(v);
        const double d = (double)(finite ? v : pivot) - (double)pivot;
        sum += d;
        squares += d * d;
        min = finite && v < min ? v : min;
        max = finite && v > max ? v : max;
        count += finite;
    }
    /* The same for a finite v; the caller counts it. Whether 0 or -0 is kept does not show: see smp_stats_close(). */
    SMP_DEVICE_MEMBER void add_finite(float v, float pivot)
    {
        const double d = (double)v - (double)pivot;
        sum += d;
        squares += d * d;
        min = fminf(min, v);
        max = fmaxf(max, v);
    }
    SMP_DEVICE_MEMBER void join(double sum_, double squares_, float min_, float max_, int32_t count_)
    {
        sum += sum_;
        squares += squares_;
        min = min_ < min ? min_ : min;
        max = max_ > max ? max_ : max;
        count += count_;
    }
    SMP_DEVICE_MEMBER smp_stats_chunk close(float pivot) const
    {
        return smp_stats_close(count, pivot, sum, squares, min, max);
    }
};

template <typename T> SMP_DEVICE float stats_value(const char *pixel, int channel)
{
    return smp_value(reinterpret_cast<const T *>(pixel)[channel]);
}

template <typename T> SMP_DEVICE float stats_pivot(const stats_chunk &chunk, int channel)
{
    return smp_stats_pivot(stats_value<T>(chunk.start, channel));
}
