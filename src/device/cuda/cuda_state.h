/* A GPU's current clocks and throttling, and versions. Read through NVML (libnvidia-ml.so.1, part of the driver),
 * opened at first use. Without NVML all is unknown, and nothing fails. */
#pragma once

#include "device/device.h"

typedef struct smp_gpu_state {
    int sm_clock, memory_clock; /* MHz, now; 0: unknown. An idle GPU clocks down: ask while work is queued */
    bool slowed;                /* by heat or a power brake */
    bool power_capped;          /* by its power limit: common under full load */
} smp_gpu_state;

/* False, and all zero, for other devices than NVIDIA's GPUs and without NVML. Takes about 0.1 ms, the first call
 * longer. */
bool smp_gpu_state_now(smp_device *device, smp_gpu_state *state);

/* "580.95.05 (CUDA 13.0)", or "" when unknown. */
void smp_gpu_driver_text(smp_device *device, char *text, size_t size);

/* The toolkit that compiled the kernels, "CUDA 13.0"; "" when this build has none. */
const char *smp_gpu_toolkit(void);
