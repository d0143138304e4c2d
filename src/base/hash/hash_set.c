/* Open addressing with linear probing, at most three quarters full: see hash_set.h. */
#include "base/hash/hash_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { FIRST = 1024 }; /* slots; a power of two, as every capacity */

/* Returns the slot that holds a hash, or that it would go to. */
static size_t slot_of(const smp_hash_set *set, uint64_t hash)
{
    size_t at = (size_t)hash & (set->capacity - 1);
    while (set->slots[at] && set->slots[at] != hash)
        at = (at + 1) & (set->capacity - 1);
    return at;
}

static bool grow(smp_hash_set *set)
{
    size_t wanted = FIRST;
    if (set->capacity && !smp_mul_size(set->capacity, 2, &wanted))
        return false;
    smp_hash_set larger = *set;
    larger.capacity = wanted;
    larger.slots = smp_alloc_array(wanted, sizeof *larger.slots);
    larger.values = set->valued ? smp_alloc_array(wanted, sizeof *larger.values) : NULL;
    if (!larger.slots || (set->valued && !larger.values)) {
        smp_free_all(larger.slots, larger.values);
        return false;
    }
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i]) {
            const size_t at = slot_of(&larger, set->slots[i]);
            larger.slots[at] = set->slots[i];
            if (set->valued)
                larger.values[at] = set->values[i];
        }
    smp_free_all(set->slots, set->values);
    *set = larger;
    return true;
}

bool smp_hash_set_add(smp_hash_set *set, uint64_t hash, bool *there)
{
    if (!hash) {
        *there = set->has_zero;
        set->has_zero = true;
        return true;
    }
    if (set->count >= set->capacity / 4 * 3 && !grow(set))
        return false;
    const size_t at = slot_of(set, hash);
    *there = set->slots[at] != 0;
    set->slots[at] = hash;
    set->count += !*there;
    return true;
}

bool smp_hash_set_swap(smp_hash_set *set, uint64_t hash, uint64_t *value)
{
    bool there;
    set->valued = true;
    if (!smp_hash_set_add(set, hash, &there))
        return false;
    const size_t at = slot_of(set, hash);
    const uint64_t before = there ? set->values[at] : 0;
    set->values[at] = *value;
    *value = before;
    return true;
}

uint64_t smp_hash_set_value(const smp_hash_set *set, uint64_t hash)
{
    const size_t at = set->capacity ? slot_of(set, hash) : 0;
    return set->capacity && set->slots[at] ? set->values[at] : 0;
}

bool smp_hash_set_has(const smp_hash_set *set, uint64_t hash)
{
    if (!hash)
        return set->has_zero;
    return set->capacity && set->slots[slot_of(set, hash)] != 0;
}

void smp_hash_set_clear(smp_hash_set *set)
{
    if (set->capacity > FIRST && set->count < set->capacity / 8) {
        smp_hash_set_free(set);
        return;
    }
    if (set->slots)
        memset(set->slots, 0, set->capacity * sizeof *set->slots);
    set->count = 0;
    set->has_zero = false;
}

void smp_hash_set_free(smp_hash_set *set)
{
    smp_free_all(set->slots, set->values);
    *set = (smp_hash_set){.slots = NULL};
}
