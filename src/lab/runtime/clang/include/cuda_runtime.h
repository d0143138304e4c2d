/* Lets clang compile CUDA for `smempipe kernel` without any file of NVIDIA's: qualifiers, vector types, the functions
 * of kernels that its own built-ins make, and the host's functions that libsmp_cudart has. Kernels that include other
 * headers of CUDA (cooperative groups, half, wmma) need nvcc. */
#ifndef SMP_CLANG_CUDA_RUNTIME_H
#define SMP_CLANG_CUDA_RUNTIME_H

#define __device__           __attribute__((device))
#define __global__           __attribute__((global))
#define __host__             __attribute__((host))
#define __shared__           __attribute__((shared))
#define __constant__         __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__      inline __attribute__((always_inline))
#define __noinline__         __attribute__((noinline))
#define __align__(bytes)     __attribute__((aligned(bytes)))
#define SMP_BOTH             __host__ __device__ inline

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ vectors */

#define SMP_SHORT_VECTORS(type, name, align2)                                                                          \
    struct name##1 {                                                                                                   \
        type x;                                                                                                        \
    };                                                                                                                 \
    struct __align__(align2) name##2 {                                                                                 \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    struct name##3 {                                                                                                   \
        type x, y, z;                                                                                                  \
    };                                                                                                                 \
    SMP_BOTH name##1 make_##name##1(type x) { return {x}; }                                                            \
    SMP_BOTH name##2 make_##name##2(type x, type y) { return {x, y}; }                                                 \
    SMP_BOTH name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }

#define SMP_VECTORS(type, name, align2, align4)                                                                        \
    SMP_SHORT_VECTORS(type, name, align2)                                                                              \
    struct __align__(align4) name##4 {                                                                                 \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    SMP_BOTH name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

/* Copies of 16 bytes are one access, as nvcc makes them; a plain struct would be copied in halves. */
#define SMP_WHOLE(type, name)                                                                                          \
    struct __align__(16) name##4 {                                                                                     \
        typedef type all __attribute__((ext_vector_type(4)));                                                          \
        type x, y, z, w;                                                                                               \
        name##4() = default;                                                                                           \
        SMP_BOTH name##4(type a, type b = 0, type c = 0, type d = 0) : x(a), y(b), z(c), w(d) {}                       \
        SMP_BOTH name##4(const name##4 &from) { *(all *)this = *(const all *)&from; }                                  \
        SMP_BOTH name##4 &operator=(const name##4 &from)                                                               \
        {                                                                                                              \
            *(all *)this = *(const all *)&from;                                                                        \
            return *this;                                                                                              \
        }                                                                                                              \
    };                                                                                                                 \
    SMP_BOTH name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

SMP_VECTORS(signed char, char, 2, 4)
SMP_VECTORS(unsigned char, uchar, 2, 4)
SMP_VECTORS(short, short, 4, 8)
SMP_VECTORS(unsigned short, ushort, 4, 8)
SMP_SHORT_VECTORS(int, int, 8)
SMP_WHOLE(int, int)
SMP_SHORT_VECTORS(unsigned, uint, 8)
SMP_WHOLE(unsigned, uint)
SMP_SHORT_VECTORS(float, float, 8)
SMP_WHOLE(float, float)
SMP_VECTORS(long long, longlong, 16, 16)
SMP_VECTORS(unsigned long long, ulonglong, 16, 16)
SMP_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    SMP_BOTH constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    SMP_BOTH constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    SMP_BOTH operator uint3() const { return {x, y, z}; }
};

/* ------------------------------------------------------------------------------------------------ host */

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorLaunchFailure = 719
} cudaError_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

extern "C" {
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t cudaMalloc(void **p, size_t size);
cudaError_t cudaMallocHost(void **p, size_t size);
cudaError_t cudaMallocManaged(void **p, size_t size, unsigned flags = 1);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
cudaError_t cudaMemset(void *p, int value, size_t size);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaMemGetInfo(size_t *unused, size_t *total);
cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
}

template <typename T> static inline cudaError_t cudaMalloc(T **p, size_t size) { return cudaMalloc((void **)p, size); }
template <typename T> static inline cudaError_t cudaMallocHost(T **p, size_t size)
{
    return cudaMallocHost((void **)p, size);
}
template <typename T> static inline cudaError_t cudaMallocManaged(T **p, size_t size, unsigned flags = 1)
{
    return cudaMallocManaged((void **)p, size, flags);
}
template <typename T>
static inline cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)function, attribute, value);
}
template <typename T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol((const void *)&symbol, from, size, offset, kind);
}

/* ------------------------------------------------------------------------------------------------ kernels */

#include <__clang_cuda_builtin_vars.h>

#define SMP_DEVICE __device__ inline

#ifdef __CUDA_ARCH__
#define SMP_ONLY_DEVICE(...) __VA_ARGS__
#else
#define SMP_ONLY_DEVICE(...) __builtin_unreachable()
#endif

SMP_DEVICE void __syncwarp(unsigned mask = 0xffffffff) { SMP_ONLY_DEVICE(__nvvm_bar_warp_sync(mask)); }
SMP_DEVICE void __threadfence() { SMP_ONLY_DEVICE(__nvvm_membar_gl()); }
SMP_DEVICE void __threadfence_block() { SMP_ONLY_DEVICE(__nvvm_membar_cta()); }

/* Mathematics: by instructions, correctly rounded but for those of the special function unit, which are nvcc's of
 * -use_fast_math here. Of doubles there is what has an instruction. */
#define SMP_MATH1(type, name, builtin)                                                                                 \
    SMP_DEVICE type name(type x) { SMP_ONLY_DEVICE(return builtin(x)); }
