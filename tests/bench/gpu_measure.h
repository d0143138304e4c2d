/* Measuring a row: our result against the CPU's definition, ours at full size against the plain kernels on the same
 * GPU, then times by events on one stream: a copy, a read, ours and the peers in turns, on the same buffers, with the
 * L2 cache emptied before each sample. */
#ifndef SMP_TESTS_BENCH_GPU_MEASURE_H
#define SMP_TESTS_BENCH_GPU_MEASURE_H

#include "compare/internal.h"
#include "device/cuda/cuda.h"
#include "gpu_data.h"
#include "gpu_libs.h"
#include "gpu_work.h"

enum { GPU_SAMPLES = 15, GPU_READS = 3, GPU_TEXT = 256 };

typedef struct gpu_samples { /* seconds, in the order in which they were taken */
    double seconds[GPU_SAMPLES];
    size_t count;
} gpu_samples;

double gpu_median(const gpu_samples *samples); /* 0 without samples */

typedef struct gpu_peer_result {
    const char *name; /* null: no more */
    gpu_samples times;
    char why[160];     /* it could not run */
    int64_t differing; /* bytes of its result that are not ours; -1: not compared */
} gpu_peer_result;

typedef struct gpu_result {
    const gpu_row *row;
    char variants[GPU_TEXT];
    char check[GPU_TEXT];   /* "right", or what is wrong: then nothing is timed */
    char at_size[GPU_TEXT]; /* the same at full size, against naive on the GPU; "" when it could not be compared */
    double bytes, ops;      /* of ours */
    gpu_samples kernels;    /* ours: the seconds in kernels, an event before and after each, as `compare` has them */
    gpu_samples whole; /* ours as the peers are taken: from before the first to after the last, clearing results too */
    gpu_samples copy;  /* of the input by the driver */
    gpu_samples read[GPU_READS];
    gpu_peer_result peers[GPU_PEERS];
    gpu_samples round, ragged;          /* kernels of ours */
    double sm_clock_low, sm_clock_high; /* MHz, between samples; 0: unknown */
    int dropped;                        /* samples while the GPU was slowed down */
    double seconds;                     /* that the row took in all */
} gpu_result;

typedef struct gpu_bench_request {
    const char *device; /* "cuda", "cuda:1", "simt" */
    bool tiny, with_peers;
    const char *cub, *photo; /* paths, or null */
    double row_seconds;      /* for the samples of one row, at most, once there are a few */
} gpu_bench_request;

typedef struct gpu_bench {
    const gpu_bench_request *request;
    smp_device *device, *cpu;
    smp_cuda_handles handles;
    CUevent begin, end;
    gpu_libs *libs;     /* null on the emulator */
    const gpu_cub *cub; /* null: not there */
    const char *cub_why;
    smp_flush *flush;      /* where there is no cub */
    void *source, *target; /* device memory of `size` bytes each */
    size_t size, filled;   /* bytes of the source that hold the data of `data` */
    const gpu_row *data;
    void *lines; /* device: four times the L2 cache, read to empty it */
    size_t lines_size;
    void *weights, *results, *scratch;
    size_t scratch_size;
    void *block; /* host: GPU_BLOCK bytes */
    gpu_photo photo;
} gpu_bench;

/* *bench is filled also on failure: close it. */
smp_code gpu_bench_open(gpu_bench *bench, const gpu_bench_request *request, smp_error *err);
void gpu_bench_close(gpu_bench *bench);

/* A wrong result is no failure: result->check says so. Nor is a row that takes more memory than there is. */
smp_code gpu_bench_row(gpu_bench *bench, const gpu_row *row, gpu_result *result, smp_error *err);

/* Returns the value that a bar is about, as it was reached; NaN when it was not measured. *met: whether that is
 * enough. */
double gpu_bar_reached(const gpu_bench *bench, const gpu_result *result, const gpu_bar *bar, bool *met);

/* The cost of a sample in the ragged size by that in the round one; NaN when not measured. */
double gpu_ragged_ratio(const gpu_result *result);

#endif
