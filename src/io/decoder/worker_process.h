/* The processes that decode, from the program's side: started, taken by a reader, given back, ended. For
 * worker_reader.c. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "io/decoder/worker_watch.h"

/* A resource limit of a decoder. */
typedef struct smp_bound_set {
    uint64_t now;  /* 0: not set yet */
    uint64_t most; /* the hard limit, UINT64_MAX: none */
} smp_bound_set;

typedef struct smp_worker {
    struct smp_worker *next; /* while idle */
    int channel, arena;      /* descriptors */
    bool own;                /* a child of this process, and not of the spawner */
    unsigned libraries;      /* that it has opened */
    pid_t pid;
    smp_hello hello;    /* pid 0: not heard yet */
    unsigned char *map; /* of the arena, null: none */
    size_t mapped;
    uint64_t live, refused; /* as last answered */
    smp_watch watch;
    smp_bound_set seconds, addresses;
} smp_worker;

/* An idle decoder, or a new one, which must say its first words within the seconds of time_limit (0: within those of
 * smp_worker_patience); libraries: that it has opened, where they are there. Any thread; the caller has it alone until
 * it gives it back or ends it. */
smp_code smp_worker_take(unsigned libraries, double time_limit, smp_worker **out, smp_error *err);

/* Decoding took longer than the limit. */
smp_code smp_worker_late(double time_limit, smp_error *err);

/* Keeps it for the next reader. Large shared memory goes back to the system. */
void smp_worker_give_back(smp_worker *w);

/* Ends a decoder, alive or not, frees *w, and says what waitpid(2) said of it; -errno. */
int smp_worker_end(smp_worker *w);

/* Maps an arena of at least `size` bytes, when nothing in it is in use. */
bool smp_worker_map_arena(smp_worker *w, size_t size);

/* Unmaps an arena, which a device may have pinned. Null: there is none. */
void smp_worker_unmap(void *map, size_t size);

/* Bytes of addresses for a decoder that holds so many beside the program and its libraries, UINT64_MAX: all that
 * --max-memory allows; 0: any. */
uint64_t smp_worker_addresses(uint64_t held);
