/* CUB beside our kernels: see gpu_cub.h. Built by nvcc into libgpu_cub.so (target gpu_cub). */
#include "gpu_cub.h"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_runtime.h>

namespace
{

enum { U8, U16, F32 }; /* smp_format */

/* ---------------------------------------------------------------------------------------------- reading */

enum { READ_THREADS = 256, STAYING_THREADS = 1024 };

/* streaming: lines that are read are the first to leave the cache; otherwise they drive others out. */
template <int each, bool streaming>
__device__ __forceinline__ unsigned read_words(const uint4 *data, size_t at, size_t step, size_t count)
{
    unsigned sum = 0;
    uint4 v[each];
    if (at + (each - 1) * step < count) { /* without conditions all loads are under way at once */
#pragma unroll
        for (int k = 0; k < each; k++)
            v[k] = streaming ? __ldcs(data + at + k * step) : data[at + k * step];
    } else {
        for (int k = 0; k < each; k++)
            v[k] = at + k * step < count ? data[at + k * step] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < each; k++)
        sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    return sum;
}

/* The sum is nearly never this; the compiler cannot know. */
__device__ __forceinline__ void leave(unsigned sum, unsigned *sink)
{
    if (sum == 0x9e3779b9u)
        *sink = sum;
}

template <int each>
__global__ void __launch_bounds__(READ_THREADS) read_once(const uint4 *data, size_t count, unsigned *sink)
{
    leave(read_words<each, false>(data, (size_t)blockIdx.x * READ_THREADS * each + threadIdx.x, READ_THREADS, count),
          sink);
}

__global__ void __launch_bounds__(STAYING_THREADS) read_staying(const uint4 *data, size_t count, unsigned *sink)
{
    const size_t step = STAYING_THREADS, turn = (size_t)gridDim.x * step * 4;
    unsigned sum = 0;
    for (size_t at = (size_t)blockIdx.x * step * 4 + threadIdx.x; at < count; at += turn)
        sum += read_words<4, true>(data, at, step, count);
    leave(sum, sink);
}

template <int each> void launch_once(const uint4 *data, size_t count, unsigned *sink, cudaStream_t queue)
{
    const size_t block = READ_THREADS * each;
    read_once<each><<<(unsigned)((count + block - 1) / block), READ_THREADS, 0, queue>>>(data, count, sink);
}

int read_all(const void *data, size_t size, int way, void *sink, void *stream)
{
    const uint4 *words = static_cast<const uint4 *>(data);
    unsigned *at = static_cast<unsigned *>(sink);
    const size_t count = size / 16;
    cudaStream_t queue = static_cast<cudaStream_t>(stream);
    if (count == 0)
        return cudaSuccess;
    if (way == 0) {
        launch_once<4>(words, count, at, queue);
    } else if (way == 1) {
        launch_once<8>(words, count, at, queue);
    } else {
        int device = 0, units = 0;
        cudaError_t error = cudaGetDevice(&device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
        if (error != cudaSuccess)
            return error;
        read_staying<<<(unsigned)(2 * units), STAYING_THREADS, 0, queue>>>(words, count, at);
    }
    return cudaGetLastError();
}

/* ---------------------------------------------------------------------------------------------- comparing */

__global__ void count_differences(const unsigned char *a, int64_t a_stride, const unsigned char *b, int64_t b_stride,
                                  int64_t row_bytes, int64_t rows, unsigned long long *count)
{
    unsigned long long mine = 0;
    for (int64_t y = blockIdx.x; y < rows; y += gridDim.x) {
        const unsigned char *p = a + y * a_stride, *q = b + y * b_stride;
        const bool words = (((uintptr_t)p | (uintptr_t)q) & 15) == 0;
        const int64_t whole = words ? row_bytes / 16 : 0;
        for (int64_t i = threadIdx.x; i < whole; i += blockDim.x) {
            const uint4 v = reinterpret_cast<const uint4 *>(p)[i], w = reinterpret_cast<const uint4 *>(q)[i];
            const unsigned d[4] = {v.x ^ w.x, v.y ^ w.y, v.z ^ w.z, v.w ^ w.w};
            if (d[0] | d[1] | d[2] | d[3])
                for (int k = 0; k < 4; k++)
                    for (unsigned rest = d[k]; rest; rest >>= 8)
                        mine += (rest & 0xff) != 0;
        }
        for (int64_t i = whole * 16 + threadIdx.x; i < row_bytes; i += blockDim.x)
            mine += p[i] != q[i];
    }
    if (mine)
        atomicAdd(count, mine);
}

int differences(const void *a, int64_t a_stride, const void *b, int64_t b_stride, int64_t row_bytes, int64_t rows,
                uint64_t *count, void *stream)
{
    if (row_bytes <= 0 || rows <= 0)
        return cudaSuccess;
    if (a_stride == row_bytes && b_stride == row_bytes && row_bytes < 4096) { /* one long run (sound): rows of 16 KB */
        const int64_t all = row_bytes * rows, piece = 16384, whole = all / piece;
        int error = differences(a, piece, b, piece, piece, whole, count, stream);
        if (error == cudaSuccess && all > whole * piece)
            error =
                differences(static_cast<const char *>(a) + whole * piece, piece,
                            static_cast<const char *>(b) + whole * piece, piece, all - whole * piece, 1, count, stream);
        return error;
    }
    const unsigned blocks = rows < 65536 ? (unsigned)rows : 65536u;
    count_differences<<<blocks, 256, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const unsigned char *>(a), a_stride, static_cast<const unsigned char *>(b), b_stride, row_bytes,
        rows, reinterpret_cast<unsigned long long *>(count));
    return cudaGetLastError();
}

/* ---------------------------------------------------------------------------------------------- CUB */

int sum(void *temp, size_t *temp_size, const void *in, int format, void *out, int64_t count, void *stream)
{
    cudaStream_t queue = static_cast<cudaStream_t>(stream);
    unsigned long long *whole = static_cast<unsigned long long *>(out);
    if (format == U8)
        return cub::DeviceReduce::Sum(temp, *temp_size, static_cast<const unsigned char *>(in), whole, (int)count,
                                      queue);
    if (format == U16)
        return cub::DeviceReduce::Sum(temp, *temp_size, static_cast<const unsigned short *>(in), whole, (int)count,
                                      queue);
    return cub::DeviceReduce::Sum(temp, *temp_size, static_cast<const float *>(in), static_cast<float *>(out),
                                  (int)count, queue);
}

template <typename Sample>
int histogram_of(void *temp, size_t *temp_size, const Sample *in, int channels, int bins, int top, int *counts,
                 int64_t pixels, cudaStream_t queue)
{
    if (channels == 1)
        return cub::DeviceHistogram::HistogramEven(temp, *temp_size, in, counts, bins + 1, 0, top, (int)pixels, queue);
#if CUB_VERSION >= 300000
    const cuda::std::array<int *, 3> each = {counts, counts + bins, counts + 2 * bins};
    const cuda::std::array<int, 3> levels = {bins + 1, bins + 1, bins + 1}, from = {0, 0, 0}, to = {top, top, top};
#else
    int *each[3] = {counts, counts + bins, counts + 2 * bins};
    int levels[3] = {bins + 1, bins + 1, bins + 1}, from[3] = {0, 0, 0}, to[3] = {top, top, top};
#endif
    return cub::DeviceHistogram::MultiHistogramEven<3, 3>(temp, *temp_size, in, each, levels, from, to, (int)pixels,
                                                          queue);
}

int histogram(void *temp, size_t *temp_size, const void *in, int format, int channels, int bins, int32_t *counts,
              int64_t pixels, void *stream)
{
    cudaStream_t queue = static_cast<cudaStream_t>(stream);
    if ((channels != 1 && channels != 3) || format == F32)
        return cudaErrorInvalidValue;
    if (format == U8)
        return histogram_of(temp, temp_size, static_cast<const unsigned char *>(in), channels, bins, 256, counts,
                            pixels, queue);
    return histogram_of(temp, temp_size, static_cast<const unsigned short *>(in), channels, bins, 65536, counts, pixels,
                        queue);
}

const char *error_text(int error)
{
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

} // namespace

extern "C" const gpu_cub *gpu_cub_table(void)
{
    static const gpu_cub table = {GPU_CUB_INTERFACE, CUB_VERSION, error_text, read_all, differences, sum, histogram};
    return &table;
}
