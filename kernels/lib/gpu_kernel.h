/* Shared by GPU kernel files (kernels/ROOM/NAME.cu). nvcc compiles them for GPUs; the host's C++ compiler compiles the
 * same text for the emulator through emulator_shim.h, which replaces CUDA's built-ins. How to write one:
 * kernels/README.md.
 *
 *   struct my_tile { float v[32][33]; };
 *   template <typename IN, typename OUT> SMP_DEVICE void blur_tiled(const smp_io &io, const blur_params &p)
 *   {
 *       SMP_SHARED(my_tile, s);
 *       ...
 *   }
 *   SMP_KERNEL_FORMATS(blur_tiled, blur_params)     // blur_tiled_u8_u8, blur_tiled_u8_f32, ... */
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/cpu_kernel.h"
#include "lib/view.h"

/* The parameter type of kernels that have none. */
struct smp_no_params {
    int32_t unused;
};

#ifdef __CUDACC__
/* ------------------------------------------------------------------------------------------------ GPU */

/* A function of kernels: always inlined. COLD: called, for rare cases, not in a hot loop. */
#define SMP_DEVICE      static __device__ __forceinline__
#define SMP_DEVICE_COLD static __device__ __noinline__
/* The same for a member of a struct. */
#define SMP_DEVICE_MEMBER __device__ __forceinline__

/* A kernel with the common signature, exported under its own name: SMP_KERNEL(name, type, io, p) { body }. */
#define SMP_KERNEL(name, type, io, p)                                                                                  \
    extern "C" __global__ void name(const __grid_constant__ smp_io io, const __grid_constant__ type p)
/* Threads and blocks of an SM (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"). */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define SMP_SM_THREADS 2048
#define SMP_SM_BLOCKS  32
#elif __CUDA_ARCH__ >= 860
#define SMP_SM_THREADS 1536
#define SMP_SM_BLOCKS  (__CUDA_ARCH__ >= 890 ? 24 : 16)
#else
#define SMP_SM_THREADS 1024
#define SMP_SM_BLOCKS  16
#endif
#define SMP_FEWER(a, b) ((a) < (b) ? (a) : (b))
/* The same with the most threads of a block and the fewest blocks that an SM should hold; fewer where an SM cannot. */
#define SMP_KERNEL_BOUNDS(threads, blocks, name, type, io, p)                                                          \
    extern "C" __global__ void __launch_bounds__(                                                                      \
        threads, SMP_FEWER(SMP_FEWER((blocks), SMP_SM_BLOCKS), SMP_SM_THREADS / (threads)))                            \
        name(const __grid_constant__ smp_io io, const __grid_constant__ type p)

/* A block's shared memory: `s` is a T. T is plain data without constructors; typedef names that contain commas. */
#define SMP_SHARED(T, s) __shared__ T s
/* The launch's dynamic shared memory: `s` is a T *, aligned to 128 bytes. At most once a kernel. */
#define SMP_SMEM_DYNAMIC(T, s)                                                                                         \
    extern __shared__ __align__(128) unsigned char smp_dynamic_shared[];                                               \
    T *const s = reinterpret_cast<T *>(smp_dynamic_shared)

/* N consecutive samples moved as one access of sizeof(T) * N = 1, 2, 4, 8 or 16 bytes. */
template <typename T, int N> struct alignas(sizeof(T) * N) smp_pack {
    T v[N];
};

/* For the emulator's traces, nothing on a GPU: a point where the lanes of a warp converge. Needed at the head of a loop
 * in which some lanes skip a shared access: the trace takes the nth access of each lane since this point for one
 * instruction. */
SMP_DEVICE void smp_converge() {}

/* Optimisation barrier: v stays in its register instead of being computed again for each use. */
SMP_DEVICE void smp_opaque(unsigned &v)
{
    asm volatile("" : "+r"(v));
}
SMP_DEVICE void smp_opaque(float &v)
{
    asm volatile("" : "+f"(v));
}
template <typename T> SMP_DEVICE void smp_opaque(const T *&v)
{
    asm volatile("" : "+l"(v));
}

