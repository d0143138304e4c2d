/* L1 of an SM: lines of 128 bytes with a bit for each sector. Of two lines chosen at random the one that was used
 * longer ago gives its place. And a map from lines or sectors to numbers. */
#include "base/alloc.h"
#include "lab/time/model.h"

enum { LINE = 128 };

bool time_l1_open(time_l1 *l1, uint32_t bytes, uint32_t ways)
{
    l1->ways = ways;
    l1->sets = bytes / LINE / ways ? bytes / LINE / ways : 1;
    l1->lines = smp_alloc_array((size_t)l1->sets * ways, sizeof *l1->lines);
    if (l1->lines)
        time_l1_clear(l1);
    return l1->lines != NULL;
}

void time_l1_clear(time_l1 *l1)
{
    enum { SEED = 12345 };
    for (size_t i = 0; i < (size_t)l1->sets * l1->ways; i++)
        l1->lines[i] = (time_line){.tag = UINT32_MAX};
    l1->clock = 0;
    l1->random = SEED;
}

static time_line *set_of(const time_l1 *l1, uint32_t line)
{
    return &l1->lines[(size_t)((line ^ line >> 7 ^ line >> 13) % l1->sets) * l1->ways];
}

time_line *time_l1_find(time_l1 *l1, uint32_t line)
{
    time_line *set = set_of(l1, line);
    for (uint32_t i = 0; i < l1->ways; i++)
        if (set[i].tag == line) {
            set[i].used = ++l1->clock;
            return &set[i];
        }
    return NULL;
}

uint32_t time_draw(uint32_t *random)
{
    *random = *random * 1664525U + 1013904223U; /* Numerical Recipes' generator */
    return *random >> 16;
}

time_line *time_l1_take(time_l1 *l1, uint32_t line)
{
    time_line *set = set_of(l1, line), *taken = NULL;
    for (uint32_t i = 0; i < l1->ways && !taken; i++)
        if (set[i].tag == UINT32_MAX)
            taken = &set[i];
    if (!taken) {
        time_line *a = &set[time_draw(&l1->random) % l1->ways], *b = &set[time_draw(&l1->random) % l1->ways];
        taken = b->used < a->used ? b : a;
    }
    *taken = (time_line){.tag = line, .used = ++l1->clock};
    return taken;
}

void time_l1_hold(time_l1 *l1, uint32_t line, uint32_t mask)
{
    time_line *held = time_l1_find(l1, line);
    held = held ? held : time_l1_take(l1, line);
    held->mask |= (uint8_t)mask;
}

static size_t place_of(const time_map *map, uint32_t key)
{
    size_t at = (key * 2654435769U >> 7) & (map->capacity - 1);
    while (map->keys[at] && map->keys[at] != key + 1)
        at = (at + 1) & (map->capacity - 1);
    return at;
}

static bool grow(time_map *map)
{
    enum { FIRST = 1024 };
    const time_map old = *map;
    *map = (time_map){.capacity = old.capacity ? old.capacity * 4 : FIRST, .count = old.count};
    map->keys = smp_alloc_array(map->capacity, sizeof *map->keys);
    map->values = smp_alloc_array(map->capacity, sizeof *map->values);
    if (!map->keys || !map->values) {
        time_map_free(map);
        *map = old;
        return false;
    }
    for (size_t i = 0; i < old.capacity; i++)
        if (old.keys[i]) {
            const size_t at = place_of(map, old.keys[i] - 1);
            map->keys[at] = old.keys[i];
            map->values[at] = old.values[i];
        }
    smp_free_all(old.keys, old.values);
    return true;
}

int64_t *time_map_at(time_map *map, uint32_t key, bool *fresh)
{
    if (map->count * 2 >= map->capacity && !grow(map))
        return NULL;
    const size_t at = place_of(map, key);
    *fresh = !map->keys[at];
    if (*fresh) {
        map->keys[at] = key + 1;
        map->count++;
    }
    return &map->values[at];
}

void time_map_free(time_map *map)
{
    smp_free_all(map->keys, map->values);
    *map = (time_map){.count = 0};
}
