/* The processors and the memory that this process may use: the kernel, its control group and its resource limits
 * decide. */
#pragma once

#include <stdint.h>

/* Processors: those of the affinity mask, at most the CPU quota of the control group, rounded up, and what Slurm, PBS,
 * Grid Engine, MPI or OMP_NUM_THREADS say. At least 1. */
int smp_machine_processors(void);

/* Bytes of memory: the least of physical memory, memory.max of the process's control groups, RLIMIT_AS, and what
 * Slurm grants (SLURM_MEM_PER_NODE, SLURM_MEM_PER_CPU). */
uint64_t smp_machine_memory(void);

/* The default of --max-memory: three quarters of that, at most 16 GiB. */
uint64_t smp_default_memory(void);

/* The limits of the control group with the path `group` ("/a/b") below `root` (/sys/fs/cgroup): the quota in processors
 * and the memory in bytes; 0: no limit. Reads both versions of the interface: cpu.max and memory.max, or
 * cpu.cfs_quota_us and memory.limit_in_bytes. For tests. */
double smp_group_processors(const char *root, const char *group);
uint64_t smp_group_memory(const char *root, const char *group);
