/* The driver's API over the runtime's functions: the device, contexts, and functions by their names. Contexts share the
 * device's memory: one that is destroyed takes its modules along, and no buffers. */
#define _GNU_SOURCE 1 /* dladdr */
#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

#include "lab/runtime/runtime.h"

int cudaGetDeviceProperties(char *p, int device);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaDeviceGetPCIBusId(char *text, int size, int device);
int cudaDeviceGetByPCIBusId(int *device, const char *text);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
int cudaDeviceGetLimit(size_t *value, int limit);

/* ------------------------------------------------------------------------------------------------ the device */

static bool initialised;

LAB_API int cuInit(unsigned flags)
{
    initialised = initialised || !flags;
    return flags ? LAB_INVALID_VALUE : LAB_SUCCESS;
}

/* A call that needs no context, of a device or of none (0). */
#define OF_DEVICE(name, parameters, device, result)                                                                    \
    LAB_API int name parameters                                                                                        \
    {                                                                                                                  \
        return !initialised ? LAB_NOT_INITIALIZED : (device) ? LAB_INVALID_DEVICE : lab_driver_error(result);          \
    }

static int put(int *out, int value)
{
    if (out)
        *out = value;
    return out ? LAB_SUCCESS : LAB_INVALID_VALUE;
}
OF_DEVICE(cuDeviceGet, (int *device, int ordinal), ordinal, put(device, 0))
OF_DEVICE(cuDeviceGetCount, (int *count), 0, put(count, 1))

static int take_property(void *out, size_t at, size_t size)
{
    char properties[1024];
    const int error = out ? cudaGetDeviceProperties(properties, 0) : LAB_INVALID_VALUE;
    if (!error)
        memcpy(out, properties + at, size);
    return error;
}
enum { NAME = 256, UUID = 16, TOTAL_MEMORY = 288 }; /* where it lies, or how long they are */
static int take_name(char *out, int size)
{
    char name[NAME];
    if (!out || size < 1)
        return LAB_INVALID_VALUE;
    take_property(name, 0, sizeof name);
    snprintf(out, (size_t)size, "%s", name);
    return LAB_SUCCESS;
}
OF_DEVICE(cuDeviceGetName, (char *name, int size, int device), device, take_name(name, size))
OF_DEVICE(cuDeviceTotalMem_v2, (size_t * bytes, int device), device, take_property(bytes, TOTAL_MEMORY, sizeof *bytes))
OF_DEVICE(cuDeviceGetUuid_v2, (char *uuid, int device), device, take_property(uuid, NAME, UUID))

OF_DEVICE(cuDeviceGetAttribute, (int *value, int attribute, int device), device,
          cudaDeviceGetAttribute(value, attribute, device)) /* by the numbers of the runtime */
OF_DEVICE(cuDeviceGetPCIBusId, (char *text, int size, int device), device, cudaDeviceGetPCIBusId(text, size, device))
OF_DEVICE(cuDeviceGetByPCIBusId, (int *device, const char *text), 0, cudaDeviceGetByPCIBusId(device, text))
OF_DEVICE(cuDeviceCanAccessPeer, (int *can, int device, int peer), 0, cudaDeviceCanAccessPeer(can, device, peer))

/* ------------------------------------------------------------------------------------------------ contexts */

enum { MOST_DEPTH = 64 };
static _Thread_local void *stack[MOST_DEPTH]; /* of contexts; the last is the current one */
static _Thread_local int depth;
static void *primary; /* null: nobody holds it */
static unsigned primary_users;

static bool is_context(const void *c)
{
    return lab_holds(LAB_CONTEXT, c);
}

int lab_lacks(void)
{
    return !initialised                    ? LAB_NOT_INITIALIZED
           : !depth                        ? LAB_INVALID_CONTEXT
           : !is_context(stack[depth - 1]) ? LAB_CONTEXT_DESTROYED
                                           : LAB_SUCCESS;
}

static int create(void **out)
{
    if (!out)
        return LAB_INVALID_VALUE;
    *out = lab_hold(LAB_CONTEXT, sizeof(double));
    return *out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY;
}

static int push(void *c)
{
    if (!is_context(c))
        return LAB_INVALID_CONTEXT;
    if (depth == MOST_DEPTH)
        return LAB_OUT_OF_MEMORY;
    stack[depth++] = c;
    return LAB_SUCCESS;
}

static int pop(void **out)
{
    if (!depth)
        return LAB_INVALID_CONTEXT;
    depth--;
    if (out)
        *out = stack[depth];
    return LAB_SUCCESS;
}

static int destroy(void *c)
{
    LAB_ALONE;
    if (!c || c == primary || !lab_let_go(LAB_CONTEXT, c))
        return LAB_INVALID_CONTEXT;
    lab_modules_close(NULL, c);
    if (depth && stack[depth - 1] == c)
        depth--;
    return LAB_SUCCESS;
}

static int retain(void **out)
{
    LAB_ALONE;
    const int error = !out ? LAB_INVALID_VALUE : primary ? LAB_SUCCESS : create(&primary);
    if (!error) {
        primary_users++;
        *out = primary;
    }
    return error;
}

static int release(bool all)
{
    LAB_ALONE;
    void *const last = primary;
    if (!primary)
        return all ? LAB_SUCCESS : LAB_INVALID_CONTEXT;
    primary_users = all ? 0 : primary_users - 1;
    if (primary_users)
        return LAB_SUCCESS;
    primary = NULL;
    return destroy(last);
}

