/* Open addressing with linear probing, at most three quarters full: see name_collisions.h. */
#include "batch/name_collisions.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/paths.h"

enum { FIRST = 1024, MOST = 1 << 26 }; /* slots; powers of two */

static uint64_t hash_of(const char *text, size_t length)
{
    smp_hash hash = smp_hash_start();
    smp_hash_add(&hash, text, length);
    return smp_hash_mix(hash.a);
}

static smp_name_collision *slot_of(const smp_name_collisions *t, uint64_t name)
{
    size_t at = (size_t)name & (t->capacity - 1);
    while (t->slots[at].line && t->slots[at].name != name)
        at = (at + 1) & (t->capacity - 1);
    return &t->slots[at];
}

static void forget(smp_name_collisions *t)
{
    if (t->count)
        memset(t->slots, 0, t->capacity * sizeof *t->slots);
    t->count = 0;
}

static bool grow(smp_name_collisions *t)
{
    smp_name_collisions larger = *t;
    larger.capacity = t->capacity ? 2 * t->capacity : FIRST;
    larger.slots = smp_alloc_array(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].line)
            *slot_of(&larger, t->slots[i].name) = t->slots[i];
    smp_free(t->slots);
    *t = larger;
    return true;
}

bool smp_name_collisions_meet(smp_name_collisions *t, const char *name, uint64_t line, uint64_t *before)
{
    const uint64_t folder = t->scattered ? 0 : hash_of(name, (size_t)(smp_base_name(name) - name));
    if (folder != t->folder) {
        t->folder = folder;
        forget(t);
    }
    if (t->count >= t->capacity / 4 * 3) {
        if (t->capacity >= MOST)
            forget(t);
        else if (!grow(t))
            return false;
    }
    const uint64_t hash = hash_of(name, smp_stem(name));
    smp_name_collision *collision = slot_of(t, hash);
    *before = collision->line;
    t->count += !collision->line;
    *collision = (smp_name_collision){.name = hash, .line = line};
    return true;
}

void smp_name_collisions_free(smp_name_collisions *collisions)
{
    smp_free(collisions->slots);
    *collisions = (smp_name_collisions){.slots = NULL};
}
