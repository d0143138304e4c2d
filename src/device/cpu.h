/* The CPU device; see device.h for the interface that it fills in. */
#ifndef SMP_DEVICE_CPU_H
#define SMP_DEVICE_CPU_H

#include "device/device.h"

/* threads: 0 for one a core. isa: null for the best, or base, v3, v4. *out null on failure. */
smp_code smp_cpu_open(int threads, const char *isa, smp_device **out, smp_error *err);

/* What this machine's processor is. */
void smp_cpu_info(smp_device_info *info);

#endif
