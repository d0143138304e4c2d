/* The CPU device; see device.h for the interface that it fills in. */
#pragma once

#include "device/device.h"

/* threads: 0 for one on each core. isa: base, v3 or v4; null for the best. *out is null on failure. */
smp_code smp_cpu_open(int threads, const char *isa, smp_device **out, smp_error *err);

/* Describes this machine's processor. */
void smp_cpu_info(smp_device_info *info);
