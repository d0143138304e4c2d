/* histogram on GPUs, and the counting of every stage that needs one (percentiles, equalize, levels, threshold).
 *   naive    one 64-bit atomic in global memory a sample. They go to the second-level cache, where those of one address
 *            wait for each other: a dark picture is slowest.
 *   tiled    a histogram a block in shared memory, added to the result at its end. Lanes that meet different counters
 *            of one bank still wait for each other; the trace counts it as conflicts of shared atomics.
 *   private  `copies` of it side by side, h[counter * copies + lane % copies]. With 32 every lane has a bank to itself:
 *            no conflict, whatever the picture. 256 counters take 32 KB so. Fewer copies where that many do not fit,
 *            one where need be. 16 bytes a load, several loads under way. The bound is the increments: 13 samples a
 *            clock and SM are what an H100's memory brings, 32 what its shared memory counts.
 * An atomicAdd(p, 1) whose result nobody uses costs nothing extra when lanes meet in one counter, so that smooth and
 * constant pictures are no worse than noise.
 *
 * A histogram too large for shared memory (65536 bins) is cut into gridDim.y parts: each reads all and counts its own.
 * The grid's x shares out the picture. Counters have 32 bits: a block sees fewer than 2^32 samples. */
#include "histogram.h"
#include "smp_group.cuh"

/* ---------------------------------------------------------------------------------------------- where to count */

template <typename T> SMP_DEVICE int32_t histogram_bin(T v, float white, const smp_histogram_params &p)
{
    if (smp_sample<T>::format == SMP_F32)
        return smp_histogram_bin(smp_value(v), white, &p);
    return (int32_t)(((uint32_t)v * (uint32_t)p.bins) >>
                     (sizeof(T) == 1 ? 8 : 16)); /* the same for whole code values */
}

SMP_DEVICE unsigned histogram_thread()
{
    return threadIdx.y * blockDim.x + threadIdx.x;
}
SMP_DEVICE unsigned histogram_threads()
{
    return blockDim.x * blockDim.y;
}

/* The counters of a block: those of the histogram from `first` on, each `copies` times, a power of two. */
struct histogram_tally {
    unsigned *counters, *own; /* own: the copies that this thread adds to */
    unsigned first, count, copies;

    SMP_MEMBER void start(const smp_io &io, const smp_histogram_params &p, unsigned *shared, unsigned copies_)
    {
        counters = shared;
        copies = copies_;
        own = shared + (histogram_thread() & (copies - 1));
        count = (unsigned)smp_histogram_part(smp_histogram_counters(&p, io.in.format, io.in.channels), (int)gridDim.y);
        first = blockIdx.y * count;
        for (unsigned i = histogram_thread(); i < count * copies; i += histogram_threads())
            counters[i] = 0;
        __syncthreads();
    }

    /* all: the block keeps every counter. */
    SMP_MEMBER void add(unsigned counter, bool all = false)
    {
        unsigned at = all ? counter : counter - first;
        smp_together();
        if (all || at < count)
            atomicAdd(own + at * copies, 1u);
    }

    /* Adds the block's counters to the result; neighbouring threads begin at different copies: no conflicts. */
    SMP_MEMBER void finish(const smp_io &io, const smp_histogram_params &p)
    {
        unsigned long long *result = static_cast<unsigned long long *>(io.result);
        __syncthreads();
        for (unsigned i = histogram_thread(); i < count; i += histogram_threads()) {
            unsigned long long sum = 0;
            for (unsigned k = 0; k < copies; k++)
                sum += counters[i * copies + ((k + i) & (copies - 1))];
            int64_t slot = (int64_t)first + i;
            if (smp_histogram_by_code(&p, io.in.format))
                slot = smp_histogram_slot(p.bins, (int32_t)(slot >> 8), histogram_bin((uint8_t)slot, 255.f, p));
            if (sum)
                atomicAdd(result + slot, sum);
        }
    }
};

