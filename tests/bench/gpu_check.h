/* Whether results of a row are right, before anything is timed. */
#ifndef SMP_TESTS_BENCH_GPU_CHECK_H
#define SMP_TESTS_BENCH_GPU_CHECK_H

#include "gpu_measure.h"

/* The row's small size: the default variant and naive on the device against naive on the CPU. Memory that is written
 * holds the opposite of every expected byte before. text gets "right" or what is wrong. The block of the bench holds
 * the row's data. */
smp_code gpu_check_small(gpu_bench *bench, const gpu_row *row, char *text, size_t size, smp_error *err);

/* At full size: `ours`, open with its result in the bench's target, against naive on the same device, which is left
 * open in *plain, with its result, for the caller to close. text: as above, or "" where there is not the memory to
 * compare. */
smp_code gpu_check_large(gpu_bench *bench, const gpu_row *row, gpu_work *ours, gpu_work *plain, char *text, size_t size,
                         smp_error *err);

/* How many bytes of two pictures of the same size differ, both in device memory; -1: too much to look at here. */
smp_code gpu_count_differences(gpu_bench *bench, const smp_view *a, const smp_view *b, int64_t *count, smp_error *err);

#endif
