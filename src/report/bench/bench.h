/* The results of `bench`: a device's peaks, and the cost of access patterns of shared memory. Filled by src/bench,
 * shown as a table or JSON. */
#pragma once

#include <stdio.h>

#include "device/device.h"
#include "lab/counters/source.h"
#include "run/rate.h"

enum { SMP_BENCH_STREAMS = 16, SMP_BENCH_LINKS = 6 };

/* Streaming kernels with so many threads (CPU), or on the whole GPU (threads 0). */
typedef struct smp_bench_stream {
    int threads;
    smp_rate copy, read, write;
} smp_bench_stream;

/* The instructions whose patterns are measured. */
typedef enum smp_bench_op { SMP_BENCH_LOAD, SMP_BENCH_STORE, SMP_BENCH_COUNT, SMP_BENCH_OPS } smp_bench_op;
const char *smp_bench_op_name(smp_bench_op op);

/* One pattern of one instruction: lane n accesses element n / share * stride. */
typedef struct smp_bench_pattern {
    char name[24]; /* "stride 13", "broadcast" */
    smp_bench_op op;
    int width, stride, share;
    int rule_wavefronts, rule_ideal; /* of one instruction, by banks/bank.h */
    bool counted[SMP_COUNT_KINDS];
    smp_shared_count counts[SMP_COUNT_KINDS]; /* of a whole launch */
    double cycles;                            /* for an instruction, on an SM that does nothing else; 0: not measured */
    double gbs;                               /* 1e9 bytes a second that lanes asked for, all SMs together */
} smp_bench_pattern;

typedef struct smp_bench_report {
    smp_device_info device;
    char driver[96], toolkit[32]; /* of a GPU; "": unknown */
    int sm_clock, memory_clock;   /* MHz under load; 0: unknown */
    smp_rate driver_copy;         /* device to device, by a GPU's driver */
    smp_bench_stream streams[SMP_BENCH_STREAMS];
    size_t stream_count;
    smp_rate link[SMP_BENCH_LINKS];            /* up, down, both at once with pinned memory; the same as a run copies */
    double launch_each, launch_waited;         /* seconds */
    char source_problem[SMP_COUNT_KINDS][512]; /* why a source is missing; "" */
    char source_hint[SMP_COUNT_KINDS][320];
    uint64_t counted_instructions; /* of the launch that was counted */
    smp_bench_pattern *patterns;
    size_t pattern_count;
    size_t disagreements; /* patterns whose sass counts differ from the model's */
} smp_bench_report;

void smp_bench_report_free(smp_bench_report *report);

/* Tables for people, and one JSON object with every sample. */
void smp_bench_table(FILE *to, const smp_bench_report *report, bool color);
void smp_bench_json(FILE *to, const smp_bench_report *report);
