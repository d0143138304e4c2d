/* Counts launches of the program's own kernels by executing their SASS, the GPU's code, instead of a host-compiled copy
 * that makes other accesses. The build disassembles its kernel files (kernels/kernels.cmake) and packs each into a file
 * NAME.gz in a folder sass/, beside the program or in its library folder. */
#pragma once

#include "banks/trace.h"
#include "lab/machine/warp.h"

/* From now on, launches whose trace wants it (smp_trace.sass) are counted by their SASS. Once for the process. all:
 * also those without shared memory, whose counts are 0, so that the bytes that their SASS leaves are checked. */
void smp_own_count_launches(bool all);

/* The shared-memory rows of a result become sites of a launch, and are added to its sums. False: no memory. */
bool smp_own_take_result(smp_trace_launch *to, const smp_warp_result *result);

/* Returns the folder of SASS; null: there is none. The environment's SMP_SASS names one, "" none. */
const char *smp_own_folder(void);

/* The architecture of the SASS in that folder, 90 of sm_90; 0: there is none. */
int smp_own_architecture(void);

/* The SASS of a kernel of kernels/ROOM/FILE.cu, loaded once; null: there is none, or no memory (err says which). It may
 * have a problem (smp_warp_kernel_problem). */
const smp_warp_kernel *smp_own_kernel(const char *file, const char *kernel, smp_error *err);

/* The registers of a thread of a kernel that was loaded; 0: not known. */
uint32_t smp_own_registers(const char *kernel);

/* The memory that own kernels run on: their variables, and what is adopted for a launch. Null: no memory. */
smp_warp_memory *smp_own_memory(void);

/* The text of a whole file as it was packed, for tests; *size bytes from smp_alloc. */
typedef struct smp_own_file {
    char *bytes, *text; /* text: in bytes */
    const char *cubin;  /* in bytes */
    size_t cubin_size, text_size;
} smp_own_file;
smp_code smp_own_file_read(const char *file, smp_own_file *out, smp_error *err);
void smp_own_file_free(smp_own_file *file);
