/* Opens CUPTI, names its errors, and does what both of its profilers need: finds a chip's name and checks the
 * permission to count. */
#include "counters/cupti.h"

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

#include "base/alloc.h"

/* ------------------------------------------------------------------------------------------------ the library */

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

/* Where NVIDIA's installer, a distribution or a container puts a toolkit. */
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
#define O(name)                                                                                                        \
    symbol = dlsym(library, #name);                                                                                    \
    memcpy(&the_api.name, &symbol, sizeof symbol);
#define F(name)                                                                                                        \
    O(name)                                                                                                            \
    if (!symbol)                                                                                                       \
        missing = #name;
#include "counters/cupti_api.def"
#undef F
#undef O
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

/* ------------------------------------------------------------------------------------------------ errors */

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

/* ------------------------------------------------------------------------------------------------ the target */

static const char *support_text(CUpti_Profiler_Support_Level level)
{
    static const char *const texts[] = {"unknown", "unsupported", "switched off", "supported"};
    return (unsigned)level < 4 ? texts[level] : "?";
}

/* Refuses when part of the device's configuration is known to forbid counting. What CUPTI does not know is tried. */
static smp_code check_supported(const CUpti_Profiler_DeviceSupported_Params *s, smp_error *err)
{
    if (s->isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return SMP_OK;
    const struct {
        const char *what;
        CUpti_Profiler_Support_Level level;
    } parts[] = {
        {"this GPU's architecture", s->architecture},       {"SLI", s->sli},          {"a virtual GPU", s->vGpu},
        {"confidential computing", s->confidentialCompute}, {"a mining GPU", s->cmp}, {"WSL", s->wsl},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
            parts[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED) {
            smp_fail(err, SMP_E_DEVICE, "counters cannot be read: %s is %s by CUPTI", parts[i].what,
                     support_text(parts[i].level));
            return smp_hint(err, "the modelled counts need none of this");
        }
    return SMP_OK;
}

/* A GPU's counters serve one process at a time: others of this program wait for their turn. The lock is the program's
 * own file, which all of them see; where it cannot be locked, CUPTI says who is in the way. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static int turn = -1, turn_targets;

static void take_turn(void)
{
    pthread_mutex_lock(&turn_lock);
    if (!turn_targets++ && (turn = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) >= 0)
        while (flock(turn, LOCK_EX) != 0 && errno == EINTR)
            ;
    pthread_mutex_unlock(&turn_lock);
}

static void give_turn(void)
{
    pthread_mutex_lock(&turn_lock);
    if (!--turn_targets && turn >= 0) {
        close(turn);
        turn = -1;
    }
    pthread_mutex_unlock(&turn_lock);
}

smp_code cupti_target_open(smp_device *device, CUpti_Profiler_API which, cupti_target *target, smp_error *err)
{
    *target = (cupti_target){.device = device, .handles = smp_cuda_handles_of(device)};
    smp_code code = cupti_load(&target->api, err);
    if (code)
        return code;
    const cupti_api *api = target->api;
    CUpti_Profiler_Initialize_Params initialize = {.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
                                            .deviceIndex = (size_t)device->info.index};
    CUpti_Profiler_DeviceSupported_Params supported = {.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
                                                       .cuDevice = target->handles.device,
                                                       .api = which};
    CUpti_Profiler_GetCounterAvailability_Params available = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, .ctx = target->handles.context};
    take_turn();
    target->turn = true;
    code = device->ops->sync(device, err); /* also makes the context current in this thread */
    if (code)
        goto fail;
    CUPTI_TRY(api, cuptiProfilerInitialize, (&initialize));
    CUPTI_TRY(api, cuptiDeviceGetChipName, (&chip));
    if (!chip.pChipName) {
        code = smp_fail(err, SMP_E_DEVICE, "counters cannot be read: CUPTI does not know this GPU");
        goto fail;
    }
    target->chip = chip.pChipName;
    if (api->cuptiProfilerDeviceSupported(&supported) == CUPTI_SUCCESS)
        code = check_supported(&supported, err);
    if (code)
        goto fail;
    /* SASS metrics patch code and read no hardware counters. Without this call they still count only the first kernel
     * (CUPTI 13.0 on an H100). */
    CUPTI_TRY(api, cuptiProfilerGetCounterAvailability, (&available));
    target->availability = smp_alloc(available.counterAvailabilityImageSize);
    if (!target->availability) {
        code = smp_fail_memory(err, "the list of counters", available.counterAvailabilityImageSize);
        goto fail;
    }
    available.pCounterAvailabilityImage = target->availability;
    CUPTI_TRY(api, cuptiProfilerGetCounterAvailability, (&available));
    target->availability_size = available.counterAvailabilityImageSize;
    return SMP_OK;
fail:
    cupti_target_close(target);
    return code;
}

void cupti_target_close(cupti_target *target)
{
    smp_free(target->availability);
    target->availability = NULL;
    if (target->turn)
        give_turn();
    target->turn = false;
}

void cupti_claim(void *owner, void (*let_go)(void *owner))
{
    static void *now;
    static void (*now_let_go)(void *owner);
    if (now && now != owner)
        now_let_go(now);
    now = owner;
    now_let_go = let_go;
}
