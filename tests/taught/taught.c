/* Lets the emulator find the GPU kernels of the stages that docs/add-a-stage.md writes out. */
#include "device/kernel_table.h"

extern const smp_kernel_file taught_kernel_files[];

__attribute__((constructor)) static void offer_kernels(void)
{
    smp_kernel_files_extra(taught_kernel_files);
}
