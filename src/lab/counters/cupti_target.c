/* Shared by both of CUPTI's profilers: its chip's name, the permission to count, and its turn. */
#include "lab/counters/cupti.h"

#include <pthread.h>
#include <unistd.h>

#include "base/alloc.h"

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
            parts[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
            return smp_fail(err, SMP_E_DEVICE, "counters cannot be read: %s is %s by CUPTI", parts[i].what,
                            support_text(parts[i].level)),
                   smp_hint(err, "the modelled counts need none of this");
    return SMP_OK;
}

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static int turn = -1, turn_targets;

static void take_turn(const cupti_api *api)
{
    pthread_mutex_lock(&turn_lock);
    if (!turn_targets++)
        turn = cupti_lock(api);
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

void cupti_target_turn(cupti_target *target, bool wanted)
{
    if (wanted && !target->turn)
        take_turn(target->api);
    if (!wanted && target->turn)
        give_turn();
    target->turn = wanted;
}

smp_code cupti_target_open(smp_device *device, CUpti_Profiler_API which, cupti_target *target, smp_error *err)
{
    *target = (cupti_target){.device = device, .handles = smp_cuda_handles_of(device)};
    SMP_TRY(cupti_load(&target->api, err));
    const cupti_api *api = target->api;
    CUpti_Profiler_Initialize_Params initialize = {.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
                                            .deviceIndex = (size_t)device->info.index};
    CUpti_Profiler_DeviceSupported_Params supported = {.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
                                                       .cuDevice = target->handles.device,
                                                       .api = which};
    CUpti_Profiler_GetCounterAvailability_Params available = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, .ctx = target->handles.context};
    cupti_target_turn(target, true);
    smp_code code = device->ops->sync(device, err); /* also makes the context current in this thread */
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
    cupti_target_turn(target, false);
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
