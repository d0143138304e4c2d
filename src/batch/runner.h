/* Shared by the threads of a batch. runner.c runs files, runner_workers.c opens and replaces devices, runner_take.c
 * deals files out. Internal to src/batch. */
#pragma once

#include <pthread.h>

#include "batch/batch.h"
#include "batch/cpu_gpu_split.h"
#include "batch/devices.h"

enum {
    SMP_BATCH_MOST_JOBS = 1024,
    SMP_BATCH_PROCESSORS = SMP_BATCH_DEVICES /* in place of a device's number: a processor */
};

typedef struct smp_batch_result { /* of a file that waits for those before it */
    const smp_batch_file *file;   /* null: not yet */
    smp_run_report report;
    smp_error err;
} smp_batch_result;

typedef struct smp_batch_mark { /* of a file that was handed out */
    bool taken;
    int8_t kind_of_file; /* its class, and 1 more; 0: not known yet */
} smp_batch_mark;

typedef struct smp_batch {
    const smp_batch_request *request;
    pthread_mutex_t lock;
    pthread_cond_t changed, ended; /* files come and go; the last thread goes */
    pthread_cond_t
        idle[SMP_SPLIT_KINDS]; /* for a file that suits: each file that ends wakes one thread of either kind */
    smp_batch_count *count;
    const smp_batch_file *files; /* that were handed out last, */
    size_t first, handed;        /* the first of them, and the end of them */
    bool asking, no_more;        /* a thread asks for more; there are none */
    smp_error asked;             /* why asking failed */
    size_t next;                 /* the first file not yet taken */
    size_t begun;                /* files that were taken */
    smp_batch_mark *marks;       /* of files first .. handed-1; null: they are taken in their order */
    size_t mark_capacity;
    size_t delivered;          /* in order: the first file not yet delivered */
    smp_batch_result *results; /* in order: of file i at i % window */
    size_t window;
    int alone;        /* threads that want to run a file with nothing beside it */
    int keeping;      /* threads whose caches keep memory */
    bool stopped;     /* by a failure */
    smp_device *wide; /* all threads, for the last large files; one at a time */
    pthread_mutex_t wide_lock;
    const smp_batch_devices *devices;
    smp_cpu_gpu_split split;
    int jobs, running;             /* threads */
    int opening;                   /* devices that no thread has opened yet, or failed to */
    bool opened;                   /* one was */
    bool known[SMP_BATCH_DEVICES]; /* opened, or known to be refused */
    bool lost[SMP_BATCH_DEVICES];  /* refused, or failed while they worked */
    smp_error unopened;            /* why none could be */
    smp_error refused;             /* why one could not be, while others can; told with the next file */
    char names[SMP_SPLIT_KINDS][96];
    size_t made[SMP_SPLIT_KINDS]; /* files that either kind did */
} smp_batch;

typedef struct smp_batch_worker {
    smp_batch *b;
    bool first; /* of its device */
    int of;     /* devices: its own; SMP_BATCH_PROCESSORS */
    pthread_t thread;
    smp_device *device;
    smp_run_cache *cache;
    bool keeps;  /* something in it; under the lock */
    bool opened; /* both */
    smp_split_kind kind;
    int class_index; /* of the file that it does */
    uint64_t done;   /* files */
} smp_batch_worker;

/* Computes the numbers of threads for a batch's GPUs, and for processors that take files themselves. */
void smp_batch_jobs(const smp_batch_request *r, const smp_batch_devices *devices, int jobs[SMP_SPLIT_KINDS]);

/* Opens the thread's own device. The driver opens one GPU after another, so that the first thread of each does it and
 * the others of that GPU wait, while those of a GPU that is there begin. A device that cannot be opened is told with
 * the next file; without any the batch ends. */
void smp_batch_open_own(smp_batch_worker *w);

/* A GPU that failed refuses every call from then on; a file of which it cannot do something fails alone. */
bool smp_batch_is_lost(smp_device *device, smp_code code);

/* The thread goes on with the next device that works, or with a processor, which makes the same bytes. */
smp_code smp_batch_replace_device(smp_batch_worker *w, smp_error *err);

/* Closes it, in the thread: the driver takes its time for each GPU. */
void smp_batch_close_own(smp_batch_worker *w);

/* Waits some time for a change. The lock is held. */
void smp_batch_wait(smp_batch *b, pthread_cond_t *condition);

bool smp_batch_stopping(const smp_batch *b);

/* The next file for the thread, or null when there is none. */
const smp_batch_file *smp_batch_take(smp_batch_worker *w, size_t *index);

/* Gives back what the thread keeps for its next file, where others need it. The lock is held. */
void smp_batch_give_back(smp_batch_worker *w);
