/* Counted, limited, failable allocation: see alloc.h. A header before each block keeps its size. */
#include "base/alloc.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "base/sanitized.h"

static atomic_uint_fast64_t live, peak, limit, made, fail_at, refused;
static _Atomic bool limit_hit;

typedef struct header {
    uint64_t size, asked; /* bytes of the block, and what of them is live: a kept block may be larger */
} header;

/* Asks for huge pages where a block holds a picture. Tiles run down columns, and each row of a column is on another
 * small page: the TLB misses took 10 to 30 % of a blur. Smaller blocks (strips) have few pages; huge pages would only
 * make them larger. */
static void ask_for_large_pages(char *block, size_t size)
{
    enum { PICTURE = 8 << 20, PAGE = 1 << 16 }; /* bytes; a multiple of every system's page */
    uintptr_t from = ((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1),
              to = ((uintptr_t)block + size) & ~(uintptr_t)(PAGE - 1);
    if (size >= PICTURE)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* the system may refuse */
}

/* ------------------------------------------------------------------------------------------------ kept blocks */

/* Freed blocks that wait for the next ask: the system would take their pages back and clear them anew, under a lock
 * that all threads of the process share. */
enum { KEPT = 512, WORTH_KEEPING = 1 << 20 }; /* blocks; bytes */

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static char *kept[KEPT];
static int kept_count;
static atomic_uint_fast64_t kept_bytes, kept_most; /* changed with the lock held */

/* A kept block of at least `total` bytes, an eighth more at most; null: there is none. */
static char *take_kept(size_t total)
{
    char *block = NULL;
    if (total < WORTH_KEEPING || !atomic_load(&kept_bytes))
        return NULL;
    pthread_mutex_lock(&kept_lock);
    int best = -1;
    uint64_t size = total + total / 8 + 1;
    for (int i = 0; i < kept_count; i++) {
        const uint64_t has = ((header *)(void *)kept[i])->size;
        if (has >= total && has < size) {
            best = i;
            size = has;
        }
    }
    if (best >= 0) {
        block = kept[best];
        memmove(&kept[best], &kept[best + 1], (size_t)(--kept_count - best) * sizeof *kept);
        kept_bytes -= size;
    }
    pthread_mutex_unlock(&kept_lock);
    return block;
}

/* Makes room for `size` bytes by freeing those that wait longest. */
static void drop_kept(uint64_t room)
{
    int gone = 0;
    while (gone < kept_count && (kept_bytes > room || kept_count - gone == KEPT)) {
        kept_bytes -= ((header *)(void *)kept[gone])->size;
        free(kept[gone++]);
    }
    kept_count -= gone;
    memmove(kept, kept + gone, (size_t)kept_count * sizeof *kept);
}

/* False: it is too small, or too large. */
static bool keep(char *block)
{
    const uint64_t size = ((header *)(void *)block)->size;
    if (size < WORTH_KEEPING || !atomic_load(&kept_most))
        return false;
    pthread_mutex_lock(&kept_lock);
    const bool kept_it = size <= kept_most;
    if (kept_it) {
        drop_kept(kept_most - size);
        kept[kept_count++] = block;
        kept_bytes += size;
    }
    pthread_mutex_unlock(&kept_lock);
    return kept_it;
}

/* Frees what waits where it and `more` bytes would pass the limit. */
static void leave_room(uint64_t more)
{
    const uint64_t most = atomic_load(&limit), waits = atomic_load(&kept_bytes);
    if (!most || !waits || atomic_load(&live) + waits + more <= most)
        return;
    pthread_mutex_lock(&kept_lock);
    if (kept_count && atomic_load(&live) + kept_bytes + more > most)
        drop_kept(0);
    pthread_mutex_unlock(&kept_lock);
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
    char *block = take_kept(total);
    if (!block)
        leave_room(total);
    uint64_t now;
    if (!count_in(total, &now)) {
        free(block);
        return NULL;
    }
    if (!block) {
        block = aligned_alloc(SMP_ALIGN, total);
        if (!block) {
            atomic_fetch_sub(&live, total);
            return NULL;
        }
        ask_for_large_pages(block, total);
        ((header *)(void *)block)->size = total;
    }
    raise_peak(now);
    ((header *)(void *)block)->asked = total;
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
    atomic_fetch_sub(&live, ((header *)(void *)block)->asked);
    if (!keep(block))
        free(block);
}

void smp_free_each(void *const *pointers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        smp_free(pointers[i]);
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

void smp_alloc_keep(uint64_t most)
{
    if (!SMP_SANITIZED) { /* which sees what uses freed memory */
        pthread_mutex_lock(&kept_lock);
        kept_most = most;
        drop_kept(most);
        pthread_mutex_unlock(&kept_lock);
    }
#ifdef __GLIBC__
    enum { BLOCK = 4 << 20, AT_THE_END = 64 << 20 }; /* bytes: larger blocks are the system's; kept at a heap's end */
    mallopt(M_MMAP_THRESHOLD, BLOCK);
    mallopt(M_TRIM_THRESHOLD, AT_THE_END);
#endif
}

uint64_t smp_alloc_kept(void)
{
    return atomic_load(&kept_bytes);
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
        smp_fail(err, SMP_E_LIMIT, "--max-memory leaves no room for %s (%llu bytes)", what, (unsigned long long)size);
        return smp_hint(err, "raise --max-memory");
    }
    return smp_fail(err, SMP_E_MEMORY, "out of memory (%s, %llu bytes)", what, (unsigned long long)size);
}
