/* The kernel files that this program carries, one entry for every kernels/NAME.cu: its fatbin for GPUs (absent in a
 * build without nvcc) and its host-compiled kernels for the emulator, plain and traced. The table itself is written by
 * CMake. */
#ifndef SMP_DEVICE_KERNEL_TABLE_H
#define SMP_DEVICE_KERNEL_TABLE_H

#include <stdbool.h>

#include "lib/emulator_shim.h"

typedef struct smp_kernel_file {
    const char *name;                         /* NAME of kernels/NAME.cu; null ends a table */
    const unsigned char *fatbin, *fatbin_end; /* equal: no GPU code in this build */
    const char *usage; /* what the compiler says of its kernels (kernels/nvcc.cmake); may be null */
    const smp_simt_kernel *const *const *plain; /* the heads of the lists, which are filled before main() */
    const smp_simt_kernel *const *const *traced; /* null: in the library of traced kernels (device/simt/simt.h) */
} smp_kernel_file;

/* What that library has of the file `name`. It exports smp_kernel_files_traced[], which ends with a null name, and the
 * text smp_kernel_files_version. */
typedef struct smp_traced_file {
    const char *name;
    const smp_simt_kernel *const *const *kernels;
} smp_traced_file;

/* Written by CMake (smp_kernel_files() in kernels/kernels.cmake). */
extern const smp_kernel_file smp_kernel_files[];

/* The kernel `name` of a file's list, or null. */
const smp_simt_kernel *smp_simt_kernel_find(const smp_simt_kernel *const *const *list, const char *name);

/* The file that holds kernel `name`: looks through smp_kernel_files and, first, the table of a test. Null: none. */
const smp_kernel_file *smp_kernel_file_of(const char *name);

/* What a kernel takes on a GPU, by the compiler: for where there is no GPU to ask. */
typedef struct smp_kernel_usage {
    int arch;          /* that it was compiled for: 90 */
    int registers;     /* of a thread */
    int static_shared; /* bytes of a block */
    int stack;         /* bytes of local memory of a thread */
} smp_kernel_usage;

/* For compute capability arch / 10 . arch % 10, or else the nearest that text (smp_kernel_file.usage) has; false: none.
 */
bool smp_kernel_usage_find(const char *text, const char *name, int arch, smp_kernel_usage *out);

/* Tests: kernels of their own, searched before the program's; null takes them away. */
void smp_kernel_files_extra(const smp_kernel_file *files);

#endif
