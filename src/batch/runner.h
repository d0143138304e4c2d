/* Shared by the threads of a batch. runner.c runs files, runner_workers.c opens and replaces devices, runner_take.c
 * deals files out. Internal to src/batch. */
#pragma once

#include <pthread.h>

#include "batch/batch.h"

/* The devices that a batch works on, as --device names them. */

enum { SMP_BATCH_DEVICES = 64 };

typedef struct smp_batch_devices {
    char specs[SMP_BATCH_DEVICES][64]; /* of GPUs: "cuda:1", "simt" */
    int count;
    bool gpu, emulated;
    bool cpu;            /* processors take files themselves; beside GPUs, those that suit them (cpu_gpu_split.h) */
    bool later;          /* GPUs are looked for while processors work: smp_batch_devices_look() */
    bool jpegs;          /* the files seem to be JPEGs that GPUs decode and code: they cost processors little */
    char processors[64]; /* what to open for a processor */
} smp_batch_devices;

/* cuda is every GPU there is, cuda:0,2 those; cpu,cuda both kinds. auto weighs the work of all files (guessed from the
 * first that can be read) against the start of a GPU, and takes both kinds where a GPU pays. note: one line about that
 * choice. */
smp_code smp_batch_devices_find(const smp_batch_request *request, smp_batch_devices *devices, char *note,
                                size_t note_size, smp_error *err);

/* Finds the GPUs of a batch whose processors work already; without any it goes on without them, and the note says so.
 */
void smp_batch_devices_look(smp_batch_devices *devices, char *note, size_t note_size);

/* Splits the files of a batch between processors and GPUs. Threads of both kinds ask for the next file; a class of
 * files (by name and size) is judged by the time of its first files on either.
 *
 * The rule. A machine's processors are what files on either kind need, for a GPU's files are read, inflated, deflated
 * and written by processors too. So the kind that takes less processor time for a file of a class is the better one.
 * Where that is the processors, GPUs leave the class to them. Where it is the GPUs, processors take what the GPUs leave
 * of the processors: each thread of a GPU that does more than all processors would finds one free when the GPU has done
 * something, and so does each whose file is mostly processors' work. Where that would add less than a third to what the
 * GPUs do, they take none. Neither takes a file that the other would have done sooner with all that is left: so the
 * last files are nobody's to wait for. A kind of which little is known is tried by two threads at a time; GPUs by all
 * of theirs where a file takes the processors long. */

typedef enum smp_split_kind { SMP_SPLIT_CPU, SMP_SPLIT_GPU, SMP_SPLIT_KINDS } smp_split_kind;

enum { SMP_SPLIT_CLASSES = 64 };

/* How much is known of a file's class. */
typedef enum smp_split_confidence {
    SMP_SPLIT_NOTHING, /* it failed */
    SMP_SPLIT_GUESS,   /* the first of its thread, which pays for what the later ones find ready */
    SMP_SPLIT_MEASURED
} smp_split_confidence;

typedef struct smp_split_class {
    uint64_t key;
    int flying[SMP_SPLIT_KINDS];       /* files that are being done */
    uint64_t done[SMP_SPLIT_KINDS];    /* files that were measured */
    double wall[SMP_SPLIT_KINDS];      /* seconds of a file, */
    double processor[SMP_SPLIT_KINDS]; /* and of the processors, whatever thread or process: means of the latest, or
                                         guesses; 0: unknown */
} smp_split_class;

typedef struct smp_cpu_gpu_split {
    int processors;
    bool gpus_come; /* GPUs are there or being opened: processors begin no more files than there are processors */
    int lanes[SMP_SPLIT_KINDS]; /* threads that take files */
    smp_split_class classes[SMP_SPLIT_CLASSES];
    int class_count;
} smp_cpu_gpu_split;

/* The class of a file: by its extension, and by its size to a factor of two. The last class takes all that come after
 * there is no room. bytes: 0 where it is not known. */
int smp_split_class_of(smp_cpu_gpu_split *split, const char *path, uint64_t bytes);

/* Whether a thread of that kind should take a file of that class now. left: files that nobody has begun. */
bool smp_split_suits(const smp_cpu_gpu_split *split, smp_split_kind kind, int class_index, uint64_t left);

void smp_split_begin(smp_cpu_gpu_split *split, smp_split_kind kind, int class_index);

void smp_split_end(smp_cpu_gpu_split *split, smp_split_kind kind, int class_index, smp_split_confidence confidence,
                   double wall, double processor);

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
