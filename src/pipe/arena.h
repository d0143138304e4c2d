/* An arena: memory of one parse, given back all at once. What a program owns lives in one of these. */
#ifndef SMP_PIPE_ARENA_H
#define SMP_PIPE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct smp_arena {
    struct smp_arena_block *blocks;
    size_t used;  /* bytes of all blocks */
    size_t limit; /* of them; 0: none */
    bool failed;  /* an allocation failed once: what was built is incomplete */
    bool full;    /* because of the limit */
} smp_arena;

/* size bytes, zeroed, aligned for any type; null (and failed) when memory is exhausted. */
void *smp_arena_alloc(smp_arena *arena, size_t size);

/* count * size bytes, overflow checked. */
void *smp_arena_array(smp_arena *arena, size_t count, size_t size);

/* Copies. strndup ends the copy with a null byte. */
void *smp_arena_copy(smp_arena *arena, const void *data, size_t size);
char *smp_arena_strndup(smp_arena *arena, const char *text, size_t length);

void smp_arena_free(smp_arena *arena);

#endif
