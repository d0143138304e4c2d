/* The kernel files of this program, one entry for every kernels/ROOM/NAME.cu: its host-compiled kernels for the
 * emulator, plain and traced, and, in a build with nvcc, its fatbin for GPUs. Fatbins and traced kernels lie in
 * libraries of their own. CMake writes the tables. */
#pragma once

#include <stdbool.h>

#include "lib/emulator_shim.h"

typedef struct smp_kernel_file {
    const char *name;                            /* NAME of kernels/ROOM/NAME.cu; null ends a table */
    const unsigned char *fatbin;                 /* null: in the library of fatbins, or none in this build */
    const char *usage;                           /* the compiler's report of each kernel's resources; may be null */
    const smp_simt_kernel *const *const *plain;  /* heads of lists, which fill before main() */
    const smp_simt_kernel *const *const *traced; /* null: in the library of traced kernels (device/simt/simt.h) */
} smp_kernel_file;

/* Entry of that library for the file `name`. It exports smp_kernel_files_traced[], which ends with a null name, and the
 * text smp_kernel_files_version. */
typedef struct smp_traced_file {
    const char *name;
    const smp_simt_kernel *const *const *kernels;
} smp_traced_file;

/* Entry of the library of fatbins for the file `name`. It exports smp_kernel_files_fatbins[], which ends with a null
 * name, and the texts smp_kernel_files_version and smp_kernel_files_build. */
typedef struct smp_fatbin_file {
    const char *name;
    const unsigned char *fatbin;
} smp_fatbin_file;

/* Written by CMake (smp_kernel_files() in kernels/kernels.cmake). */
extern const smp_kernel_file smp_kernel_files[];

/* Names the fatbins that were made with this program; "": this build has none. */
extern const char smp_kernel_files_build[];

/* The kernel `name` of a file's list, or null. */
const smp_simt_kernel *smp_simt_kernel_find(const smp_simt_kernel *const *const *list, const char *name);

/* Finds the file that holds kernel `name`: first in a test's table, then in smp_kernel_files. Null: none. */
const smp_kernel_file *smp_kernel_file_of(const char *name);

/* The same name as the table keeps it, for the program's life; null: there is no such kernel. */
const char *smp_kernel_name_of(const char *name);

/* Resources of a kernel on a GPU, as the compiler reported them: for machines without a GPU to ask. */
typedef struct smp_kernel_usage {
    int arch;          /* the architecture it was compiled for: 90 */
    int registers;     /* of each thread */
    int static_shared; /* bytes of each block */
    int stack;         /* bytes of local memory of each thread */
} smp_kernel_usage;

/* The resources for compute capability arch / 10 . arch % 10, or for the nearest one in text (smp_kernel_file.usage).
 * False: there is none. */
bool smp_kernel_usage_find(const char *text, const char *name, int arch, smp_kernel_usage *out);

/* For tests: kernels of their own, searched before the program's; null removes them. */
void smp_kernel_files_extra(const smp_kernel_file *files);
