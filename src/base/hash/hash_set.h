/* A set of 64-bit hashes, some 16 bytes each: which names, or which files, were met already. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_hash_set {
    uint64_t *slots;  /* 0: free */
    uint64_t *values; /* of a set of smp_hash_set_swap; else null */
    size_t capacity, count;
    bool has_zero, valued;
} smp_hash_set;

/* *there: it was in the set before. False without memory. The hash should be well mixed (smp_hash_name). */
bool smp_hash_set_add(smp_hash_set *set, uint64_t hash, bool *there);
/* The same in a set whose hashes, none of them 0, have values: puts one, and tells the one before; 0: there was none.
 */
bool smp_hash_set_swap(smp_hash_set *set, uint64_t hash, uint64_t *value);
uint64_t smp_hash_set_value(const smp_hash_set *set, uint64_t hash); /* 0: it is not in the set */
bool smp_hash_set_has(const smp_hash_set *set, uint64_t hash);
void smp_hash_set_clear(smp_hash_set *set); /* keeps about as much memory as it needed */
void smp_hash_set_free(smp_hash_set *set);
