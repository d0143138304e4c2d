/* libsmp_cudart: a stand-in for CUDA's runtime library, over the warp machine. Programs that nvcc compiled link it and
 * run unmodified; `smempipe kernel` says where the PTX is and where results go (cli/kernel.h). */
#ifndef SMP_CUDART_RUNTIME_H
#define SMP_CUDART_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warp/warp.h"

#define LAB_API __attribute__((visibility("default")))

/* cudaError_t, as far as it is given here. */
enum {
    LAB_SUCCESS = 0,
    LAB_INVALID_VALUE = 1,
    LAB_OUT_OF_MEMORY = 2,
    LAB_INVALID_CONFIGURATION = 9,
    LAB_INVALID_SYMBOL = 13,
    LAB_INVALID_FUNCTION = 98,
    LAB_LAUNCH_FAILURE = 719,
    LAB_NOT_SUPPORTED = 801
};

typedef struct lab_dim3 {
    unsigned x, y, z;
} lab_dim3;

smp_warp_memory *lab_memory(void);
smp_warp_module *lab_module(void); /* exits with a message where there is none */

/* Remembers an error for cudaGetLastError and returns it. */
int lab_error(int error);
int lab_last_error(bool clear);

/* What is missing: said once for each name. */
int lab_missing(const char *name);

/* The device's memory of a __device__ variable; null: it is none. */
void *lab_symbol(const void *host, size_t *size);
const smp_warp_kernel *lab_kernel(const void *host);

#endif