/* Asynchronous copy of BYTES = 4, 8 or 16 from global to shared memory, both aligned to BYTES. Complete for this thread
 * after smp_copy_wait(), for others after a barrier that follows it. 16 bytes bypass the first-level cache. */
template <int BYTES> SMP_DEVICE void smp_copy_async(void *to, const void *from)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
    unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(BYTES) : "memory");
#else
    typedef smp_pack<uint32_t, BYTES / 4> pack;
    *static_cast<pack *>(to) = *static_cast<const pack *>(from);
#endif
}

/* The same; present == false stores zeros. Separate because the GPU has an instruction for it. */
template <int BYTES> SMP_DEVICE void smp_copy_async(void *to, const void *from, bool present)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
    unsigned shared = (unsigned)__cvta_generic_to_shared(to), size = present ? BYTES : 0;
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(size) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(BYTES), "r"(size)
                     : "memory");
#else
    typedef smp_pack<uint32_t, BYTES / 4> pack;
    pack value = {};
    if (present)
        value = *static_cast<const pack *>(from);
    *static_cast<pack *>(to) = value;
#endif
}

/* Copies 16 bytes and prefetches the 256 bytes around them into the second-level cache: for rows that several warps
 * read at about the same time. */
SMP_DEVICE void smp_copy_async_along(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "l"(from)
                 : "memory");
#else
    smp_copy_async<16>(to, from);
#endif
}

/* Closes a group of asynchronous copies; waits until at most PENDING groups of this thread are in flight. */
SMP_DEVICE void smp_copy_commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int PENDING> SMP_DEVICE void smp_copy_wait()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

#else
#include "lib/emulator_shim.h"
#endif

/* ------------------------------------------------------------------------------------------------ both */

#define SMP_KERNEL_PAIR_(name, in, IN, out, OUT, type)                                                                 \
    SMP_KERNEL(name##_##in##_##out, type, io, p)                                                                       \
    {                                                                                                                  \
        name<IN, OUT>(io, p);                                                                                          \
    }

/* Kernels of one template function name<IN, OUT>(io, p), for the same format in and out: stages that move or count. */
#define SMP_KERNEL_SAME(name, type)                                                                                    \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, u8, uint8_t, type)                                                             \
    SMP_KERNEL_PAIR_(name, u16, uint16_t, u16, uint16_t, type)                                                         \
    SMP_KERNEL_PAIR_(name, f32, float, f32, float, type)

/* All seven pairs that the planner uses. */
#define SMP_KERNEL_FORMATS(name, type)                                                                                 \
    SMP_KERNEL_SAME(name, type)                                                                                        \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, f32, float, type)                                                              \
    SMP_KERNEL_PAIR_(name, u16, uint16_t, f32, float, type)                                                            \
    SMP_KERNEL_PAIR_(name, f32, float, u8, uint8_t, type)                                                              \
    SMP_KERNEL_PAIR_(name, f32, float, u16, uint16_t, type)

/* For kernels with one side that is always float: a result, or a scratch picture. */
#define SMP_KERNEL_INTO_F32(name, type)                                                                                \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, f32, float, type)                                                              \
    SMP_KERNEL_PAIR_(name, u16, uint16_t, f32, float, type)                                                            \
    SMP_KERNEL_PAIR_(name, f32, float, f32, float, type)
#define SMP_KERNEL_FROM_F32(name, type)                                                                                \
    SMP_KERNEL_PAIR_(name, f32, float, u8, uint8_t, type)                                                              \
    SMP_KERNEL_PAIR_(name, f32, float, u16, uint16_t, type)                                                            \
    SMP_KERNEL_PAIR_(name, f32, float, f32, float, type)

/* The four pairs of bytes and floats. */
#define SMP_KERNEL_BYTES_FLOATS(name, type)                                                                            \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, u8, uint8_t, type)                                                             \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, f32, float, type)                                                              \
    SMP_KERNEL_PAIR_(name, f32, float, u8, uint8_t, type)                                                              \
    SMP_KERNEL_PAIR_(name, f32, float, f32, float, type)

