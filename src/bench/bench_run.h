/* Runs what `bench` shows: peaks, then access patterns of shared memory, counted by every available source. */
#pragma once

#include "report/bench/bench.h"

typedef struct smp_bench_request {
    smp_device *device;     /* opened by the caller, stays open */
    const char *isa;        /* CPU: the instruction set it was opened with; null for the best */
    int threads;            /* CPU: the most threads; rates are measured for 1, 2, 4, ... and this many */
    size_t size;            /* bytes of a buffer; 0: chosen */
    bool streams, patterns; /* which parts are wanted */
    smp_code (*progress)(void *context, int64_t done, int64_t total); /* may be null */
    void *progress_context;
} smp_bench_request;

/* *report is filled also on failure, as far as it got; the caller frees it. A missing source is not an error: the
 * report says why it is missing. */
smp_code smp_bench_run(const smp_bench_request *request, smp_bench_report *report, smp_error *err);
