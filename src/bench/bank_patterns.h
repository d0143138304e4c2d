/* Access patterns of shared memory: their counts by the rules, by the emulator and by CUPTI, and their cycles on a GPU.
 */
#pragma once

#include "report/bench/bench.h"

/* Fills in the rows: strides, broadcast and multicast for every instruction and width, with the counts by the rules. */
smp_code smp_patterns_list(smp_bench_report *report, smp_error *err);

/* Counts every row with one source on a device (model: kind simt). When a source is missing or fails, the report says
 * so; that is not an error. */
smp_code smp_patterns_count(smp_device *device, smp_count_kind kind, smp_bench_report *report, smp_error *err);

/* Times every row on a GPU: cycles and bandwidth. */
smp_code smp_patterns_time(smp_device *device, smp_bench_report *report, smp_error *err);
