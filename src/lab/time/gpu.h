/* Rates and latencies of a GPU's parts, in cycles (gpus.def). */
#pragma once

#include <stdbool.h>

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
/* Finds it by a name that contains its title, as drivers tell it ("NVIDIA H100 80GB HBM3"), and its SMs. */
bool smp_time_gpu_of(const char *device, int sms, smp_time_gpu *gpu);
/* Finds the first that runs SASS of that architecture. */
bool smp_time_gpu_of_arch(int arch, smp_time_gpu *gpu);
/* The rate at which it copies much memory, as gpus.def has it. */
double smp_time_gpu_copy_gbs(const smp_time_gpu *gpu);
/* "h100, h200, ..." */
const char *smp_time_gpu_names(void);
