/* Many files through one pipeline: several at once, each by a thread that reads, decodes, computes, encodes and writes
 * it, so that one file is decoded while another is computed and a third is written. Small pictures run in their thread
 * alone, with plans and memory kept from file to file; large ones stream, and the last ones share all threads. Memory
 * is bounded by the files at once, and by --max-memory: a file that finds too little beside others waits and runs
 * alone. */
#pragma once

#include <signal.h>

#include "batch/shard.h"

typedef struct smp_batch_file {
    const char *input;
    const char *output; /* null: nothing is written (measure) */
    uint64_t bytes;     /* of the input; 0: unknown */
    bool replace;       /* an output that is there */
    int64_t page;       /* the one to read; 0: as options say */
    int64_t mtime;      /* when it was changed last, as a list says, which may be old by now; 0: nobody says */
    uint64_t index;     /* what random values are drawn for: smp_hash_name of its name under the folder given */
    uint64_t epoch;     /* the same: more than the request's */
    uint64_t number;    /* the caller's, as is */
    void *own;
} smp_batch_file;

typedef struct smp_batch_count {
    size_t files, done, failed, in_flight; /* files: those handed out so far */
    uint64_t bytes, bytes_done;            /* of inputs */
} smp_batch_count;

typedef struct smp_batch_request {
    const smp_program *program;
    smp_diags *diags;
    const smp_batch_file *files;
    size_t count;
    /* More files, once all before them are begun; *count 0: there are none. They stay until ended() was called for the
     * last of them, in_order to the end. Called in a file's thread, one call at a time; a failure ends the
     * batch. May be null. */
    smp_code (*more)(void *context, const smp_batch_file **files, size_t *count, smp_error *err);
    size_t expected;         /* with more: files in all, as far as known, and */
    uint64_t expected_bytes; /* their bytes, for tick() */
    smp_read_options read;
    bool fast_decode; /* as in smp_run_request, as are those below that have no comment */
    uint64_t gpu_jpeg;
    smp_write_options write;
    smp_shard_options shards; /* for files that are tar files */
    const char
        *device; /* auto, cpu, cuda (all GPUs), cuda:0,2 (some), simt; several files at once have a handle each */
    const char *isa, *variant;
    const smp_run_elsewhere *elsewhere;
    smp_draw draw; /* its index is each file's own, and its epoch added to */
    int threads;   /* that compute, in all; 0: one a core */
    int jobs;      /* files at once; 0: chosen */
    int64_t strip_rows;
    bool plain_storage, no_fuse, partials;
    bool in_order;      /* finished() is called in the order of files; who is ahead waits, so that little is kept */
    bool stop_on_error; /* begin no more files after a failure */
    const volatile sig_atomic_t *stop; /* a signal's number: begin no more files; may be null */

    /* Called in the file's thread before anything is opened, several at once; a failure is the file's. May be null. */
    smp_code (*begin)(void *context, const smp_batch_file *file, smp_error *err);
    /* One call at a time. The report is freed afterwards; err says where and what to do. May be null. */
    void (*finished)(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err);
    /* Called in the file's thread after that, several at once, without a lock: it may take its time. May be null. */
    void (*ended)(void *context, const smp_batch_file *file);
    /* Called in the caller's thread some ten times a second. May be null. */
    void (*tick)(void *context, const smp_batch_count *count);
    void *context;
} smp_batch_request;

/* Runs them. SMP_OK also when files failed (count says how many); otherwise what kept the batch itself from running or
 * ended it: no device, or SMP_E_INTERRUPTED, SMP_E_TERMINATED after a signal with files left. note (may be null) gets
 * one line about the devices and files at once. */
smp_code smp_batch_run(const smp_batch_request *request, smp_batch_count *count, char *note, size_t note_size,
                       smp_error *err);
