/* The arena: a chain of blocks, each filled from the front. See arena.h. */
#include "pipe/arena.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { BLOCK_BYTES = 16 << 10, ALIGNMENT = 16 };

typedef struct smp_arena_block {
    struct smp_arena_block *next;
    size_t used, size; /* bytes of data */
    char *data;
} smp_arena_block;

void *smp_arena_alloc(smp_arena *arena, size_t size)
{
    size_t rounded;
    if (!smp_add_size(size, ALIGNMENT - 1, &rounded)) {
        arena->failed = true;
        return NULL;
    }
    rounded &= ~(size_t)(ALIGNMENT - 1);
    smp_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < rounded) {
        size_t data = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES, total;
        bool over = arena->limit && data > arena->limit - arena->used;
        smp_arena_block *fresh = !over && smp_add_size(SMP_ALIGN, data, &total) ? smp_alloc(total) : NULL;
        if (!fresh) {
            arena->failed = true;
            arena->full |= over;
            return NULL;
        }
        arena->used += data;
        *fresh = (smp_arena_block){.size = data, .data = (char *)fresh + SMP_ALIGN};
        /* A large request gets its own block, behind the one being filled, whose free space stays usable. */
        if (block && rounded > BLOCK_BYTES) {
            fresh->next = block->next;
            block->next = fresh;
        } else {
            fresh->next = block;
            arena->blocks = fresh;
        }
        block = fresh;
    }
    void *p = block->data + block->used;
    block->used += rounded;
    return p;
}

void *smp_arena_array(smp_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (!smp_mul_size(count, size, &total)) {
        arena->failed = true;
        return NULL;
    }
    return smp_arena_alloc(arena, total);
}

void *smp_arena_copy(smp_arena *arena, const void *data, size_t size)
{
    void *copy = smp_arena_alloc(arena, size);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

char *smp_arena_strndup(smp_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? smp_arena_alloc(arena, length + 1) : NULL;
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

void smp_arena_free(smp_arena *arena)
{
    for (smp_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        smp_free(block);
    }
    *arena = (smp_arena){0};
}
