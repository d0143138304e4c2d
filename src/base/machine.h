/* What this process may use of the machine: its processors and memory as the kernel, its control group and its limits
 * leave them. */
#ifndef SMP_BASE_MACHINE_H
#define SMP_BASE_MACHINE_H

#include <stdint.h>

/* Processors: those of the affinity mask, at most as many as the CPU quota of the control group pays for, rounded up.
 * At least 1. */
int smp_machine_processors(void);

/* Bytes of memory: the least of physical memory, memory.max of the control groups above the process, and RLIMIT_AS. */
uint64_t smp_machine_memory(void);

/* What --max-memory is without the option: three quarters of that, at most 16 GiB. */
uint64_t smp_default_memory(void);

/* The same for a control group whose files lie below `root` (/sys/fs/cgroup) and whose path is `group` ("/a/b"): quota
 * in processors and memory in bytes; 0 where there is no limit. Both versions of the interface: cpu.max and memory.max,
 * or cpu.cfs_quota_us and memory.limit_in_bytes. For tests. */
double smp_group_processors(const char *root, const char *group);
uint64_t smp_group_memory(const char *root, const char *group);

#endif