/* One pixel, whose samples are at `in`, with C or more channels; `add` counts it. */
template <typename T, typename ADD>
SMP_DEVICE void histogram_pixel(const T *in, const smp_io &io, const smp_histogram_params &p, const ADD &add)
{
    if (p.colours) {
        float sum = p.weights[0] * smp_value(in[0]); /* smp_histogram_luma() of samples where they are */
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

/* ---------------------------------------------------------------------------------------------- naive */

struct histogram_add_global {
    unsigned long long *result;
    SMP_MEMBER void operator()(int32_t slot) const { atomicAdd(result + slot, 1ull); }
};

template <typename T, typename> SMP_DEVICE void histogram_naive(const smp_io &io, const smp_histogram_params &p)
{
    const histogram_add_global add = {static_cast<unsigned long long *>(io.result)};
    int64_t end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < io.in.width;
             x += (int64_t)gridDim.x * blockDim.x)
            histogram_pixel(smp_in<T>(io.in, y) + x * io.in.channels, io, p, add);
}
SMP_KERNEL_SAME(histogram_naive, smp_histogram_params)

/* ---------------------------------------------------------------------------------------------- tiled */

struct histogram_add_shared {
    histogram_tally *tally;
    SMP_MEMBER void operator()(int32_t counter) const { tally->add((unsigned)counter); }
};

/* Pixel by pixel into the block's counters. */
template <typename T>
SMP_DEVICE void histogram_pixels(const smp_io &io, const smp_histogram_params &p, histogram_tally &tally)
{
    const histogram_add_shared add = {&tally};
    smp_walk walk;
    walk.start((int64_t)blockIdx.x * histogram_threads() + histogram_thread(), (int64_t)gridDim.x * histogram_threads(),
               io.in.width, io.out.rows);
    for (; walk.more(); walk.next()) {
        const T *in = smp_in<T>(io.in, io.out.y0 + walk.y) + (int64_t)walk.k * io.in.channels;
        if (smp_histogram_by_code(&p, io.in.format))
            for (int32_t c = 0; c < io.in.channels; c++)
                add(c * 256 + (int32_t)in[c]);
        else
            histogram_pixel(in, io, p, add);
    }
}

template <typename T, typename> SMP_DEVICE void histogram_tiled(const smp_io &io, const smp_histogram_params &p)
{
    SMP_SMEM_DYNAMIC(unsigned, shared);
    histogram_tally tally;
    tally.start(io, p, shared, 1);
    histogram_pixels<T>(io, p, tally);
    tally.finish(io, p);
}
SMP_KERNEL_SAME(histogram_tiled, smp_histogram_params)

/* ---------------------------------------------------------------------------------------------- private */

/* CODES: counted by code value. */
template <typename T, int C, bool CODES>
SMP_DEVICE void histogram_group(const smp_group<T, C> &group, const smp_io &io, const smp_histogram_params &p,
                                histogram_tally &tally)
{
#pragma unroll
    for (int i = 0; i < group.pixels; i++) {
        if (!CODES && p.colours) {
            float pixel[C];
#pragma unroll
            for (int c = 0; c < C; c++)
                pixel[c] = smp_value(group.sample(i, c));
            tally.add((unsigned)smp_histogram_bin(smp_histogram_luma_of(pixel, &p, C), io.in.white, &p));
            continue;
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            if (CODES)
                tally.add(256u * (unsigned)c + (unsigned)group.sample(i, c), true);
            else
                tally.add((unsigned)(c * (p.bins + 1) + histogram_bin(group.sample(i, c), io.in.white, p)));
    }
}

/* Several groups of words at a time; the last of a row, and rows that do not begin at 16 bytes, pixel by pixel. */
template <typename T, int C, bool CODES>
SMP_DEVICE void histogram_groups(const smp_io &io, const smp_histogram_params &p, histogram_tally &tally)
{
    constexpr int AT_ONCE = CODES && C != 3 ? 2 : 1;
    typedef smp_group<T, C> group;
    const histogram_add_shared add = {&tally};
    int64_t width = io.in.width, rows = io.out.rows;
    if (io.in.stride == width * C * (int64_t)sizeof(T) && smp_walk_fits(width * rows)) {
        width *= rows;
        rows = 1;
    }
    const char *start = reinterpret_cast<const char *>(smp_in<T>(io.in, io.out.y0));
    const bool aligned = ((uintptr_t)start | (rows > 1 ? (uintptr_t)io.in.stride : 0)) % 16 == 0;
    smp_walk walk;
    walk.start((int64_t)blockIdx.x * histogram_threads() + histogram_thread(), (int64_t)gridDim.x * histogram_threads(),
               (width + group::pixels - 1) / group::pixels, rows);
    while (walk.more()) {
        group groups[AT_ONCE];
        unsigned whole = 0; /* a bit each */
#pragma unroll
        for (int g = 0; g < AT_ONCE; g++) {
            if (!walk.more())
                continue;
            const T *at =
                reinterpret_cast<const T *>(start + walk.y * io.in.stride) + walk.k * (int64_t)(group::pixels * C);
            const int64_t left = width - walk.k * (int64_t)group::pixels;
            if (aligned && left >= group::pixels) {
                groups[g].load(at);
                whole |= 1u << g;
            } else
#pragma unroll 1
                for (int i = 0; i < left * C && i < group::pixels * C; i += C)
                    if (CODES)
#pragma unroll 1
                        for (int c = 0; c < C; c++)
                            add(c * 256 + (int32_t)at[i + c]);
                    else
                        histogram_pixel(at + i, io, p, add);
            walk.next();
        }
#pragma unroll
        for (int g = 0; g < AT_ONCE; g++)
            if (whole >> g & 1)
                histogram_group<T, C, CODES>(groups[g], io, p, tally);
    }
}

template <typename T, bool CODES>
SMP_DEVICE void histogram_by_channels(const smp_io &io, const smp_histogram_params &p, histogram_tally &tally)
{
    switch (io.in.channels) {
    case 1:
        histogram_groups<T, 1, CODES>(io, p, tally);
        break;
    case 2:
        histogram_groups<T, 2, CODES>(io, p, tally);
        break;
    case 3:
        histogram_groups<T, 3, CODES>(io, p, tally);
        break;
    case 4:
        histogram_groups<T, 4, CODES>(io, p, tally);
        break;
    default:
        histogram_pixels<T>(io, p, tally);
        break;
    }
}

template <typename T> SMP_DEVICE void histogram_private(const smp_io &io, const smp_histogram_params &p)
{
    SMP_SMEM_DYNAMIC(unsigned, shared);
    histogram_tally tally;
    tally.start(io, p, shared, blockDim.x);
    if (smp_sample<T>::format == SMP_U8 && !p.colours)
        histogram_by_channels<T, smp_sample<T>::format == SMP_U8>(io, p, tally);
    else
        histogram_by_channels<T, false>(io, p, tally);
    tally.finish(io, p);
}

SMP_KERNEL_BOUNDS(1024, 2, histogram_private_u8_u8, smp_histogram_params, io, p)
{
    histogram_private<uint8_t>(io, p);
}
SMP_KERNEL_BOUNDS(1024, 2, histogram_private_u16_u16, smp_histogram_params, io, p)
{
    histogram_private<uint16_t>(io, p);
}
SMP_KERNEL_BOUNDS(1024, 2, histogram_private_f32_f32, smp_histogram_params, io, p)
{
    histogram_private<float>(io, p);
}
