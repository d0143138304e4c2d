/* From an instruction of a kernel to its source line. The line table is in the cubin that the driver extracts from our
 * fatbin. CUPTI shows cubins only while they are being loaded, so a file's kernels are loaded once more and unloaded.
 * Kernels are built with -lineinfo. After any failure here the address is shown instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "device/kernel_table.h"
#include "lab/counters/cupti.h"

struct cupti_lines {
    const smp_kernel_file *file;
    char *cubin; /* null: not available */
    size_t size;
    cupti_lines *next;
};

static void CUPTIAPI take_cubin(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *given)
{
    cupti_lines *lines = context;
    const CUpti_ResourceData *resource = given;
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_MODULE_LOADED || !resource ||
        !resource->resourceDescriptor || lines->cubin)
        return;
    const CUpti_ModuleResourceData *module = resource->resourceDescriptor;
    if (!module->pCubin || !module->cubinSize)
        return;
    lines->cubin = smp_alloc_raw(module->cubinSize);
    if (lines->cubin)
        memcpy(lines->cubin, module->pCubin, module->cubinSize);
    lines->size = lines->cubin ? module->cubinSize : 0;
}

static void load_cubin(const cupti_target *target, cupti_lines *lines)
{
    const cupti_api *api = target->api;
    CUpti_SubscriberHandle subscriber;
    CUmodule module = NULL;
    if (!api->cuptiSubscribe || !api->cuptiUnsubscribe || !api->cuptiEnableCallback ||
        api->cuptiSubscribe(&subscriber, take_cubin, lines) != CUPTI_SUCCESS)
        return;
    if (api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED) ==
            CUPTI_SUCCESS &&
        smp_cuModuleLoadData(target->handles.driver, &module, smp_cuda_fatbin(lines->file)) == CUDA_SUCCESS)
        (void)smp_cuModuleUnload(target->handles.driver, module);
    (void)api->cuptiUnsubscribe(subscriber);
}

static cupti_lines *lines_of(const cupti_target *target, cupti_lines **all, const char *kernel)
{
    const smp_kernel_file *file = smp_kernel_file_of(kernel);
    for (cupti_lines *lines = *all; lines; lines = lines->next)
        if (lines->file == file)
            return lines;
    cupti_lines *lines = file && smp_cuda_fatbin(file) ? smp_alloc(sizeof *lines) : NULL;
    if (!lines)
        return NULL;
    lines->file = file;
    lines->next = *all;
    *all = lines;
    load_cubin(target, lines);
    return lines;
}

void cupti_line_of(const cupti_target *target, cupti_lines **all, const char *kernel, uint32_t pc, char *text,
                   size_t size)
{
    snprintf(text, size, "+0x%x", pc);
    const cupti_lines *lines = target->api->cuptiGetSassToSourceCorrelation ? lines_of(target, all, kernel) : NULL;
    if (!lines || !lines->cubin)
        return;
    CUpti_GetSassToSourceCorrelationParams ask = {.size = CUpti_GetSassToSourceCorrelationParamsSize,
                                                  .cubin = lines->cubin,
                                                  .functionName = kernel,
                                                  .cubinSize = lines->size,
                                                  .pcOffset = pc};
    if (target->api->cuptiGetSassToSourceCorrelation(&ask) == CUPTI_SUCCESS && ask.fileName && ask.lineNumber) {
        const char *slash = strrchr(ask.fileName, '/');
        snprintf(text, size, "%s:%u", slash ? slash + 1 : ask.fileName, ask.lineNumber);
    }
    free(ask.fileName); /* CUPTI allocated it with malloc; the caller frees it */
    free(ask.dirName);
}

void cupti_lines_free(cupti_lines *lines)
{
    while (lines) {
        cupti_lines *next = lines->next;
        smp_free_all(lines->cubin, lines);
        lines = next;
    }
}
