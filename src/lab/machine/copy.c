/* Copies of all buffers, so that a launch can be done twice. */
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/buffers.h"

struct smp_warp_copy {
    size_t count;
    struct {
        uint64_t start, size;
        unsigned char *bytes;
    } * buffers;
};

void smp_warp_copy_free(smp_warp_copy *copy)
{
    if (!copy)
        return;
    for (size_t i = 0; i < copy->count; i++)
        smp_free(copy->buffers[i].bytes);
    smp_free_all(copy->buffers, copy);
}

/* Pages that are the same already stay as they are: of those that nobody wrote there is none. */
static void copy_pages(void *to, const void *from, uint64_t size)
{
    enum { PAGE = 4096 };
    for (uint64_t at = 0; at < size; at += PAGE) {
        unsigned char *page = (unsigned char *)to + at;
        const unsigned char *source = (const unsigned char *)from + at;
        const size_t bytes = size - at < PAGE ? (size_t)(size - at) : PAGE;
        if (memcmp(page, source, bytes))
            memcpy(page, source, bytes);
    }
}

static bool same_buffers(const smp_warp_memory *memory, const smp_warp_copy *copy)
{
    bool same = memory->count == copy->count;
    for (size_t i = 0; i < copy->count && same; i++)
        same = memory->buffers[i].start == copy->buffers[i].start && memory->buffers[i].size == copy->buffers[i].size;
    return same;
}

/* A copy that was kept, of the same buffers: pages that the system has to clear first cost as much as copying. */
static smp_warp_copy *take_kept(smp_warp_memory *memory)
{
    smp_warp_copy *copy = NULL;
    for (size_t i = 0; i < WARP_COPIES_KEPT && !copy; i++) {
        copy = memory->kept[i];
        memory->kept[i] = NULL;
        if (copy && !same_buffers(memory, copy)) {
            smp_warp_copy_free(copy);
            copy = NULL;
        }
    }
    for (size_t i = 0; copy && i < copy->count; i++)
        copy_pages(copy->buffers[i].bytes, (const void *)(uintptr_t)copy->buffers[i].start, copy->buffers[i].size);
    return copy;
}

void smp_warp_copy_keep(smp_warp_memory *memory, smp_warp_copy *copy)
{
    for (size_t i = 0; i < WARP_COPIES_KEPT && copy; i++)
        if (!memory->kept[i]) {
            memory->kept[i] = copy;
            copy = NULL;
        }
    smp_warp_copy_free(copy);
}

smp_warp_copy *smp_warp_copy_memory(smp_warp_memory *memory)
{
    smp_warp_copy *copy = take_kept(memory);
    if (copy)
        return copy;
    copy = smp_alloc(sizeof *copy);
    if (!copy || !(copy->buffers = smp_alloc_array(memory->count + 1, sizeof *copy->buffers))) {
        smp_free(copy);
        return NULL;
    }
    for (; copy->count < memory->count; copy->count++) {
        const warp_buffer *b = &memory->buffers[copy->count];
        unsigned char *bytes = smp_alloc_raw(b->size + 1); /* new pages, which zeroing would take */
        if (!bytes) {
            smp_warp_copy_free(copy);
            return NULL;
        }
        copy_pages(bytes, (const void *)(uintptr_t)b->start, b->size);
        copy->buffers[copy->count].start = b->start;
        copy->buffers[copy->count].size = b->size;
        copy->buffers[copy->count].bytes = bytes;
    }
    return copy;
}

uint64_t warp_mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (uint64_t word = 0; size; at += sizeof word, word = 0) {
        const size_t part = size < sizeof word ? size : sizeof word;
        memcpy(&word, at, part);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
        size -= part;
    }
    return hash;
}

uint64_t smp_warp_memory_digest(const smp_warp_memory *memory)
{
    uint64_t digest = 1;
    for (size_t i = 0; i < memory->count; i++)
        digest = warp_mix(digest, (const void *)(uintptr_t)memory->buffers[i].start, memory->buffers[i].size);
    return digest;
}

bool smp_warp_copy_back(smp_warp_memory *memory, const smp_warp_copy *copy)
{
    if (!same_buffers(memory, copy))
        return false;
    for (size_t i = 0; i < copy->count; i++)
        copy_pages((void *)(uintptr_t)memory->buffers[i].start, copy->buffers[i].bytes, copy->buffers[i].size);
    return true;
}

uint64_t smp_warp_copy_differs(const smp_warp_memory *memory, const smp_warp_copy *copy, char *place, size_t size)
{
    uint64_t differ = 0;
    if (!same_buffers(memory, copy)) {
        snprintf(place, size, "in the buffers that there are");
        return 1;
    }
    for (size_t i = 0; i < copy->count; i++) {
        const warp_buffer *b = &memory->buffers[i];
        const unsigned char *is = (const unsigned char *)(uintptr_t)b->start, *was = copy->buffers[i].bytes;
        if (!memcmp(is, was, b->size))
            continue;
        for (uint64_t k = 0; k < b->size; k++) {
            if (is[k] == was[k])
                continue;
            if (!differ++)
                snprintf(place, size, "byte %llu of %s%s%s (%llu bytes)", (unsigned long long)k,
                         b->name[0] ? "'" : "a buffer", b->name, b->name[0] ? "'" : "", (unsigned long long)b->size);
        }
    }
    return differ;
}
