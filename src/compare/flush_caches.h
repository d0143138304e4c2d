/* Flushes caches between samples, so that data comes from memory, as in a run over much data. */
#pragma once

#include "device/device.h"

typedef struct smp_flush smp_flush;

/* *out null on failure. */
smp_code smp_flush_open(smp_device *device, smp_flush **out, smp_error *err);
void smp_flush_close(smp_flush *flush); /* null is allowed */

/* Flushes the cache lines of these views (data null: none) and waits. x86 processors flush exactly those lines. Other
 * processors and GPUs read a buffer four times the last cache instead: written lines would still be on their way to
 * memory while the sample runs. The emulator has no caches. */
smp_code smp_flush_views(smp_flush *flush, const smp_view *const *views, size_t count, smp_error *err);
