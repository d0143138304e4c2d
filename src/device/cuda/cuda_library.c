/* The library of fatbins: a third of a build's machine code, which only a GPU needs, so it is opened with the first
 * one. */
#include <pthread.h>
#include <string.h>

#include "base/os/installed.h"
#include "device/cuda/cuda.h"
#include "device/kernel_table.h"

static struct {
    pthread_once_t once;
    const smp_fatbin_file *files;
    smp_error problem;
} opened = {.once = PTHREAD_ONCE_INIT};

static void open_library(void)
{
    if (smp_cuda_built(&opened.problem) == SMP_OK)
        opened.files = smp_installed_open("libsmempipe-cuda.so", smp_kernel_files_build, "smp_kernel_files_fatbins",
                                          &opened.problem);
}

smp_code smp_cuda_built(smp_error *err)
{
    if (smp_kernel_files_build[0])
        return SMP_OK;
    smp_fail(err, SMP_E_DEVICE, "this build has no GPU kernels");
    return smp_hint(err, "build where nvcc (the CUDA toolkit) is installed, or use --device cpu");
}

smp_code smp_cuda_kernels(smp_error *err)
{
    pthread_once(&opened.once, open_library);
    if (opened.files)
        return SMP_OK;
    if (err)
        *err = opened.problem;
    return opened.problem.code;
}

const void *smp_cuda_fatbin(const smp_kernel_file *file)
{
    if (file->fatbin)
        return file->fatbin;
    if (smp_cuda_kernels(NULL) == SMP_OK)
        for (const smp_fatbin_file *one = opened.files; one->name; one++)
            if (strcmp(one->name, file->name) == 0)
                return one->fatbin;
    return NULL;
}
