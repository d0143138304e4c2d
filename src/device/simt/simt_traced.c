/* The library of traced kernels: half of all machine code, which few commands need, so it is opened when the first
 * trace is asked for. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "device/simt/simt_internal.h"

static const char library_name[] = "libsmempipe-trace.so";

static struct {
    pthread_once_t once;
    const smp_traced_file *files;
    char problem[256];
} traced = {.once = PTHREAD_ONCE_INIT};

/* Beside the program, as an installation has it, and, for a build's tests, one folder up. */
static void *find_library(void)
{
    static const char *const places[] = {"", SMP_TRACE_FOLDER "/", "../"};
    char program[PATH_MAX], path[PATH_MAX + 128];
    void *library = NULL;
    if (!smp_program_folder(program))
        return NULL;
    for (size_t i = 0; !library && i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s/%s%s", program, places[i], library_name);
        if (access(path, F_OK) != 0)
            continue;
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            snprintf(traced.problem, sizeof traced.problem, "%.200s", dlerror());
    }
    return library;
}

static void open_library(void)
{
    void *library = find_library();
    const char *version = library ? dlsym(library, "smp_kernel_files_version") : NULL;
    if (!library && !traced.problem[0])
        snprintf(traced.problem, sizeof traced.problem, "there is no %s beside the program or in %s", library_name,
                 SMP_TRACE_FOLDER);
    else if (library && (!version || strcmp(version, SMP_VERSION) != 0))
        snprintf(traced.problem, sizeof traced.problem, "%s is of smempipe %.20s, not " SMP_VERSION, library_name,
                 version ? version : "of unknown version");
    else if (library)
        traced.files = dlsym(library, "smp_kernel_files_traced");
}

smp_code smp_simt_open_traced(smp_error *err)
{
    pthread_once(&traced.once, open_library);
    if (traced.files)
        return SMP_OK;
    smp_fail(err, SMP_E_DEVICE, "the emulator cannot count: %s", traced.problem);
    return smp_hint(err, "install smempipe with its folder lib/smempipe, or copy %s beside the program", library_name);
}

const char *simt_traced_problem(void)
{
    return traced.problem;
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
