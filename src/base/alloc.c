/* Counted, limited, failable allocation: see alloc.h. A header before each block keeps its size. */
#include "base/alloc.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "base/checked.h"

static atomic_uint_fast64_t live, peak, limit, made, fail_at, refused;
static _Atomic bool limit_hit;

typedef struct header {
    uint64_t size;
} header;

/* Asks for huge pages where a block holds a picture. Tiles run down columns, and each row of a column is on another
 * small page: the TLB misses took 10 to 30 % of a blur. Smaller blocks (strips) have few pages; huge pages would only
 * make them larger. */
static void ask_for_large_pages(char *block, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    enum { PICTURE = 8 << 20, PAGE = 1 << 16 }; /* bytes; a multiple of every system's page */
    uintptr_t from = ((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1),
              to = ((uintptr_t)block + size) & ~(uintptr_t)(PAGE - 1);
    if (size >= PICTURE)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* the system may refuse */
#else
    (void)block, (void)size;
#endif
}

static void raise_peak(uint64_t now)
{
    uint64_t seen = atomic_load(&peak);
    while (now > seen && !atomic_compare_exchange_weak(&peak, &seen, now))
        ;
}

/* *now: bytes that are live with these. */
static bool count_in(uint64_t bytes, uint64_t *now)
{
    const uint64_t most = atomic_load(&limit);
    *now = atomic_fetch_add(&live, bytes) + bytes;
    if (!most || *now <= most)
        return true;
    atomic_fetch_sub(&live, bytes);
    atomic_store(&limit_hit, true);
    atomic_fetch_add(&refused, 1);
    return false;
}

void *smp_alloc_raw(size_t size)
{
    uint64_t nth = atomic_fetch_add(&made, 1) + 1;
    if (nth == atomic_load(&fail_at))
        return NULL;
    size_t total;
    if (!smp_add_size(size, 2 * SMP_ALIGN + SMP_ALIGN - 1, &total))
        return NULL;
    total &= ~(size_t)(SMP_ALIGN - 1);
    uint64_t now;
    if (!count_in(total, &now))
        return NULL;
    char *block = aligned_alloc(SMP_ALIGN, total);
    if (!block) {
        atomic_fetch_sub(&live, total);
        return NULL;
    }
    ask_for_large_pages(block, total);
    raise_peak(now);
    ((header *)(void *)block)->size = total;
    memset(block + total - SMP_ALIGN, 0, SMP_ALIGN);
    return block + SMP_ALIGN;
}

void *smp_alloc(size_t size)
{
    void *p = smp_alloc_raw(size);
    if (p)
        memset(p, 0, size);
    return p;
}

void *smp_alloc_array(size_t count, size_t size)
{
    size_t total;
    return smp_mul_size(count, size, &total) ? smp_alloc(total) : NULL;
}

bool smp_grow(void *array, size_t *capacity, size_t want, size_t size)
{
    if (want <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity : 8, bytes;
    while (grown < want)
        if (!smp_mul_size(grown, 2, &grown))
            return false;
    if (!smp_mul_size(grown, size, &bytes))
        return false;
    char *fresh = smp_alloc_raw(bytes);
    if (!fresh)
        return false;
    void *old;
    memcpy(&old, array, sizeof old);
    size_t used = *capacity * size;
    if (old)
        memcpy(fresh, old, used);
    memset(fresh + used, 0, bytes - used);
    smp_free(old);
    memcpy(array, &fresh, sizeof fresh);
    *capacity = grown;
    return true;
}

char *smp_strndup(const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? smp_alloc(length + 1) : NULL;
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *smp_strdup(const char *text)
{
    return smp_strndup(text, strlen(text));
}

char *smp_asprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : smp_alloc((size_t)length + 1);
    if (text) {
        va_start(args, format);
        vsnprintf(text, (size_t)length + 1, format, args);
        va_end(args);
    }
    return text;
}

void smp_free(void *pointer)
{
    if (!pointer)
        return;
    char *block = (char *)pointer - SMP_ALIGN;
    atomic_fetch_sub(&live, ((header *)(void *)block)->size);
    free(block);
}

uint64_t smp_alloc_live(void)
{
    return atomic_load(&live);
}

uint64_t smp_alloc_peak(void)
{
    return atomic_load(&peak);
}

void smp_alloc_limit(uint64_t bytes)
{
    atomic_store(&limit, bytes);
    atomic_store(&limit_hit, false);
}

uint64_t smp_alloc_limited(void)
{
    return atomic_load(&limit);
}

void smp_alloc_elsewhere(uint64_t was, uint64_t is, uint64_t most, uint64_t times)
{
    const uint64_t now = atomic_fetch_sub(&live, was) - was;
    raise_peak(now + smp_max_u64(is, most));
    atomic_fetch_add(&live, is);
    atomic_fetch_add(&refused, times);
}

bool smp_alloc_borrow(uint64_t size)
{
    uint64_t now;
    if (!count_in(size, &now))
        return false;
    raise_peak(now);
    return true;
}

void smp_alloc_restart_peak(void)
{
    atomic_store(&peak, atomic_load(&live));
}

void smp_alloc_fail_at(uint64_t nth)
{
    atomic_store(&fail_at, nth ? atomic_load(&made) + nth : 0);
}

void smp_alloc_keep(void)
{
#ifdef __GLIBC__
    enum { BLOCK = 4 << 20, AT_THE_END = 64 << 20 }; /* bytes: larger blocks are the system's; kept at a heap's end */
    mallopt(M_MMAP_THRESHOLD, BLOCK);
    mallopt(M_TRIM_THRESHOLD, AT_THE_END);
#endif
}

uint64_t smp_alloc_refused(void)
{
    return atomic_load(&refused);
}

uint64_t smp_alloc_count(void)
{
    return atomic_load(&made);
}

smp_code smp_fail_memory(smp_error *err, const char *what, uint64_t size)
{
    if (atomic_load(&limit_hit)) {
        smp_fail(err, SMP_E_LIMIT, "%s needs %llu bytes, more than --max-memory leaves", what,
                 (unsigned long long)size);
        return smp_hint(err, "raise --max-memory");
    }
    return smp_fail(err, SMP_E_MEMORY, "out of memory (%s, %llu bytes)", what, (unsigned long long)size);
}
