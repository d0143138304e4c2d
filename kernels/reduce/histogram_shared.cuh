/* Shared by the GPU kernels of histogram: a block's counters in shared memory, and how to count a pixel. */
#pragma once

#include "lib/vector_load.cuh"
#include "reduce/histogram.h"

template <typename T> SMP_DEVICE int32_t histogram_bin(T v, float white, const smp_histogram_params &p)
{
    if (smp_sample<T>::format == SMP_F32)
        return smp_histogram_bin(smp_value(v), white, &p);
    return (int32_t)(((uint32_t)v * (uint32_t)p.bins) >> (sizeof(T) == 1 ? 8 : 16)); /* the same for integer code */
}

SMP_DEVICE unsigned histogram_thread()
{
    return threadIdx.y * blockDim.x + threadIdx.x;
}
SMP_DEVICE unsigned histogram_threads()
{
    return blockDim.x * blockDim.y;
}

/* The counters of a block: those of the histogram from `first` on, each `copies` times, a power of two. Where the
 * histogram is cut into parts, one more after them takes what other blocks count. */
struct histogram_shared {
    unsigned *counters, *own; /* own: the copies that this thread adds to */
    unsigned first, count, copies;

    SMP_DEVICE_MEMBER void start(const smp_io &io, const smp_histogram_params &p, unsigned *shared, unsigned copies_)
    {
        counters = shared;
        copies = copies_;
        own = shared + (histogram_thread() & (copies - 1));
        count = (unsigned)smp_histogram_part(smp_histogram_counters(&p, io.in.format, io.in.channels), (int)gridDim.y);
        first = blockIdx.y * count;
    }

    SMP_DEVICE_MEMBER void clear()
    {
        typedef smp_pack<unsigned, 4> four;
        four none;
        none.v[0] = none.v[1] = none.v[2] = none.v[3] = 0;
        const unsigned all = count * copies, fours = all / 4;
        for (unsigned i = histogram_thread(); i < fours; i += histogram_threads())
            reinterpret_cast<four *>(counters)[i] = none;
        if (histogram_thread() < all % 4)
            counters[fours * 4 + histogram_thread()] = 0;
        if (gridDim.y > 1 && histogram_thread() == 0)
            counters[all] = 0;
        __syncthreads();
    }

    SMP_DEVICE_MEMBER void add(unsigned counter)
    {
        const unsigned at = counter - first;
        smp_converge();
        if (at < count)
            atomicAdd(own + at * copies, 1u);
    }

    SMP_DEVICE_MEMBER void store(const smp_io &io, const smp_histogram_params &p, unsigned i, unsigned sum)
    {
        unsigned slot = first + i;
        if (smp_histogram_by_code(&p, io.in.format))
            slot = (slot >> 8) * ((unsigned)p.bins + 1) + ((slot & 255) * (unsigned)p.bins >> 8);
        if (sum)
            atomicAdd(static_cast<unsigned long long *>(io.result) + slot, (unsigned long long)sum);
    }

    /* Adds the block's counters to the result. With copies, a thread takes four of a counter. */
    SMP_DEVICE_MEMBER void finish(const smp_io &io, const smp_histogram_params &p)
    {
        __syncthreads();
        const unsigned thread = histogram_thread(), threads = histogram_threads();
        if (copies < 4) {
            for (unsigned i = thread; i < count; i += threads)
                store(io, p, i, copies > 1 ? counters[2 * i] + counters[2 * i + 1] : counters[i]);
            return;
        }
        const int shift = 29 - __clz((int)copies); /* threads a counter, as a power of two */
        const unsigned each = 1u << shift, fours = count << shift;
        for (unsigned i = thread; i - thread % 32 < fours; i += threads) { /* whole warps iterate */
            unsigned sum = 0;
            if (i < fours) {
                const smp_pack<unsigned, 4> four = reinterpret_cast<const smp_pack<unsigned, 4> *>(counters)[i];
                sum = four.v[0] + four.v[1] + four.v[2] + four.v[3];
            }
            for (unsigned distance = each / 2; distance > 0; distance /= 2)
                sum += __shfl_down_sync(~0u, sum, distance);
            if (i < fours && (i & (each - 1)) == 0)
                store(io, p, i >> shift, sum);
        }
    }
};

/* One pixel, whose samples are at `in`, with C or more channels; `add` counts it. */
template <typename T, typename ADD>
SMP_DEVICE void histogram_pixel(const T *in, const smp_io &io, const smp_histogram_params &p, const ADD &add)
{
    if (p.colours) {
        float sum = p.weights[0] * smp_value(in[0]); /* smp_histogram_luma() of samples in place */
#pragma unroll 1
        for (int32_t c = 1; c < p.colours; c++)
            sum = sum + p.weights[c] * smp_value(in[c]);
        add(smp_histogram_bin(sum, io.in.white, &p));
        return;
    }
#pragma unroll 1
    for (int32_t c = 0; c < io.in.channels; c++)
        add(c * (p.bins + 1) + histogram_bin(in[c], io.in.white, p));
}

/* Counts pixel by pixel in the block's counters. */
template <typename T>
SMP_DEVICE void histogram_pixels(const smp_io &io, const smp_histogram_params &p, histogram_shared &partial)
{
    const auto add = [&](int32_t counter) { partial.add((unsigned)counter); };
    smp_walk walk;
    walk.start(blockIdx.x * histogram_threads() + histogram_thread(), gridDim.x * histogram_threads(),
               (uint32_t)io.in.width, (uint32_t)io.out.rows);
    for (; walk.more(); walk.next()) {
        const T *in = smp_in<T>(io.in, io.out.y0 + walk.y) + (int64_t)walk.k * io.in.channels;
        if (smp_histogram_by_code(&p, io.in.format))
            for (int32_t c = 0; c < io.in.channels; c++)
                add(c * 256 + (int32_t)in[c]);
        else
            histogram_pixel(in, io, p, add);
    }
}
