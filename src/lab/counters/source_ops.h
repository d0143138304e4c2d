/* Operations of a source of counts: the interface between source_open.c and model, sass and hw. */
#pragma once

#include "lab/counters/source.h"

struct smp_count_source {
    smp_count_kind kind;
    smp_device *device;
    smp_code (*measure)(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                        smp_error *err);
    void (*close)(smp_count_source *source); /* frees it */
};

/* Adds what an instruction, or several, did to the counts of its operation. */
void smp_counts_add(smp_counts *counts, smp_shared_op op, const smp_shared_count *count);

/* In lab/counters/cupti_sass.c and cupti_range.c; absent in a build without CUPTI's headers. device: kind cuda. */
smp_code smp_count_open_sass(smp_device *device, smp_count_source **out, smp_error *err);
smp_code smp_count_open_hw(smp_device *device, smp_count_source **out, smp_error *err);
