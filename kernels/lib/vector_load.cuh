/* Shared by GPU kernels that read every sample of a picture and write none: groups of 16-byte vectors that hold whole
 * pixels, so that the channel of each sample is known at compile time, and a walk over such groups without
 * divisions. */
#pragma once

#include "lib/gpu_kernel.h"

typedef smp_pack<uint32_t, 4> smp_word; /* 16 bytes */

/* Streaming loads, for data that is read once. smp_load_streaming: ld.cs (evict first). smp_load_no_l1: no L1
 * allocation, 256-byte L2 prefetch. Which one is faster was measured (docs/why.md). */
SMP_DEVICE smp_word smp_load_streaming(const smp_word *at)
{
#ifdef __CUDACC__
    const uint4 v = __ldcs(reinterpret_cast<const uint4 *>(at));
    return {{v.x, v.y, v.z, v.w}};
#else
    return *at;
#endif
}
SMP_DEVICE smp_word smp_load_no_l1(const smp_word *at)
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    smp_word v;
    asm("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v.v[0]), "=r"(v.v[1]), "=r"(v.v[2]), "=r"(v.v[3])
        : "l"(at));
    return v;
#else
    return *at;
#endif
}
SMP_DEVICE float smp_load_no_l1(const float *at)
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    float v;
    asm("ld.global.nc.L1::no_allocate.L2::256B.f32 %0, [%1];" : "=f"(v) : "l"(at));
    return v;
#else
    return *at;
#endif
}
template <typename T> SMP_DEVICE T smp_load_no_l1(const T *at)
{
    return *at;
}

/* The fewest 16-byte vectors that hold whole pixels of C samples of T: three for three channels, else one. */
template <typename T, int C> struct smp_vector_row {
    static constexpr int word = 16 / (int)sizeof(T); /* samples */
    static constexpr int words = C == 3 ? 3 : 1;
    static constexpr int pixels = words * word / C;
    static_assert(C <= 4, "1 to 4 channels");
    smp_word v[words]; /* unconverted: compilers keep each byte in a register of its own */

    SMP_DEVICE_MEMBER void load_streaming(const T *at)
    {
#pragma unroll
        for (int i = 0; i < words; i++)
            v[i] = smp_load_streaming(reinterpret_cast<const smp_word *>(at) + i);
    }
    SMP_DEVICE_MEMBER void load_no_l1(const T *at)
    {
#pragma unroll
        for (int i = 0; i < words; i++)
            v[i] = smp_load_no_l1(reinterpret_cast<const smp_word *>(at) + i);
    }
    /* 32 bits, and one sample. Indices are constants in unrolled loops. */
    SMP_DEVICE_MEMBER uint32_t bits(int i) const
    {
        return v[i / 4].v[i % 4];
    }
    SMP_DEVICE_MEMBER T sample(int pixel, int channel) const
    {
        constexpr int each = 4 / (int)sizeof(T);
        const int i = pixel * C + channel;
        return from_bits(bits(i / each) >> 32 / each * (i % each), static_cast<const T *>(nullptr));
    }

  private:
    static SMP_DEVICE_MEMBER uint8_t from_bits(uint32_t v, const uint8_t *)
    {
        return (uint8_t)v;
    }
    static SMP_DEVICE_MEMBER uint16_t from_bits(uint32_t v, const uint16_t *)
    {
        return (uint16_t)v;
    }
    static SMP_DEVICE_MEMBER float from_bits(uint32_t v, const float *)
    {
        return __uint_as_float(v);
    }
};

/* Splits the pixels of aligned rows into groups and the singles after them. In other rows all are singles. */
template <typename T, int C> struct smp_row_split {
    typedef smp_vector_row<T, C> group;
    uint32_t groups, singles; /* of a row */

    SMP_DEVICE_MEMBER void start(const void *first, int64_t stride, uint64_t width, int64_t rows)
    {
        const bool aligned = ((uintptr_t)first | (rows > 1 ? (uintptr_t)stride : 0)) % 16 == 0;
        groups = aligned ? (uint32_t)(width / (unsigned)group::pixels) : 0;
        singles = (uint32_t)(width - (uint64_t)groups * group::pixels);
    }
    /* Single k of that row. */
    SMP_DEVICE_MEMBER const T *single(const char *row, uint32_t k) const
    {
        return reinterpret_cast<const T *>(row) + (int64_t)(k + groups * group::pixels) * C;
    }
};

/* A walk over rows of `across` places, from place `first` in steps of `step`; y and k are the row and the place in it.
 * Fewer than 2^32 rows, and places in a row (smp_walk_fits): 32-bit numbers take half the registers. */
SMP_DEVICE bool smp_walk_fits(int64_t n)
{
    return n < UINT32_MAX / 2;
}
struct smp_step {
    uint32_t y, k;

    /* Advances by n places; divisions are slow, and rows often longer than a step. */
    SMP_DEVICE_MEMBER void of(uint32_t n, uint32_t across)
    {
        y = 0;
        k = n;
        if (n >= across) {
            y = n / across;
            k = n - y * across;
        }
    }
};
struct smp_walk {
    uint32_t y, k, rows, across;
    smp_step step;

    SMP_DEVICE_MEMBER void start(uint32_t first, uint32_t every, uint32_t across_, uint32_t rows_)
    {
        smp_step begin;
        across = across_;
        rows = rows_;
        begin.of(first, across);
        y = begin.y;
        k = begin.k;
        step.of(every, across);
    }
    SMP_DEVICE_MEMBER bool more() const { return y < rows; }
    SMP_DEVICE_MEMBER void go(const smp_step &by)
    {
        y += by.y;
        k += by.k;
        if (k >= across) {
            k -= across;
            y++;
        }
    }
    SMP_DEVICE_MEMBER void next() { go(step); }
};
