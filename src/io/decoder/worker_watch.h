/* Looks after a process that decodes while the program waits for it: what it uses is measured here, and not asked of
 * it. It may compute for as long as its limit of processor time allows; it may not sleep. Waiting for a pipe that gives
 * nothing, or for the system's reading, is no sleep. */
#pragma once

#include <sys/types.h>
#include <time.h>

#include "io/decoder/worker_message.h"

/* Seconds without progress after which a decoder is given up. Tests set it. */
extern double smp_worker_patience;

typedef struct smp_watch {
    pid_t pid;
    clockid_t clock;   /* of its processor time */
    int input;         /* a pipe that it reads; -1: a file */
    double time_limit; /* seconds for a picture, whatever it does; 0: none */
    double may_sleep;  /* seconds for a picture, all sleeps together */
    double waited;     /* seconds, for this picture */
    double used, told; /* seconds of the processor, ever; those that smp_watch_use has said */
    double asleep;     /* seconds since it used the processor */
    double slept;      /* seconds, for this picture */
    double looked, portion;
} smp_watch;

/* Begins a watch of a process that has begun. */
smp_watch smp_watch_of(pid_t pid);

/* Seconds of the processor that it has used since this was asked last. */
double smp_watch_use(smp_watch *watch);

/* A picture begins. `bytes` go in, UINT64_MAX: unknown. */
void smp_watch_begin(smp_watch *watch, double time_limit, uint64_t bytes);

/* For one wait: the time begins now. The patience ends when the limit passes or it sleeps too long. */
smp_patience smp_watch_patience(smp_watch *watch);

/* The wait is over. */
void smp_watch_end(smp_watch *watch);

/* Whether the time limit has passed: else it slept. */
bool smp_watch_is_late(const smp_watch *watch);
