/* Comparing variants. Every step of a plan runs alone on its real input, which earlier steps made, once in each variant
 * of its stage. First the results are compared with naive's bit for bit. Then the right variants are timed,
 * interleaved. Then shared-memory accesses are counted, in separate launches. */
#pragma once

#include "device/device.h"
#include "io/read_options.h"
#include "pipe/plan/plan.h"
#include "report/compare/compare.h"

typedef struct smp_compare_request {
    const smp_plan *plan;
    smp_plan *const
        *prepasses; /* plans that found what `plan` rests on: the steps that did are compared, after its own */
    size_t prepass_count;
    smp_device *device;
    const char *const *variants; /* names; naive is always included. count 0: all */
    size_t variant_count;
    const char *const *stages; /* only these: names of stages, or numbers of steps. count 0: all */
    size_t stage_count;
    int64_t enlarge;   /* the input is repeated so often in each direction (a sound: behind itself); 0: once */
    int64_t repeat;    /* samples of each variant, at least */
    double time_limit; /* seconds in all: half for times, half for counts */
    bool hot; /* each sample finds the caches as a run of the same variant left them; false: caches are flushed */
    bool times, counts;    /* what is wanted */
    const char *predicted; /* with counts: times of this GPU ("h100"), too; "": of the one that is here, else of an
                              H100; null: none */
    bool measured;         /* also ask the GPU for counts (sass, hw), not only the model */
    bool default_only;     /* only the variant that a run would take (and naive, when times are wanted); for `run` */
    const char *variant;   /* with default_only: the variant asked for, or null */
    int threads;           /* of the emulator; 0: all */
    const smp_read_options *read; /* for files that the program names; null: the defaults */
    smp_code (*progress)(void *context, int64_t done, int64_t total); /* as in smp_run_request; may be null */
    void *progress_context;
} smp_compare_request;

/* in: the whole input in host memory. *out is zeroed first and filled also on failure. The caller frees it and sets
 * pipe, input and hash. A variant that is WRONG is not an error. SMP_E_USAGE: no stage or variant has a given name. */
smp_code smp_compare_plan(const smp_compare_request *request, const smp_view *in, smp_compare *out, smp_error *err);
