/* Opening devices by name; what `auto` chooses; the list of devices. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu.h"
#include "device/cuda.h"
#include "device/simt.h"

/* cuda or cuda:N; false when spec is something else. *index -1: N is no number. */
static bool names_cuda(const char *spec, int *index)
{
    *index = 0;
    if (strncmp(spec, "cuda", 4) != 0 || (spec[4] && spec[4] != ':'))
        return false;
    if (spec[4]) {
        char *end;
        long n = strtol(spec + 5, &end, 10);
        *index = spec[5] >= '0' && spec[5] <= '9' && !*end && n < 1024 ? (int)n : -1;
    }
    return true;
}

/* Never falls back: who asks for a GPU is told why there is none. */
static smp_code open_cuda(const char *spec, int index, smp_device **out, smp_error *err)
{
    smp_driver *driver;
    if (index < 0) {
        smp_fail(err, SMP_E_USAGE, "'%s' is no device", spec);
        return smp_hint(err, "write cuda, or cuda:0, cuda:1, ... as `smempipe devices` lists them");
    }
    smp_code code = smp_cuda_built(err);
    if (!code)
        code = smp_driver_cuda(&driver, err);
    return code ? code : smp_cuda_open(driver, index, out, err);
}

smp_code smp_device_open(const smp_device_request *request, smp_device **out, char *note, size_t note_size,
                         smp_error *err)
{
    const char *spec = request->spec ? request->spec : "auto";
    *out = NULL;
    if (note && note_size)
        note[0] = '\0';
    if (!strcmp(spec, "cpu") || !strcmp(spec, "auto"))
        return smp_cpu_open(request->threads, request->isa, out, err);
    int index;
    if (names_cuda(spec, &index))
        return open_cuda(spec, index, out, err);
    if (!strcmp(spec, "simt")) {
        smp_simt_set_threads(request->threads);
        return smp_cuda_open(smp_driver_simt(), 0, out, err);
    }
    smp_fail(err, SMP_E_USAGE, "unknown device '%s'", spec);
    return smp_hint(err, "devices are: auto, cpu, cuda, cuda:N, simt");
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
    smp_error why = {.code = SMP_OK};
    smp_driver *driver = NULL;
    int gpus = 0;
    smp_code code = smp_driver_cuda(&driver, &why);
    if (!code)
        code = smp_cuda_count(driver, &gpus, &why);
    if (!code && gpus)
        code = smp_cuda_built(&why); /* the GPUs are listed all the same */
    *out = smp_alloc_array((size_t)gpus + 2, sizeof **out);
    if (!*out)
        return smp_fail_memory(err, "the list of devices", ((size_t)gpus + 2) * sizeof **out);
    smp_cpu_info(&(*out)[(*count)++]);
    for (int i = 0; i < gpus; i++)
        if (smp_cuda_info(driver, i, &(*out)[*count], &why) == SMP_OK)
            (*count)++;
    if (smp_cuda_info(smp_driver_simt(), 0, &(*out)[*count], &why) == SMP_OK)
        (*count)++;
    if (code && missing && missing_size)
        snprintf(missing, missing_size, "cuda: %s", why.message);
    return SMP_OK;
}
