/* The processes that decode and encode, from the program's side: started, taken by a reader or a writer, given back,
 * ended. For worker_asked.c, and those who use it. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "io/decoder/worker_message.h"

/* Looks after a process that decodes while the program waits for it: what it uses is measured here, and not asked of
 * it. It may compute for as long as its limit of processor time allows; it may not sleep. Waiting for a pipe that gives
 * nothing, or for the system's reading, is no sleep. */

/* Seconds without progress after which a decoder is given up. Tests set it. */
extern double smp_worker_patience;

typedef struct smp_watch {
    pid_t pid;
    clockid_t clock;           /* of its processor time */
    int input;                 /* a pipe that it reads; -1: a file */
    double time_limit;         /* seconds for a picture, whatever it does; 0: none */
    double may_sleep;          /* seconds for a picture, all sleeps together */
    double may_use;            /* seconds of the processor, ever: its limit, whose signal it can block; 0: none */
    double waited;             /* seconds, for this picture */
    double used, told;         /* seconds of the processor, ever; those that smp_watch_use has said */
    int threads, most_threads; /* at the last look; that it may have */
    double asleep;             /* seconds since it used the processor */
    double slept;              /* seconds, for this picture */
    double looked, portion;
} smp_watch;

/* Begins a watch of a process that has begun. */
smp_watch smp_watch_of(pid_t pid);

/* Seconds of the processor that it has used since this was asked last. */
double smp_watch_use(smp_watch *watch);

/* A picture begins. `bytes` go in, UINT64_MAX: unknown. */
void smp_watch_begin(smp_watch *watch, double time_limit, uint64_t bytes);

/* More is known of what goes in. */
void smp_watch_expect(smp_watch *watch, uint64_t bytes);

/* For one wait: the time begins now. The patience ends when the limit passes or it sleeps too long. */
smp_patience smp_watch_patience(smp_watch *watch);

/* The wait is over. */
void smp_watch_end(smp_watch *watch);

/* What ended the patience. */
typedef enum smp_verdict {
    SMP_GOES_ON,
    SMP_IS_LATE, /* the time limit has passed */
    SMP_SLEEPS,
    SMP_COMPUTES, /* beyond its processor time */
    SMP_CROWDS    /* with threads */
} smp_verdict;
smp_verdict smp_watch_verdict(const smp_watch *watch);

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

/* How messages speak of a process with these libraries, and the code of its failures. */
typedef struct smp_worker_words {
    const char *who, *does, *doing;
    smp_code failure;
} smp_worker_words;
const smp_worker_words *smp_worker_says(unsigned libraries);

/* An idle decoder, or a new one, which must say its first words within the seconds of time_limit (0: within those of
 * smp_worker_patience); libraries: that it has opened, where they are there; with
 * SMP_LIBRARY_ENCODERS it encodes. Any thread; the caller has it alone until
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
