/* Kept by a run of many files from one file to the next: plans by the shape of their input, each with the memory that a
 * run of it takes, and buffers for whole small pictures. One thread at a time uses a cache. Its entries belong to one
 * program, one device and one set of options. Internal to src/run. */
#pragma once

#include "base/hash/hash.h"
#include "run/run.h"
#include "run/strips/runner.h"

typedef struct smp_cached_plan {
    smp_shape input;
    smp_scan scan;
    smp_jpeg_coding jpeg; /* of the input: what the output is coded with, where a device codes */
    int orientation;
    smp_hash profile;   /* of its colours */
    char extension[16]; /* of the output path: it decides what the file can hold; "" without one */
    smp_plan *plan;     /* null: a free entry */
    smp_runner *runner; /* null until a picture ran; small pictures only */
    uint64_t used;      /* value of smp_run_cache.clock at the last use */
} smp_cached_plan;

enum { SMP_CACHED_PLANS = 8 }; /* a folder has pictures of few sizes: portrait, landscape, two cameras */

struct smp_run_cache {
    smp_cached_plan plans[SMP_CACHED_PLANS];
    uint64_t clock;
    bool whole; /* the last picture was small, and passed through whole */
    struct {
        void *data;
        size_t size;
    } * buffers; /* of whole pictures: the input, then each output */
    size_t buffer_capacity;
};

/* The entry for pictures like `media`. Its plan is null when the entry is new; a new entry replaces the least recently
 * used one. Null: the extension is too long to be a key. */
smp_cached_plan *smp_cache_find(smp_run_cache *cache, const smp_media *media, const char *output);

/* Frees the runner of an entry, or its plan too. */
void smp_cache_drop_runner(smp_cached_plan *entry);
void smp_cache_drop_plan(smp_cached_plan *entry);

/* The index-th buffer with room for at least `size` bytes. The call may lose what the buffer held. */
smp_code smp_cache_buffer(smp_run_cache *cache, size_t index, size_t size, void **out, smp_error *err);

/* Whether plans for the one hold for the other. */
bool smp_run_same_shape(const smp_shape *a, const smp_shape *b);
