/* Devices of the library: a device and the lock that a run holds. */
#include "api/api.h"
#include "base/alloc.h"

smempipe_code smempipe_device_open(const char *name, int threads, smempipe_device **out, smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    if (error)
        *error = NULL;
    if (!out || !name)
        return smp_api_wrong(error, "a null where a device's name and a place for the device belong");
    *out = NULL;
    if (threads < 0)
        return smp_api_wrong(error, "%d threads: give a number of them, or 0 for one a core", threads);
    smempipe_device *made = smp_alloc(sizeof *made);
    if (!made) {
        smp_fail_memory(&err, "a device", sizeof *made);
        return smp_api_fail(error, &err, NULL);
    }
    /* Work of an unknown size is worth a GPU's start, since a device serves many runs. */
    const smp_device_request request = {.spec = name, .threads = threads, .work_bytes = 1e12};
    if (smp_device_open(&request, &made->device, NULL, 0, &err)) {
        smp_free(made);
        return smp_api_fail(error, &err, NULL);
    }
    pthread_mutex_init(&made->lock, NULL);
    *out = made;
    return SMEMPIPE_OK;
}

const char *smempipe_device_name(const smempipe_device *device)
{
    return device ? device->device->info.name : "";
}

smempipe_code smempipe_device_alloc(smempipe_device *device, size_t bytes, void **memory, smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    if (error)
        *error = NULL;
    if (!device || !memory)
        return smp_api_wrong(error, "a null where a device and a place for its memory belong");
    *memory = NULL;
    if (device->device->host_memory)
        return smp_api_wrong(error, "%s computes in the host's memory: it has none of its own",
                             device->device->info.kind);
    pthread_mutex_lock(&device->lock);
    smp_code code = device->device->ops->alloc(device->device, bytes ? bytes : 1, memory, &err);
    if (!code && (code = device->device->ops->zero(device->device, *memory, bytes, &err))) {
        device->device->ops->free(device->device, *memory);
        *memory = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    return smp_api_fail(error, &err, NULL);
}

void smempipe_device_release(smempipe_device *device, void *memory)
{
    if (!device || !memory)
        return;
    pthread_mutex_lock(&device->lock);
    device->device->ops->free(device->device, memory);
    pthread_mutex_unlock(&device->lock);
}

void smempipe_device_close(smempipe_device *device)
{
    if (!device)
        return;
    smp_device_close(device->device);
    pthread_mutex_destroy(&device->lock);
    smp_free(device);
}
