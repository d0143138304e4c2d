/* Memory pools: names under which memory of the device is asked for. Nothing is kept back, so that they have no
 * thresholds to hold and nothing to trim. */
#include <string.h>

#include "lab/runtime/runtime.h"

/* cudaMemPoolAttr: bytes from RELEASE_THRESHOLD on are of 64 bits, those before of 32. */
enum { RELEASE_THRESHOLD = 4, ATTRIBUTES = 9, BOTH = 3 /* cudaMemAccessFlagsProtReadWrite */ };

typedef struct pool {
    uint64_t attributes[ATTRIBUTES];
} pool;

static pool usual = {.attributes = {[1] = 1, [2] = 1, [3] = 1}};
static pool *current = &usual;

static bool is_pool(const pool *p)
{
    return p == &usual || lab_holds(LAB_POOL, p);
}

static int get(pool **out, int device, pool *from)
{
    if (out && !device)
        *out = from;
    return lab_error(!out ? LAB_INVALID_VALUE : device ? LAB_INVALID_DEVICE : LAB_SUCCESS);
}
LAB_ALIAS(cudaDeviceGetDefaultMemPool, (pool * *out, int device), get(out, device, &usual))
LAB_ALIAS(cudaDeviceGetMemPool, (pool * *out, int device), get(out, device, current))
LAB_API int cudaDeviceSetMemPool(int device, pool *to)
{
    LAB_ALONE;
    if (device || !is_pool(to))
        return lab_error(device ? LAB_INVALID_DEVICE : LAB_INVALID_VALUE);
    current = to;
    return LAB_SUCCESS;
}
LAB_API int cudaMemPoolCreate(pool **out, const void *properties)
{
    if (!out || !properties)
        return lab_error(LAB_INVALID_VALUE);
    *out = lab_hold(LAB_POOL, sizeof **out);
    if (*out)
        **out = usual;
    return lab_error(*out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
}
LAB_API int cudaMemPoolDestroy(pool *of)
{
    LAB_ALONE;
    if (!lab_let_go(LAB_POOL, of))
        return lab_error(LAB_INVALID_VALUE);
    current = current == of ? &usual : current;
    return LAB_SUCCESS;
}

static bool is_attribute(const pool *of, int attribute, const void *value)
{
    return is_pool(of) && value && attribute >= 1 && attribute < ATTRIBUTES;
}
LAB_API int cudaMemPoolSetAttribute(pool *of, int attribute, const void *value)
{
    if (!is_attribute(of, attribute, value))
        return lab_error(LAB_INVALID_VALUE);
    memcpy(&of->attributes[attribute], value, attribute < RELEASE_THRESHOLD ? sizeof(int) : sizeof(uint64_t));
    return LAB_SUCCESS;
}
LAB_API int cudaMemPoolGetAttribute(const pool *of, int attribute, void *value)
{
    if (!is_attribute(of, attribute, value))
        return lab_error(LAB_INVALID_VALUE);
    memcpy(value, &of->attributes[attribute], attribute < RELEASE_THRESHOLD ? sizeof(int) : sizeof(uint64_t));
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaMemPoolSetAccess, (const pool *of, const void *descriptions, size_t count),
          lab_error(is_pool(of) && (descriptions || !count) ? LAB_SUCCESS : LAB_INVALID_VALUE))
LAB_ALIAS(cudaMemPoolGetAccess, (int *flags, const pool *of, const void *location),
          lab_error(is_pool(of) && flags && location && (*flags = BOTH) != 0 ? LAB_SUCCESS : LAB_INVALID_VALUE))
LAB_ALIAS(cudaMemPoolTrimTo, (const pool *of, size_t), lab_error(is_pool(of) ? LAB_SUCCESS : LAB_INVALID_VALUE))
LAB_ALIAS(cudaMallocFromPoolAsync, (void **p, size_t size, const pool *from, void *stream),
          is_pool(from) ? cudaMallocAsync(p, size, stream) : lab_error(LAB_INVALID_VALUE))