/* The two pairs of integers, for stages that change the depth. */
#define SMP_KERNEL_DEPTHS(name, type)                                                                                  \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, u16, uint16_t, type)                                                           \
    SMP_KERNEL_PAIR_(name, u16, uint16_t, u8, uint8_t, type)

/* fn(y, i) for every STEP-th place i of 0 .. across-1 in every row y of the output: one a thread, for any grid. */
template <int STEP = 1, typename FN> SMP_DEVICE void smp_each(const smp_io &io, int64_t across, const FN &fn)
{
    const int64_t end = io.out.y0 + io.out.rows, step = STEP * (int64_t)gridDim.x * blockDim.x;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = STEP * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x); i < across; i += step)
            fn(y, i);
}

/* *to = v where `wanted`. Without a branch, into which nvcc would also move the computation of v. */
SMP_DEVICE void smp_store_where(bool wanted, unsigned *to, unsigned v)
{
#ifdef __CUDACC__
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1; }" ::"l"(to), "r"(v),
                 "r"((unsigned)wanted)
                 : "memory");
#else
    if (wanted)
        *to = v;
#endif
}

/* Scheduling barrier: keeps nvcc from moving loads across it. All lanes must execute it. Costs one NOP. For kernels
 * limited by arithmetic: nvcc reorders operations to hide a latency that other warps hide anyway, and operations then
 * read three registers of one bank. */
SMP_DEVICE void smp_load_fence()
{
#ifdef __CUDACC__
    __syncwarp();
#endif
}

/* Samples by C type: as code values, and rounded exactly as smp_store() rounds. */
SMP_DEVICE float smp_value(uint8_t v)
{
    return (float)v;
}
SMP_DEVICE float smp_value(uint16_t v)
{
    return (float)v;
}
SMP_DEVICE float smp_value(float v)
{
    return v;
}
template <typename T> struct smp_sample;
template <> struct smp_sample<uint8_t> {
    static constexpr int format = SMP_U8;
};
template <> struct smp_sample<uint16_t> {
    static constexpr int format = SMP_U16;
};
template <> struct smp_sample<float> {
    static constexpr int format = SMP_F32;
};
template <typename T> SMP_DEVICE T smp_rounded(float v)
{
#ifdef __CUDACC__
    if (smp_sample<T>::format != SMP_F32) { /* fmaxf takes NaN to 0; the sum's low bits are the integer */
        const float white = smp_sample<T>::format == SMP_U8 ? 255.f : 65535.f;
        return (T)__float_as_uint(fminf(fmaxf(v, 0.f), white) + 8388608.f);
    }
#endif
    if (smp_sample<T>::format == SMP_U8)
        return (T)smp_to_u8(v);
    if (smp_sample<T>::format == SMP_U16)
        return (T)smp_to_u16(v);
    return (T)v;
}

/* Row y of a view as samples of T. The row must be present. */
template <typename T> SMP_DEVICE const T *smp_in(const smp_view &v, int64_t y)
{
    return static_cast<const T *>(smp_row(&v, y));
}
template <typename T> SMP_DEVICE T *smp_out(const smp_view &v, int64_t y)
{
    return static_cast<T *>(smp_row(&v, y));
}

/* 1 when storing v as OUT clips. Add up a thread's own, then call smp_count_clipped<OUT>() once. */
template <typename OUT> SMP_DEVICE unsigned smp_clipped(float v)
{
    if (smp_sample<OUT>::format == SMP_F32)
        return 0;
    return (unsigned)smp_clips(v, smp_sample<OUT>::format == SMP_U8 ? 255.f : 65535.f);
}
/* All lanes of a warp must call it, those without results too: one atomic a warp, since all go to one address. */
template <typename OUT> SMP_DEVICE void smp_count_clipped(const smp_io &io, unsigned count)
{
    if (smp_sample<OUT>::format != SMP_F32 && io.clipped) {
        for (unsigned distance = 16; distance; distance /= 2)
            count += __shfl_down_sync(0xffffffffu, count, distance);
        if ((threadIdx.x + threadIdx.y * blockDim.x) % 32 == 0 && count)
            atomicAdd(reinterpret_cast<unsigned long long *>(io.clipped), (unsigned long long)count);
    }
}
