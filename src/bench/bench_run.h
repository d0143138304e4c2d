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

/* Access patterns of shared memory: their counts by the rules, by the emulator and by CUPTI, and their cycles on a GPU.
 */

/* Fills in the rows: strides, broadcast and multicast for every instruction and width, with the counts by the rules. */
smp_code smp_patterns_list(smp_bench_report *report, smp_error *err);

/* Counts every row with one source on a device (model: kind simt). When a source is missing or fails, the report says
 * so; that is not an error. */
smp_code smp_patterns_count(smp_device *device, smp_count_kind kind, smp_bench_report *report, smp_error *err);

/* Times every row on a GPU: cycles and bandwidth. */
smp_code smp_patterns_time(smp_device *device, smp_bench_report *report, smp_error *err);
