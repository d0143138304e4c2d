/* The part of the GPU benchmark that nvcc compiles: CUB's calls, kernels that only read, and comparing two pictures on
 * the GPU. libgpu_cub.so, opened at run time, so that the rest builds and runs without CUDA. Work is queued on `stream`
 * of the context that is current. All return a cudaError_t, 0 for success. */
#ifndef SMP_TESTS_BENCH_GPU_CUB_H
#define SMP_TESTS_BENCH_GPU_CUB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_CUB_INTERFACE 1 /* changes when a function below does */

/* format: an smp_format. *temp_size is set when temp is null, and nothing else is done then. */
typedef struct gpu_cub {
    int interface; /* GPU_CUB_INTERFACE */
    int version;   /* CUB_VERSION: 300001 is 3.0.1 */
    const char *(*error_text)(int error);
    /* Reads `size` bytes at data, both multiples of 16; way 0: 16 KB a block, as many blocks as it takes; 1: 32 KB a
     * block; 2: blocks that stay, one wave of them, and what they read is the first to leave the L2 cache. sink: 4
     * bytes. */
    int (*read)(const void *data, size_t size, int way, void *sink, void *stream);
    /* Adds to *count how many bytes of the rows differ. */
    int (*differences)(const void *a, int64_t a_stride, const void *b, int64_t b_stride, int64_t row_bytes,
                       int64_t rows, uint64_t *count, void *stream);
    /* The sum of `count` samples: of f32 as f32, of u8 and u16 in 64 bits. */
    int (*sum)(void *temp, size_t *temp_size, const void *in, int format, void *out, int64_t count, void *stream);
    /* counts: channels x bins of int32. u8 or u16; 1 or 3 channels. */
    int (*histogram)(void *temp, size_t *temp_size, const void *in, int format, int channels, int bins, int32_t *counts,
                     int64_t pixels, void *stream);
} gpu_cub;

/* The one symbol that is looked up; static storage. */
#ifdef __CUDACC__
__attribute__((visibility("default")))
#endif
const gpu_cub *
gpu_cub_table(void);

#ifdef __cplusplus
}
#endif
#endif
