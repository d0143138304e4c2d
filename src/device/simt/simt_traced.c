/* The library of traced kernels: few commands need it, so it is opened when the first trace is asked for. */
#include <pthread.h>
#include <string.h>

#include "base/os/installed.h"
#include "device/simt/simt_internal.h"

static struct {
    pthread_once_t once;
    const smp_traced_file *files;
    smp_error problem;
} traced = {.once = PTHREAD_ONCE_INIT};

static void open_library(void)
{
    traced.files = smp_installed_open("libsmempipe-trace.so", NULL, "smp_kernel_files_traced", &traced.problem);
}

smp_code smp_simt_open_traced(smp_error *err)
{
    if (simt_observer_counts_all())
        return SMP_OK;
    pthread_once(&traced.once, open_library);
    if (traced.files)
        return SMP_OK;
    smp_fail(err, SMP_E_DEVICE, "the emulator cannot count: %s", traced.problem.message);
    return smp_hint(err, "%s", traced.problem.hint);
}

const char *simt_traced_problem(void)
{
    return traced.problem.message;
}

const smp_simt_kernel *simt_traced_find(const smp_kernel_file *file, const char *name)
{
    if (file->traced)
        return smp_simt_kernel_find(file->traced, name);
    pthread_once(&traced.once, open_library);
    for (const smp_traced_file *one = traced.files; one && one->name; one++)
        if (strcmp(one->name, file->name) == 0)
            return smp_simt_kernel_find(one->kernels, name);
    return NULL;
}
