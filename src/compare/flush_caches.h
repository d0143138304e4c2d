/* Emptying caches between samples, so that data comes from memory as it does in a run over much data. */
#ifndef SMP_COMPARE_FLUSH_CACHES_H
#define SMP_COMPARE_FLUSH_CACHES_H

#include "device/device.h"

typedef struct smp_flush smp_flush;

/* *out null on failure. */
smp_code smp_flush_open(smp_device *device, smp_flush **out, smp_error *err);
void smp_flush_close(smp_flush *flush); /* null is allowed */

/* Puts the lines of these views (data null: none) out of the caches: on x86 processors exactly those, on others and on
 * GPUs by reading a buffer four times the last cache: lines that a flush has written would still be on their way to
 * memory while the sample runs. The emulator has no caches. Waits until it is done. */
smp_code smp_flush_views(smp_flush *flush, const smp_view *const *views, size_t count, smp_error *err);

#endif
