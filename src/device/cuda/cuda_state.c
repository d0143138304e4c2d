/* NVML without its header: five functions, found at run time. See cuda_state.h. */
#include "device/cuda/cuda_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/cuda.h"

/* NVML's ABI (nvml.h of CUDA 12 and 13); result 0 is success. */
typedef void *nvml_device;
enum {
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEM = 2,
    NVML_SLOW_POWER_CAP = 0x4,
    NVML_SLOW_HARDWARE = 0x8,
    NVML_SLOW_HEAT = 0x20,
    NVML_SLOW_HARDWARE_HEAT = 0x40,
    NVML_SLOW_POWER_BRAKE = 0x80
};

static struct {
    bool there;
    int (*init)(void);
    int (*driver_version)(char *text, unsigned size);
    int (*cuda_version)(int *version);
    int (*by_bus)(const char *bus, nvml_device *device);
    int (*clock)(nvml_device device, int which, unsigned *mhz);
    int (*slow)(nvml_device device, unsigned long long *reasons);
} nvml;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_nvml(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    const struct {
        const char *name;
        void *at;
    } wanted[] = {
        {"nvmlInit_v2", &nvml.init},
        {"nvmlSystemGetDriverVersion", &nvml.driver_version},
        {"nvmlSystemGetCudaDriverVersion", &nvml.cuda_version},
        {"nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_bus},
        {"nvmlDeviceGetClockInfo", &nvml.clock},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", &nvml.slow},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        if (!symbol) {
            dlclose(library);
            return;
        }
        memcpy(wanted[i].at, &symbol, sizeof symbol);
    }
    nvml.there = nvml.init() == 0;
}

static bool have_nvml(const smp_device *device)
{
    if (strcmp(device->info.kind, "cuda") != 0)
        return false;
    pthread_once(&opened, open_nvml);
    return nvml.there;
}

/* CUDA and NVML number GPUs differently: match them by PCI address. */
static bool find(smp_device *device, nvml_device *found)
{
    enum { BUS = 33, DEVICE = 34, DOMAIN = 50 }; /* CU_DEVICE_ATTRIBUTE_PCI_*_ID */
    smp_cuda_handles handles = smp_cuda_handles_of(device);
    int bus = 0, slot = 0, domain = 0;
    char text[32];
    if (smp_cuDeviceGetAttribute(handles.driver, &bus, (CUdevice_attribute)BUS, handles.device) != CUDA_SUCCESS ||
        smp_cuDeviceGetAttribute(handles.driver, &slot, (CUdevice_attribute)DEVICE, handles.device) != CUDA_SUCCESS ||
        smp_cuDeviceGetAttribute(handles.driver, &domain, (CUdevice_attribute)DOMAIN, handles.device) != CUDA_SUCCESS)
        return false;
    snprintf(text, sizeof text, "%08x:%02x:%02x.0", (unsigned)domain, (unsigned)bus & 0xff, (unsigned)slot & 0xff);
    return nvml.by_bus(text, found) == 0;
}

bool smp_gpu_state_now(smp_device *device, smp_gpu_state *state)
{
    nvml_device found;
    unsigned sm = 0, memory = 0;
    unsigned long long slow = 0;
    *state = (smp_gpu_state){0};
    if (!have_nvml(device) || !find(device, &found) || nvml.clock(found, NVML_CLOCK_SM, &sm) != 0 ||
        nvml.clock(found, NVML_CLOCK_MEM, &memory) != 0)
        return false;
    state->sm_clock = (int)sm;
    state->memory_clock = (int)memory;
    if (nvml.slow(found, &slow) == 0) {
        const unsigned heat = NVML_SLOW_HARDWARE | NVML_SLOW_HEAT | NVML_SLOW_HARDWARE_HEAT | NVML_SLOW_POWER_BRAKE;
        state->slowed = (slow & heat) != 0;
        state->power_capped = (slow & NVML_SLOW_POWER_CAP) != 0;
    }
    return true;
}

void smp_gpu_driver_text(smp_device *device, char *text, size_t size)
{
    char driver[80] = "";
    int cuda = 0;
    if (size)
        text[0] = '\0';
    if (!have_nvml(device) || nvml.driver_version(driver, sizeof driver) != 0)
        return;
    if (nvml.cuda_version(&cuda) == 0 && cuda > 0)
        snprintf(text, size, "%s (CUDA %d.%d)", driver, cuda / 1000, cuda % 1000 / 10);
    else
        snprintf(text, size, "%s", driver);
}

const char *smp_gpu_toolkit(void)
{
#ifdef SMP_CUDA_TOOLKIT
    return "CUDA " SMP_CUDA_TOOLKIT;
#else
    return "";
#endif
}
