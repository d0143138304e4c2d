/* Memory and addresses by themselves: what cuMemCreate makes is a file without a name, which cuMemMap puts at addresses
 * of the device, here and in other processes that get its descriptor. Kernels and copies find it there once
 * cuMemSetAccess lets them. */
#define _GNU_SOURCE 1 /* memfd_create */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/machine/buffers.h"
#include "lab/runtime/runtime.h"

enum { GRANULARITY = 2 << 20, HOST_PAGE = 4096, AS_FILE = 1, PINNED = 1, OF_DEVICE = 1 };

/* CUmemAllocationProp, CUmemAccessDesc */
typedef struct properties {
    int type, handles, at, device;
    void *windows;
    unsigned char rest[8];
} properties;
typedef struct grant {
    int at, device, flags;
} grant;

typedef struct physical {
    int file;
    size_t size;
    properties as;
} physical;

/* Addresses that are reserved, or, in those, where memory is mapped, which has a descriptor of its own. */
typedef struct range {
    char *start;
    size_t size;
    int file;   /* NONE: reserved */
    int access; /* CUmemAccess_flags */
} range;
enum { NONE = -1 };
static range *ranges;
static size_t count, capacity;

static range *find(const char *start, size_t size, bool mapped)
{
    for (range *r = ranges; r < ranges + count; r++)
        if ((r->file != NONE) == mapped && start < r->start + r->size && r->start < start + size)
            return r;
    return NULL;
}
static int add(char *start, size_t size, int file)
{
    if (!start || !smp_grow(&ranges, &capacity, count + 1, sizeof *ranges))
        return LAB_OUT_OF_MEMORY;
    ranges[count++] = (range){start, size, file, 0};
    return LAB_SUCCESS;
}

static int reserve(char **out, size_t size, size_t alignment, unsigned long long flags)
{
    if (!out || !size || size % HOST_PAGE || alignment & (alignment - 1) || flags)
        return LAB_INVALID_VALUE;
    *out = warp_addresses(lab_memory(), size, alignment > GRANULARITY ? alignment : GRANULARITY);
    return add(*out, size, NONE);
}
static int free_addresses(const char *start, size_t size)
{
    range *r = find(start, size, false);
    if (!r || r->start != start || r->size != size || find(start, size, true))
        return LAB_INVALID_VALUE;
    *r = ranges[--count];
    return LAB_SUCCESS;
}

static bool is_known(const properties *p)
{
    return p && p->type == PINNED && !(p->handles & ~AS_FILE) && p->at == OF_DEVICE && !p->device;
}
/* A file of the program's own has no seals to add: kernels write none of those. */
static int hold(physical **out, int file, size_t size, const properties *as)
{
    const bool is_memory = file != NONE && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) && !ftruncate(file, (off_t)size);
    *out = is_memory ? lab_hold(LAB_PHYSICAL, sizeof **out) : NULL;
    if (*out)
        **out = (physical){file, size, *as};
    return *out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY;
}
static int import_file(physical **out, int file, int type)
{
    static const properties as = {.type = PINNED, .handles = AS_FILE, .at = OF_DEVICE};
    struct stat s;
    if (!out || type != AS_FILE || fstat(file, &s) || s.st_size <= 0 || s.st_size % GRANULARITY)
        return LAB_INVALID_VALUE;
    return hold(out, fcntl(file, F_DUPFD_CLOEXEC, 0), (size_t)s.st_size, &as) ? LAB_INVALID_VALUE : LAB_SUCCESS;
}

static int map(char *start, size_t size, size_t offset, const physical *p, unsigned long long flags)
{
    const range *in = find(start, 1, false);
    if (!lab_holds(LAB_PHYSICAL, p) || !size || offset || flags || (size | (size_t)(uintptr_t)start) % GRANULARITY ||
        size > p->size || !in || size > in->size - (size_t)(start - in->start) || find(start, size, true))
        return LAB_INVALID_VALUE;
    return add(start, size, fcntl(p->file, F_DUPFD_CLOEXEC, 0));
}

