/* What is kept from one file to the next by whoever runs many: plans by the shape of their input, each with the memory
 * that running it takes, and buffers for whole small pictures. One thread at a time uses a cache; everything in it
 * belongs to one program, device and set of options. Kept to the files of src/exec. */
#ifndef SMP_RUN_CACHE_H
#define SMP_RUN_CACHE_H

#include "run/run.h"
#include "run/runner.h"

typedef struct smp_cached_plan {
    smp_shape input;
    int orientation;
    char extension[16]; /* of the output, which decides what it can hold; "" without one */
    smp_plan *plan;     /* null: a free entry */
    smp_runner *runner; /* null until a picture ran; of small pictures alone */
    uint64_t used;      /* the cache's clock */
} smp_cached_plan;

enum { SMP_CACHED_PLANS = 8 }; /* folders have pictures of few sizes: upright, lying, two cameras */

struct smp_run_cache {
    smp_cached_plan plans[SMP_CACHED_PLANS];
    uint64_t clock;
    struct {
        void *data;
        size_t size;
    } * buffers; /* of whole pictures: the input, then each output */
    size_t buffer_capacity;
};

/* The entry of a key, its plan null when it is new (the one unused longest makes room). Extensions that are too long
 * have none: null. */
smp_cached_plan *smp_cache_find(smp_run_cache *cache, const smp_shape *input, int orientation, const char *output);

/* Gives up the plan of an entry, or only the memory to run it. */
void smp_cache_drop(smp_cached_plan *entry);
void smp_cache_drop_runner(smp_cached_plan *entry);

/* The index-th buffer with room for at least `size` bytes; what it held is lost. */
smp_code smp_cache_buffer(smp_run_cache *cache, size_t index, size_t size, void **out, smp_error *err);

#endif