void lab_use_primary(void)
{
    void *c;
    initialised = true;
    if (!depth && !retain(&c))
        push(c);
}

OF_DEVICE(cuDevicePrimaryCtxRetain, (void **out, int device), device, retain(out))
OF_DEVICE(cuDevicePrimaryCtxRelease_v2, (int device), device, release(false))
OF_DEVICE(cuDevicePrimaryCtxReset_v2, (int device), device, release(true))
OF_DEVICE(cuDevicePrimaryCtxSetFlags_v2, (int device, unsigned), device, LAB_SUCCESS)
OF_DEVICE(cuDevicePrimaryCtxGetState, (int device, unsigned *flags, int *active), device,
          put((int *)flags, 0) + put(active, primary != NULL) ? LAB_INVALID_VALUE : LAB_SUCCESS)

static int create_current(void **out)
{
    const int error = create(out);
    return error ? error : push(*out);
}
OF_DEVICE(cuCtxCreate_v2, (void **out, unsigned, int device), device, create_current(out))
OF_DEVICE(cuCtxCreate_v3, (void **out, const void *, int, unsigned, int device), device, create_current(out))
OF_DEVICE(cuCtxCreate_v4, (void **out, const void *, unsigned, int device), device, create_current(out))
OF_DEVICE(cuCtxDestroy_v2, (void *c), 0, destroy(c))
OF_DEVICE(cuCtxPushCurrent_v2, (void *c), 0, push(c))
OF_DEVICE(cuCtxPopCurrent_v2, (void **out), 0, pop(out))

static int set_current(void *c)
{
    if (c && !is_context(c))
        return LAB_INVALID_CONTEXT;
    depth -= depth > 0;
    return c ? push(c) : LAB_SUCCESS;
}
int lab_current(void **out)
{
    if (!out)
        return LAB_INVALID_VALUE;
    *out = depth ? stack[depth - 1] : NULL;
    return LAB_SUCCESS;
}
OF_DEVICE(cuCtxSetCurrent, (void *c), 0, set_current(c))
OF_DEVICE(cuCtxGetCurrent, (void **out), 0, lab_current(out))

LAB_DRIVER(cuCtxSynchronize, (void), lab_capture_waits(LAB_DEVICE))
LAB_DRIVER(cuCtxGetDevice, (int *device), put(device, 0))
LAB_DRIVER(cuCtxGetLimit, (size_t * value, int limit), cudaDeviceGetLimit(value, limit))
LAB_DRIVER(cuCtxGetStreamPriorityRange, (int *least, int *greatest), cudaDeviceGetStreamPriorityRange(least, greatest))
LAB_DRIVER(cuCtxSetCacheConfig, (int), LAB_SUCCESS)
LAB_DRIVER(cuCtxSetSharedMemConfig, (int), LAB_SUCCESS)
LAB_DRIVER(cuProfilerStart, (void), LAB_SUCCESS)
LAB_DRIVER(cuProfilerStop, (void), LAB_SUCCESS)

/* ------------------------------------------------------------------------------------------------ by name */

/* A function of this library as programs of a CUDA version have it: the headers call it by its newest name. The numbers
 * of the result are CUdriverProcAddressQueryResult's and cudaDriverEntryPointQueryResult's. */
static int find(const char *symbol, void **function, int version, int *result)
{
    enum { FOUND = 0, NOT_FOUND = 1, NEWER_CONTEXTS = 13000 };
    const char *const endings[] = {version >= NEWER_CONTEXTS ? "_v4" : "_v2", "_v2", ""};
    Dl_info own;
    if (!symbol || !function)
        return LAB_INVALID_VALUE;
    *function = NULL;
    void *library = !strncmp(symbol, "cu", 2) && isupper((unsigned char)symbol[2]) && dladdr(&initialised, &own)
                        ? dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && library && !*function; i++) {
        char name[100];
        snprintf(name, sizeof name, "%s%s", symbol, endings[i]);
        *function = dlsym(library, name);
    }
    if (library)
        dlclose(library);
    if (!*function)
        fprintf(stderr, "smempipe kernel: the lab's driver has no %.80s\n", symbol);
    if (result)
        *result = *function ? FOUND : NOT_FOUND;
    return *function ? LAB_SUCCESS : LAB_NOT_FOUND;
}
LAB_ALIAS(cuGetProcAddress_v2, (const char *symbol, void **function, int version, uint64_t, int *result),
          find(symbol, function, version, result))
LAB_ALIAS(cuGetProcAddress, (const char *symbol, void **function, int version, uint64_t),
          find(symbol, function, version, NULL))

/* The runtime tells by its result alone that there is none. */
LAB_API int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version, unsigned long long,
                                             int *result)
{
    const int error = find(symbol, function, (int)version, result);
    return lab_error(error == LAB_NOT_FOUND ? LAB_SUCCESS : error);
}
LAB_ALIAS(cudaGetDriverEntryPoint, (const char *symbol, void **function, unsigned long long flags, int *result),
          cudaGetDriverEntryPointByVersion(symbol, function, 13000, flags, result))

/* NVRTC asks for one, and does without. */
LAB_API int cuGetExportTable(const void **table, const void *)
{
    if (table)
        *table = NULL;
    return LAB_NOT_SUPPORTED;
}
