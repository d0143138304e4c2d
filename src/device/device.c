/* Opening devices by name; what `auto` chooses; the list of devices. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu.h"

smp_code smp_device_open(const smp_device_request *request, smp_device **out, char *note, size_t note_size, smp_error *err)
{
    const char *spec = request->spec ? request->spec : "auto";
    *out = NULL;
    if (note && note_size)
        note[0] = '\0';
    if (!strcmp(spec, "cpu") || !strcmp(spec, "auto"))
        return smp_cpu_open(request->threads, request->isa, out, err);
    smp_fail(err, SMP_E_USAGE, "unknown device '%s'", spec);
    return smp_hint(err, "devices are: auto, cpu");
}

void smp_device_close(smp_device *device)
{
    if (device)
        device->ops->close(device);
}

smp_code smp_device_list(smp_device_info **out, size_t *count, char *missing, size_t missing_size, smp_error *err)
{
    *count = 0;
    if (missing && missing_size)
        missing[0] = '\0';
    *out = smp_alloc_array(1, sizeof **out);
    if (!*out)
        return smp_fail_memory(err, "the list of devices", sizeof **out);
    smp_cpu_info(*out);
    *count = 1;
    return SMP_OK;
}
