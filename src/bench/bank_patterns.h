/* Patterns of shared-memory addresses: their counts by rule, by the emulator, by CUPTI, and their cycles on a GPU. */
#ifndef SMP_BENCH_BANK_PATTERNS_H
#define SMP_BENCH_BANK_PATTERNS_H

#include "report/bench.h"

/* Fills in the rows: strides, broadcast and multicast, for every instruction and width, with what the rules say. */
smp_code smp_patterns_list(smp_bench_report *report, smp_error *err);

/* Counts every row by one source on a device (model: of kind simt). A source that cannot be had, or that fails midway,
 * is said in the report and is no failure. */
smp_code smp_patterns_count(smp_device *device, smp_count_kind kind, smp_bench_report *report, smp_error *err);

/* Cycles and bandwidth of every row; a GPU's. */
smp_code smp_patterns_time(smp_device *device, smp_bench_report *report, smp_error *err);

#endif
