/* Rates and latencies of a GPU's parts, in cycles (gpus.def). */
#ifndef SMP_LAB_TIME_GPU_H
#define SMP_LAB_TIME_GPU_H

#include <stdbool.h>
#include <stddef.h>

typedef struct smp_time_gpu {
    const char *name, *title; /* "h100", "H100" */
    int arch;                 /* of the SASS that it runs: 90 */
    bool measured;            /* predictions were compared with measurements */
#define TIME_NUMBER(name, ...) double name;
#include "lab/time/gpus.def"
#undef TIME_NUMBER
    double none; /* 0: no time of its own */
} smp_time_gpu;

/* Finds a GPU by its name, in lower case; false: there is none. */
bool smp_time_gpu_find(const char *name, smp_time_gpu *gpu);
/* "h100, h200, ..." */
const char *smp_time_gpu_names(void);

#endif
