/* CUPTI, NVIDIA's library of performance counters, opened at first use: it is not linked. Built only where its headers
 * are found (CUDA toolkit 12.6 or later). cupti_load.c opens it and names its errors, cupti_target.c opens a device.
 * cupti_sass.c and cupti_range.c are the two sources, cupti_records.c fetches what the first counts, cupti_check.c
 * names metrics, cupti_proof.c counts on one. */
#pragma once

/* CUDA's own types must come before those of device/cuda/cuda_api.h, which then does not define them. */
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include "base/error.h"
#include "device/cuda/cuda.h"
#include "lab/counters/source_ops.h"

typedef struct cupti_api {
    char path[512]; /* of the library that was opened */
#define F(name) __typeof__(&name) name;
#include "lab/counters/cupti_api.def"
#undef F
} cupti_api;

/* Opens the library once in a process. Without it: SMP_E_DEVICE, with the paths that were tried. Static storage. */
smp_code cupti_load(const cupti_api **out, smp_error *err);

/* Waits until no other process that counts by this library has its turn: the GPU's counters serve one at a time. The
 * turn ends with the descriptor; negative: the library's file cannot be locked, and CUPTI says who is in the way. */
int cupti_lock(const cupti_api *api);

/* Turns a result into SMP_E_DEVICE with its name and a hint. what: the function. */
smp_code cupti_fail(const cupti_api *api, const char *what, CUptiResult result, smp_error *err);

/* Calls api->name(params). The function has `smp_code code`, `smp_error *err` and a label `fail`. */
#define CUPTI_TRY(api, name, params)                                                                                   \
    do {                                                                                                               \
        CUptiResult result_ = (api)->name(params);                                                                     \
        if (result_ != CUPTI_SUCCESS) {                                                                                \
            code = cupti_fail(api, #name, result_, err);                                                               \
            goto fail;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* A device whose counters may be read. */
typedef struct cupti_target {
    const cupti_api *api;
    smp_device *device;
    smp_cuda_handles handles;
    const char *chip;      /* "GH100" */
    uint8_t *availability; /* which counters this user may read; freed by cupti_target_close */
    size_t availability_size;
    bool turn; /* no other process that counts by this libcupti does so meanwhile */
} cupti_target;

/* Initialises the profiler, once no other process that counts by this libcupti does. Fails unless `which` is supported
 * and permitted here. */
smp_code cupti_target_open(smp_device *device, CUpti_Profiler_API which, cupti_target *target, smp_error *err);
void cupti_target_close(cupti_target *target);

/* Waits until no other process that counts by this libcupti does, or lets others count. A target that is open has its
 * turn. */
void cupti_target_turn(cupti_target *target, bool wanted);

/* Only one profiler can own the device's counters. Makes `owner` the owner, after the previous owner has released them.
 * owner null: nobody. */
void cupti_claim(void *owner, void (*let_go)(void *owner));

/* ------------------------------------------------------------------------------------------------ metrics */

/* SASS metrics, each counted for each instruction. The last three tell the operation: the one that is not 0; none: an
 * atomic. CUPTI does not count asynchronous copies as shared-memory instructions, but counts their wavefronts. */
enum {
    CUPTI_SASS_WAVEFRONTS,
    CUPTI_SASS_IDEAL,
    CUPTI_SASS_INSTRUCTIONS,
    CUPTI_SASS_LOADS,
    CUPTI_SASS_STORES,
    CUPTI_SASS_ASYNC,
    CUPTI_SASS_METRICS
};
extern const char *const cupti_sass_names[CUPTI_SASS_METRICS];

/* Counts of SASS metrics since they were asked for last, an item an instruction of a kernel; `values` of each, of which
 * those that mean nothing have the metricId UINT64_MAX. After a failure there is nothing to close. */
typedef struct cupti_records {
    CUpti_SassMetrics_Data *items;
    CUpti_SassMetrics_InstanceValue *room;
    size_t count, values, instances;
} cupti_records;
smp_code cupti_records_open(const cupti_api *api, CUcontext context, size_t metrics, cupti_records *records,
                            smp_error *err);
void cupti_records_close(cupti_records *records);

/* SASS metrics stay configured from their first use to the end of the process, or until this function removes them for
 * good. It does so when the range profiler cannot work beside them. */
bool cupti_sass_configured(void);
void cupti_sass_give_up(const cupti_api *api);

/* Metrics of the range profiler: three each for loads, stores and atomics. */
enum { CUPTI_RANGE_INSTRUCTIONS, CUPTI_RANGE_WAVEFRONTS, CUPTI_RANGE_CONFLICTS, CUPTI_RANGE_EACH };
enum { CUPTI_RANGE_OPS = 3, CUPTI_RANGE_METRICS = CUPTI_RANGE_OPS * CUPTI_RANGE_EACH };
extern const char *const cupti_range_names[CUPTI_RANGE_METRICS];

/* A host object configured for metrics, and the configuration image for the profiler. */
typedef struct cupti_config {
    CUpti_Profiler_Host_Object *host;
    uint8_t *image;
    size_t image_size, passes;
} cupti_config;

/* availability may be null. After a failure there is nothing to close. */
smp_code cupti_config_open(const cupti_api *api, const char *chip, const uint8_t *availability,
                           const char *const *names, size_t count, cupti_config *config, smp_error *err);
void cupti_config_close(const cupti_api *api, cupti_config *config);

/* Counts kernels whose counts are known. wrong gets the first difference, or "". */
smp_code cupti_proof(smp_count_source *source, char *wrong, size_t size, smp_error *err);

/* Loads these kernels by launching each once. */
smp_code cupti_proof_load(smp_device *device, smp_error *err);
