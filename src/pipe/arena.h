/* An arena: the memory of one parse, freed as a whole. It owns what a program owns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct smp_arena {
    struct smp_arena_block *blocks;
    size_t used;  /* bytes of all blocks */
    size_t limit; /* of `used`; 0: none */
    bool failed;  /* an allocation has failed: what was built is incomplete */
    bool full;    /* it failed because of the limit */
} smp_arena;

/* size bytes, zeroed, aligned for any type. Null when memory is exhausted; the arena is then failed. */
void *smp_arena_alloc(smp_arena *arena, size_t size);

/* count * size bytes; checks for overflow. */
void *smp_arena_array(smp_arena *arena, size_t count, size_t size);

/* Copies. strndup adds a null byte. */
void *smp_arena_copy(smp_arena *arena, const void *data, size_t size);
char *smp_arena_strndup(smp_arena *arena, const char *text, size_t length);

void smp_arena_free(smp_arena *arena);
