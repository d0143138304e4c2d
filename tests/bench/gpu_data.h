/* Inputs of the GPU benchmark. */
#ifndef SMP_TESTS_BENCH_GPU_DATA_H
#define SMP_TESTS_BENCH_GPU_DATA_H

#include "gpu_rows.h"

enum { GPU_BLOCK = 12 << 20 }; /* bytes, a multiple of every pixel's: larger inputs repeat it */

typedef struct gpu_photo { /* bytes of a photograph, one after the other; size 0: none */
    unsigned char *bytes;
    size_t size;
} gpu_photo;

/* The samples of an array file of u8 (NPY, as smempipe writes). photo->bytes is from smp_alloc. */
smp_code gpu_photo_read(const char *path, gpu_photo *photo, smp_error *err);

/* size bytes: samples of the row's format, the same every time. */
void gpu_data_fill(const gpu_row *row, const gpu_photo *photo, void *block, size_t size);

#endif