typedef enum change { CLOSE, ACCESS = 3, UNMAP } change; /* UNMAP, or access */
static bool change_one(range *r, change to)
{
    const int access = to & ACCESS;
    if (r->access && !access)
        smp_warp_buffer_free(lab_memory(), r->start);
    else if (!r->access && access && !warp_buffer_at(lab_memory(), r->start, r->size, r->file))
        return false;
    r->access = access;
    if (access)
        warp_find_buffer(lab_memory(), (uint64_t)(uintptr_t)r->start)->mapped = true;
    if (to != UNMAP)
        return true;
    close(r->file);
    *r = ranges[--count];
    return true;
}
/* From start on, mappings side by side must be whole. */
static int change_all(const char *start, size_t size, change to)
{
    for (int changes = 0; changes < 2; changes++)
        for (size_t at = 0, step; at < size; at += step) {
            range *r = find(start + at, 1, true);
            if (!r || r->start != start + at || r->size > size - at)
                return LAB_INVALID_VALUE;
            step = r->size;
            if (changes && !change_one(r, to))
                return LAB_OUT_OF_MEMORY;
        }
    return size ? LAB_SUCCESS : LAB_INVALID_VALUE;
}
/* The device's, which is the last word on it. */
static int allow(const char *start, size_t size, const grant *of, size_t all)
{
    for (size_t i = 0; of && i < all; i++)
        if (of[i].at != OF_DEVICE || of[i].device)
            return LAB_INVALID_DEVICE;
    return of && all ? change_all(start, size, (change)(of[all - 1].flags & ACCESS)) : LAB_INVALID_VALUE;
}

/* These need no context. */
#define CALL(name, parameters, result)                                                                                 \
    LAB_API int name parameters                                                                                        \
    {                                                                                                                  \
        LAB_ALONE;                                                                                                     \
        return lab_lacks() == LAB_NOT_INITIALIZED ? LAB_NOT_INITIALIZED : (result);                                    \
    }
#define FLAGS    unsigned long long flags
#define IF(fits) ((fits) ? LAB_SUCCESS : LAB_INVALID_VALUE)
CALL(cuMemAddressReserve, (char **out, size_t size, size_t to, void *, FLAGS), reserve(out, size, to, flags))
CALL(cuMemAddressFree, (const char *start, size_t size), free_addresses(start, size))
CALL(cuMemGetAllocationGranularity, (size_t * out, const properties *as, int),
     IF(is_known(as) && out && (*out = GRANULARITY) != 0))
CALL(cuMemCreate, (physical * *out, size_t size, const properties *as, FLAGS),
     is_known(as) && out && size && size % GRANULARITY == 0 && !flags
         ? hold(out, memfd_create("device memory", MFD_CLOEXEC | MFD_ALLOW_SEALING), size, as)
         : LAB_INVALID_VALUE)
CALL(cuMemGetAllocationPropertiesFromHandle, (properties * out, const physical *p),
     IF(lab_holds(LAB_PHYSICAL, p) && out && memcpy(out, &p->as, sizeof *out)))
CALL(cuMemExportToShareableHandle, (int *out, const physical *p, int type, FLAGS),
     IF(lab_holds(LAB_PHYSICAL, p) && out && type == AS_FILE && p->as.handles == AS_FILE && !flags &&
        (*out = dup(p->file)) != NONE))
CALL(cuMemImportFromShareableHandle, (physical * *out, void *given, int type),
     import_file(out, (int)(uintptr_t)given, type))
CALL(cuMemRelease, (physical * p), IF(lab_holds(LAB_PHYSICAL, p) && !close(p->file) && lab_let_go(LAB_PHYSICAL, p)))
CALL(cuMemMap, (char *start, size_t size, size_t offset, const physical *p, FLAGS), map(start, size, offset, p, flags))
CALL(cuMemSetAccess, (const char *start, size_t size, const grant *of, size_t all), allow(start, size, of, all))
CALL(cuMemUnmap, (const char *start, size_t size), change_all(start, size, UNMAP))
CALL(cuMemGetAccess, (unsigned long long *out, const grant *at, const char *start),
     IF(find(start, 1, true) && out && at && at->at == OF_DEVICE && !at->device &&
        ((*out = (unsigned)find(start, 1, true)->access), true)))
