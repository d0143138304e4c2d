/* Output of the GPU benchmark: a line a row while it runs, and JSON with every sample. */
#ifndef SMP_TESTS_BENCH_GPU_REPORT_H
#define SMP_TESTS_BENCH_GPU_REPORT_H

#include "gpu_measure.h"

/* Rows and their bars; nothing is run. */
void gpu_report_list(const gpu_row *rows, size_t count);

void gpu_report_line(const gpu_bench *bench, const gpu_result *result);

/* All rows so far, into a file that is replaced whole. left_out: names of rows that there was no time for. */
smp_code gpu_report_write(const char *path, const gpu_bench *bench, const gpu_result *results, size_t count,
                          const char *const *left_out, size_t left_out_count, smp_error *err);

#endif
