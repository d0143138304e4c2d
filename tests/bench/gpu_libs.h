/* NVIDIA's libraries on the work of a row: NPP and cuBLAS, opened with dlopen, and CUB through libgpu_cub.so
 * (gpu_cub.h). Everything here compiles without CUDA; what is missing at run time is said and left out.
 *
 * Libraries are looked for in the folders of SMP_PEER_LIBS (separated by colons), where the loader looks, and in
 * /usr/local/cuda/lib64. */
#ifndef SMP_TESTS_BENCH_GPU_LIBS_H
#define SMP_TESTS_BENCH_GPU_LIBS_H

#include "device/device.h"
#include "gpu_cub.h"
#include "gpu_rows.h"

typedef struct gpu_libs gpu_libs;

/* One peer's work on a row. The caller fills in all but the last group. */
typedef struct gpu_call {
    gpu_libs *libs;
    const gpu_row *row;
    smp_view in, out; /* device memory, whole pictures; out data null: nothing is written */
    void *weights;    /* device memory for GPU_WEIGHTS floats */
    void *results;    /* device memory for GPU_RESULTS bytes */
    void *scratch;    /* device memory */
    size_t scratch_size;
    char why[160];  /* after a failure: what is missing, or went wrong */
    void *function; /* set by prepare */
    size_t taken;   /* of scratch */
} gpu_call;

enum { GPU_WEIGHTS = 1024, GPU_RESULTS = 4 << 20 };

typedef struct gpu_peer {
    const char *name;
    bool picture;                /* writes what we write, so that the two can be compared */
    bool (*prepare)(void *call); /* through gpu_peer_prepare and gpu_peer_run */
    bool (*run)(void *call);
} gpu_peer;

const gpu_peer *gpu_peer_find(const char *name);

/* Opens what the peer needs; queues its work on the stream. False: call->why says why not. */
bool gpu_peer_prepare(const gpu_peer *peer, gpu_call *call);
bool gpu_peer_run(const gpu_peer *peer, gpu_call *call);

/* The weights that a row's peers filter with: as many as taps, or taps x taps. 0 when it has none. */
size_t gpu_peer_weights(const gpu_row *row, float *weights);

/* device: a GPU that smp_device_open() made; stream: its CUstream; cub: a path, null: beside this program. Null when
 * memory is exhausted. Nothing is loaded before it is needed. */
gpu_libs *gpu_libs_open(const smp_device *device, void *stream, const char *cub);
void gpu_libs_close(gpu_libs *libs); /* null is allowed */

/* CUB's table; null: *why (static storage of libs) says why not. */
const gpu_cub *gpu_libs_cub(gpu_libs *libs, const char **why);

/* "13.0.3", "13.1.0 (cuBLAS)": versions of what was opened so far; "" when none. */
void gpu_libs_versions(gpu_libs *libs, char *npp, char *cublas, char *cub, size_t size);

#endif
