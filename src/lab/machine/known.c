/* Bytes of device memory that nobody has written: cudaMalloc gives memory with whatever was there. */

#include "base/alloc.h"
#include "lab/machine/buffers.h"

enum { BITS = 8 };

static inline bool bit(const unsigned char *bits, uint64_t at)
{
    return bits[at / BITS] >> at % BITS & 1;
}

void warp_know(warp_buffer *b, uint64_t offset, uint64_t size)
{
    uint64_t fresh = 0;
    if (!b->unknown || !size)
        return;
    if (!b->known && size < b->size && !(b->known = smp_alloc(b->size / BITS + 1)))
        size = b->size; /* no memory: nothing is told */
    if (size >= b->size) {
        b->unknown = 0;
        return;
    }
    for (uint64_t at = offset; at < offset + size;) {
        unsigned char *byte = &b->known[at / BITS];
        const uint64_t left = offset + size - at, in_byte = at % BITS;
        const uint64_t count = left < BITS - in_byte ? left : BITS - in_byte;
        const unsigned char mask = (unsigned char)(((1u << count) - 1) << in_byte);
        fresh += (uint32_t)__builtin_popcount(mask & ~*byte);
        *byte |= mask;
        at += count;
    }
    b->unknown -= fresh;
}

bool warp_is_unknown(const warp_buffer *b, uint64_t offset, uint64_t size)
{
    bool known = !b->unknown;
    for (uint64_t at = offset; at < offset + size && !known && b->known; at++)
        known = bit(b->known, at);
    return !known;
}

void smp_warp_memory_know(smp_warp_memory *memory, const void *start, size_t size)
{
    const uint64_t address = (uint64_t)(uintptr_t)start;
    warp_buffer *b = warp_find_buffer(memory, address);
    if (b)
        warp_know(b, address - b->start, size);
}

void smp_warp_memory_know_copy(smp_warp_memory *memory, const void *to, const void *from, size_t size)
{
    const uint64_t source = (uint64_t)(uintptr_t)from, target = (uint64_t)(uintptr_t)to;
    warp_buffer *b = warp_find_buffer(memory, target);
    const warp_buffer *was = warp_find_buffer(memory, source);
    if (!b || !b->unknown)
        return;
    if (!was || !was->unknown)
        warp_know(b, target - b->start, size);
    for (uint64_t i = 0; i < size && was && was->unknown && was->known; i++)
        if (bit(was->known, source - was->start + i))
            warp_know(b, target - b->start + i, 1);
}

void smp_warp_memory_know_all(smp_warp_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++)
        memory->buffers[i].unknown = 0;
}
