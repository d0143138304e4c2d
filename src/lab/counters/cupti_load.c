/* Opens CUPTI and names its errors. */
#include "lab/counters/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

static cupti_api the_api;
static smp_error problem;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

#define SMP_TEXT_(x) #x
#define SMP_TEXT(x)  SMP_TEXT_(x)
enum { CUDA_MAJOR = CUDA_VERSION / 1000 }; /* of the headers; the library's structs grow between major versions */

static void *try_open(const char *folder, const char *below)
{
    void *library = NULL;
    char path[sizeof the_api.path];
    for (int plain = 0; !library && plain < 2; plain++) {
        char name[32] = "libcupti.so";
        if (!plain)
            snprintf(name, sizeof name, "libcupti.so.%d", (int)CUDA_MAJOR);
        int n = snprintf(path, sizeof path, "%s%s%s", folder, below, name);
        if (n > 0 && (size_t)n < sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (library)
        memcpy(the_api.path, path, sizeof path);
    return library;
}

/* Tries places where NVIDIA's installer, a distribution or a container puts a toolkit. */
static void *try_toolkit(const char *root)
{
    static const char *const below[] = {"/lib64/", "/extras/CUPTI/lib64/", "/targets/x86_64-linux/lib/", "/lib/"};
    void *library = NULL;
    for (size_t i = 0; root && root[0] && !library && i < sizeof below / sizeof below[0]; i++)
        library = try_open(root, below[i]);
    return library;
}

static void *find_library(void)
{
    const char *own = getenv("SMP_CUPTI"); /* a folder */
    void *library = own && own[0] ? try_open(own, "/") : try_open("", "");
    const char *const roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), SMP_CUPTI_ROOT, "/usr/local/cuda",
                                 "/opt/cuda"};
    for (size_t i = 0; !(own && own[0]) && !library && i < sizeof roots / sizeof roots[0]; i++)
        library = try_toolkit(roots[i]);
    return library;
}

static void open_library(void)
{
    smp_error *err = &problem;
    void *library = find_library();
    if (!library) {
        smp_fail(err, SMP_E_DEVICE, "counters need CUPTI: there is no libcupti.so.%d on this machine", (int)CUDA_MAJOR);
        smp_hint(err, "install the CUDA toolkit's CUPTI (cuda-cupti-%d-*), or name its folder in SMP_CUPTI",
                 (int)CUDA_MAJOR);
        return;
    }
    const char *missing = NULL;
    void *symbol;
#define F(name)                                                                                                        \
    symbol = dlsym(library, #name);                                                                                    \
    memcpy(&the_api.name, &symbol, sizeof symbol);                                                                     \
    if (!symbol)                                                                                                       \
        missing = #name;
#include "lab/counters/cupti_api.def"
#undef F
    if (missing) {
        smp_fail(err, SMP_E_DEVICE, "counters need a newer CUPTI: %s lacks %s", the_api.path, missing);
        smp_hint(err, "install the CUPTI of CUDA 12.6 or later, or name its folder in SMP_CUPTI");
        dlclose(library);
    }
}

smp_code cupti_load(const cupti_api **out, smp_error *err)
{
    *out = NULL;
    pthread_once(&opened, open_library);
    if (problem.code != SMP_OK) {
        if (err)
            *err = problem;
        return problem.code;
    }
    *out = &the_api;
    return SMP_OK;
}

int cupti_lock(const cupti_api *api)
{
    Dl_info file;
    if (!dladdr((void *)(uintptr_t)api->cuptiProfilerInitialize, &file) || !file.dli_fname)
        return -1;
    const int fd = open(file.dli_fname, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    return fd;
}

/* gVisor reports this build date of a kernel to every program. */
static bool inside_gvisor(void)
{
    struct utsname name;
    return uname(&name) == 0 && strstr(name.version, "Sun Jan 10 15:06:54 PST 2016");
}

static const char *advice(CUptiResult result)
{
    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        return "run as root or with CAP_PERFMON (containers: --cap-add=SYS_ADMIN), or let all users count: load the "
               "driver with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        return "this virtual GPU has profiling switched off: whoever runs the host can allow it";
    case CUPTI_ERROR_HARDWARE_BUSY:
        return "another profiler (Nsight, DCGM) holds the counters: end it, or `dcgmi profile --pause`";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return "counters of this GPU cannot be read while it is divided (MIG)";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return "counters cannot be read in confidential computing mode";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        return "another tool watches this process: run without it";
    default:
        return "the modelled counts need none of this";
    }
}

smp_code cupti_fail(const cupti_api *api, const char *what, CUptiResult result, smp_error *err)
{
    const char *name = NULL;
    if (api->cuptiGetResultString(result, &name) != CUPTI_SUCCESS || !name)
        name = "unknown result";
    smp_fail(err, SMP_E_DEVICE, "counters cannot be read: %s said %s (%d)", what, name, (int)result);
    if (inside_gvisor())
        return smp_hint(err, "this is a gVisor sandbox, which has no GPU counters: run in an ordinary container");
    return smp_hint(err, "%s", advice(result));
}
