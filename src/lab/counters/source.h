/* Sources of shared-memory counts, behind one interface:
 *   model  what the emulator sees kernels do, and the rules of banks/bank.h; no GPU needed. It executes the GPU's
 *          code (SASS) where the build has it, else kernels as the host's compiler made them
 *   sass   CUPTI's SASS metrics: exact
 *   hw     CUPTI's range profiler: hardware counters, which also count arbitration with global traffic
 * Counts and times are never measured together: sass slows a short kernel 50 times. */
#pragma once

#include "banks/trace.h"
#include "device/device.h"

typedef enum smp_count_kind { SMP_COUNT_MODEL, SMP_COUNT_SASS, SMP_COUNT_HW, SMP_COUNT_KINDS } smp_count_kind;

/* "model", "sass", "hw". */
const char *smp_count_kind_name(smp_count_kind kind);

typedef struct smp_counts {
    smp_count_kind kind;
    smp_shared_count ops[SMP_SHARED_OPS]; /* hw does not know asynchronous copies */
    smp_shared_count total;
    uint64_t faults;  /* model: races, uninitialised reads and other faults in the trace */
    int architecture; /* model: of the SASS that was counted, 90; 0: kernels as the host's compiler made them were */
    char notes[1024]; /* model: lines: kernels whose SASS could not be counted, and why */
} smp_counts;

/* Queues the launches to count on the source's device. Must not sync, allocate or free buffers. It is called at least
 * once, and again for every further pass that the counters need, so it must do the same work each time. */
typedef smp_code smp_count_work(void *context, smp_error *err);

typedef struct smp_count_source smp_count_source;

/* model counts on the emulator (a device of kind simt), sass and hw on a GPU (kind cuda). When the source is not
 * available: *out is null and SMP_E_DEVICE has the reason in one line and the remedy as its hint; a caller that can go
 * on reports it and uses model. One source of a kind at a time. The first takes up to 0.5 s. */
smp_code smp_count_open(smp_count_kind kind, smp_device *device, smp_count_source **out, smp_error *err);

/* Runs the work and counts it. *counts is zeroed first. */
smp_code smp_count_measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                           smp_error *err);

/* Null is allowed. */
void smp_count_close(smp_count_source *source);

/* Whether two sources agree: the same wavefronts and conflicts for each operation. Instructions are not compared: a
 * compiler may merge two accesses. text (may be null) gets the first difference. */
bool smp_counts_agree(const smp_counts *a, const smp_counts *b, char *text, size_t size);
