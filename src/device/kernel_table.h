/* The kernel files that this program carries, one entry for every kernels/NAME.cu: its fatbin for GPUs (absent in a
 * build without nvcc) and its host-compiled kernels for the emulator, plain and traced. The table itself is written by
 * CMake. */
#ifndef SMP_DEVICE_KERNEL_TABLE_H
#define SMP_DEVICE_KERNEL_TABLE_H

#include "smp_simt.h"

typedef struct smp_kernel_file {
    const char *name;                           /* NAME of kernels/NAME.cu; null ends a table */
    const unsigned char *fatbin, *fatbin_end;   /* equal: no GPU code in this build */
    const smp_simt_kernel *const *const *plain; /* the heads of the lists, which are filled before main() */
    const smp_simt_kernel *const *const *traced;
} smp_kernel_file;

/* Written by CMake (smp_kernel_files() in kernels/kernels.cmake). */
extern const smp_kernel_file smp_kernel_files[];

/* The kernel `name` of a file's list, or null. */
const smp_simt_kernel *smp_simt_kernel_find(const smp_simt_kernel *const *const *list, const char *name);

/* The file that holds kernel `name`: looks through smp_kernel_files and, first, the table of a test. Null: none. */
const smp_kernel_file *smp_kernel_file_of(const char *name);

/* Tests: kernels of their own, searched before the program's; null takes them away. */
void smp_kernel_files_extra(const smp_kernel_file *files);

#endif