#define SMP_MATH2(type, name, builtin)                                                                                 \
    SMP_DEVICE type name(type x, type y) { SMP_ONLY_DEVICE(return builtin(x, y)); }
#define SMP_MATH3(type, name, builtin)                                                                                 \
    SMP_DEVICE type name(type x, type y, type z) { SMP_ONLY_DEVICE(return builtin(x, y, z)); }
SMP_MATH1(float, fabsf, __builtin_fabsf)
SMP_MATH1(float, floorf, __builtin_floorf)
SMP_MATH1(float, ceilf, __builtin_ceilf)
SMP_MATH1(float, truncf, __builtin_truncf)
SMP_MATH1(float, rintf, __builtin_rintf)
SMP_MATH1(float, sqrtf, __nvvm_sqrt_rn_f)
SMP_MATH1(float, rsqrtf, __nvvm_rsqrt_approx_f)
SMP_MATH1(float, exp2f, __nvvm_ex2_approx_f)
SMP_MATH1(float, log2f, __nvvm_lg2_approx_f)
SMP_MATH1(float, __sinf, __nvvm_sin_approx_f)
SMP_MATH1(float, __cosf, __nvvm_cos_approx_f)
SMP_MATH1(float, sinf, __nvvm_sin_approx_f)
SMP_MATH1(float, cosf, __nvvm_cos_approx_f)
SMP_MATH2(float, fminf, __nvvm_fmin_f)
SMP_MATH2(float, fmaxf, __nvvm_fmax_f)
SMP_MATH3(float, fmaf, __nvvm_fma_rn_f)
SMP_MATH1(double, fabs, __builtin_fabs)
SMP_MATH1(double, floor, __builtin_floor)
SMP_MATH1(double, ceil, __builtin_ceil)
SMP_MATH1(double, trunc, __builtin_trunc)
SMP_MATH1(double, sqrt, __nvvm_sqrt_rn_d)
SMP_MATH2(double, fmin, __nvvm_fmin_d)
SMP_MATH2(double, fmax, __nvvm_fmax_d)
SMP_MATH3(double, fma, __nvvm_fma_rn_d)
SMP_DEVICE float __expf(float x) { return exp2f(x * 1.44269504f); }
SMP_DEVICE float expf(float x) { return __expf(x); }
SMP_DEVICE float __logf(float x) { return log2f(x) * 0.693147181f; }
SMP_DEVICE float logf(float x) { return __logf(x); }
SMP_DEVICE float __powf(float x, float y) { return exp2f(y * log2f(x)); }
SMP_DEVICE float powf(float x, float y) { return __powf(x, y); }
SMP_DEVICE float __fdividef(float x, float y) { return x / y; }
SMP_BOTH int min(int x, int y) { return x < y ? x : y; }
SMP_BOTH int max(int x, int y) { return x > y ? x : y; }
SMP_BOTH unsigned min(unsigned x, unsigned y) { return x < y ? x : y; }
SMP_BOTH unsigned max(unsigned x, unsigned y) { return x > y ? x : y; }
SMP_DEVICE float min(float x, float y) { return fminf(x, y); }
SMP_DEVICE float max(float x, float y) { return fmaxf(x, y); }

SMP_DEVICE size_t __cvta_generic_to_shared(const void *p)
{
    return (size_t)(__attribute__((address_space(3))) const void *)p;
}

/* A shuffle moves words; the segment's bounds are its last argument. */
#define SMP_SHUFFLE(name, builtin, index, last)                                                                        \
    SMP_DEVICE int name(unsigned mask, int value, index n, int width = 32)                                             \
    {                                                                                                                  \
        SMP_ONLY_DEVICE(return builtin(mask, value, (int)n, ((32 - width) << 8) | last));                              \
    }                                                                                                                  \
    SMP_DEVICE unsigned name(unsigned mask, unsigned value, index n, int width = 32)                                   \
    {                                                                                                                  \
        return (unsigned)name(mask, (int)value, n, width);                                                             \
    }                                                                                                                  \
    SMP_DEVICE float name(unsigned mask, float value, index n, int width = 32)                                         \
    {                                                                                                                  \
        int bits;                                                                                                      \
        __builtin_memcpy(&bits, &value, sizeof bits);                                                                  \
        bits = name(mask, bits, n, width);                                                                             \
        __builtin_memcpy(&value, &bits, sizeof bits);                                                                  \
        return value;                                                                                                  \
    }
SMP_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
SMP_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
SMP_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
SMP_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)

SMP_DEVICE int atomicAdd(int *p, int value) { SMP_ONLY_DEVICE(return __nvvm_atom_add_gen_i(p, value)); }
SMP_DEVICE unsigned atomicAdd(unsigned *p, unsigned value)
{
    SMP_ONLY_DEVICE(return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)value));
}
SMP_DEVICE float atomicAdd(float *p, float value) { SMP_ONLY_DEVICE(return __nvvm_atom_add_gen_f(p, value)); }
SMP_DEVICE int atomicMax(int *p, int value) { SMP_ONLY_DEVICE(return __nvvm_atom_max_gen_i(p, value)); }
SMP_DEVICE int atomicMin(int *p, int value) { SMP_ONLY_DEVICE(return __nvvm_atom_min_gen_i(p, value)); }
SMP_DEVICE int atomicExch(int *p, int value) { SMP_ONLY_DEVICE(return __nvvm_atom_xchg_gen_i(p, value)); }
SMP_DEVICE int atomicCAS(int *p, int old, int value) { SMP_ONLY_DEVICE(return __nvvm_atom_cas_gen_i(p, old, value)); }

#endif
