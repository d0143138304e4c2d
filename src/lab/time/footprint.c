/* Counts a launch's requests to L2 and DRAM: units of 64 bytes by address, with the time of their last use. Blocks run
 * in order here, as on a GPU, so order is time: a unit whose last use lies more fetches back than L2 has room for is
 * fetched again. Of the units of an H100 those that one SM alone uses have all of L2, others less, since each half of
 * the L2 keeps a copy. */
#include <string.h>

#include "base/alloc.h"
#include "lab/time/record.h"

enum {
    FIRST_CAPACITY = 1 << 12,
    MOST_CAPACITY = 1 << 20,
    ROWS = 4096,     /* of DRAM that are remembered; this and the next three are assumed */
    OPEN = 1024,     /* fetches for which a row stays near */
    NEIGHBOURS = 32, /* blocks whose accesses come at about the same time */
    AT_ONCE = 2,     /* accesses that warps of different blocks are apart */
    COUNTED = 4,     /* of time_unit.read and .written */
    HELD = 3,        /* of time_unit.written, as shifts: sectors written since L2 had it last; */
    READ_BEFORE = 5  /* that were read before they were written */
};

static uint64_t hash(uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static bool is_sampled(const time_units *units, uint64_t row)
{
    return !(hash(row) >> 20 & (units->weight - 1));
}

bool time_units_open(time_units *units, const smp_time_gpu *gpu, uint32_t wave)
{
    const double of_mb = 1024.0 * 1024 / TIME_UNIT;
    *units = (time_units){.weight = 1,
                          .capacity = FIRST_CAPACITY,
                          .own_age = gpu->l2_own_mb * of_mb,
                          .shared_age = gpu->l2_shared_mb * of_mb,
                          .sms = (uint32_t)gpu->sms,
                          .wave = wave};
    units->items = smp_alloc_array(FIRST_CAPACITY, sizeof *units->items);
    units->rows = smp_alloc_array(2 * ROWS, sizeof *units->rows);
    return units->items && units->rows;
}

void time_units_close(time_units *units)
{
    smp_free_all(units->items, units->rows);
}

void time_units_begin(time_units *units, uint64_t block)
{
    units->block = (uint32_t)block;
    units->sm = (uint16_t)(block % units->sms);
    memset(units->progress, 0, sizeof units->progress);
}

static time_unit *place_of(time_unit *items, size_t capacity, uint64_t key)
{
    enum { TOGETHER = 2 }; /* as a shift: units that follow each other lie side by side */
    size_t at = ((hash(key >> TOGETHER) >> 20 << TOGETHER) + (key & ((1 << TOGETHER) - 1))) & (capacity - 1);
    while (items[at].key && items[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &items[at];
}

/* More room, or, beyond the most, fewer rows. */
static void make_room(time_units *units)
{
    const size_t capacity = units->capacity < MOST_CAPACITY ? units->capacity * 4 : units->capacity;
    if (capacity == units->capacity)
        units->weight *= 2;
    time_unit *items = smp_alloc_array(capacity, sizeof *items);
    if (!items) {
        units->failed = true;
        return;
    }
    units->count = 0;
    for (size_t i = 0; i < units->capacity; i++) {
        const time_unit *u = &units->items[i];
        if (u->key && is_sampled(units, u->key * TIME_UNIT / TIME_ROW)) {
            *place_of(items, capacity, u->key) = *u;
            units->count++;
        }
    }
    smp_free(units->items);
    units->items = items;
    units->capacity = capacity;
}

/* A unit comes from DRAM or will go there: whether its row was in use of late. */
static bool use_row(time_units *units, uint64_t key, time_row *rows)
{
    const uint64_t row = key * TIME_UNIT / TIME_ROW;
    time_row *r = &rows[hash(row) >> 52];
    const bool near = r->row == row && units->clock - r->at < OPEN;
    *r = (time_row){row, units->clock};
    units->clock += units->weight;
    return near;
}

/* Another block's warps come to a unit near to each other in time, or not. */
static void note_sharing(time_units *units, const time_unit *u, bool fresh, uint32_t progress)
{
    const uint32_t apart = units->block > u->block ? units->block - u->block : u->block - units->block;
    if (!fresh && apart <= NEIGHBOURS)
        units->sum.near += units->weight;
    else
        units->sum.far += units->weight;
    if (units->block >= units->wave)
        return;
    const uint32_t later = progress > u->progress ? progress - u->progress : u->progress - progress;
    units->sum.first += units->weight;
    units->sum.first_units += fresh ? units->weight : 0;
    units->sum.first_same += fresh || later <= AT_ONCE + progress / 32 ? units->weight : 0;
}

/* Notes who reads and writes bytes of a unit, in sector k of it. */
static bool is_of_other(time_unit *u, uint32_t k, int how, uint64_t bytes, uint32_t own)
{
    if (u->reader != own && how != WARP_UPDATES) {
        u->read_before |= u->read_by;
        u->read_by = 0;
        u->reader = own;
    }
    if (how == WARP_READS) {
        u->read_by |= bytes;
        return u->cover & bytes && u->writer[k] != own;
    }
    u->writer[k] = own;
    return how == WARP_WRITES && u->read_before & bytes;
}

/* Counts the sectors and lines of written data that L2 holds, again where it had given them up before. */
static void note_written(time_units *units, time_unit *u, uint8_t bit, bool gone)
{
    const time_unit *other = place_of(units->items, units->capacity, u->key ^ 1);
    units->sum.written += u->written & bit ? 0 : units->weight;
    if (!(u->written & bit) && u->read)
        u->written |= (uint8_t)(bit << READ_BEFORE);
    if (!(u->written >> HELD & 3) && !(other->key && other->written >> HELD & 3 && !gone))
        units->sum.held_lines += units->weight;
    units->sum.held_sectors += u->written >> HELD & bit ? 0 : units->weight;
    u->written |= (uint8_t)(bit | bit << HELD);
}

/* Whether the block did the same to the unit when it was touched last, so that nothing changes. */
static bool is_known(const time_units *units, const time_unit *u, uint32_t k, int how, uint64_t bytes)
{
    const uint32_t own = units->block + 1, written = COUNTED | (1U | 1U << HELD) << k;
    if (u->stamp < units->clock || u->block != units->block || u->reader != own)
        return false;
    if (how == WARP_READS)
        return !(bytes & ~u->read_by) && u->read >> k & 1 && (!(u->cover & bytes) || u->writer[k] == own);
    return how == WARP_WRITES && !(bytes & (~u->cover | u->read_before)) && u->writer[k] == own &&
           (u->written & written) == written;
}

bool time_units_touch(time_units *units, uint64_t sector, int how, uint32_t cover, uint32_t warp)
{
    const uint64_t key = sector / 2;
    const uint8_t bit = (uint8_t)(1 << (sector & 1));
    if (units->failed || !is_sampled(units, key * TIME_UNIT / TIME_ROW))
        return false;
    if (units->count * 2 > units->capacity) {
        make_room(units);
        if (units->failed || !is_sampled(units, key * TIME_UNIT / TIME_ROW))
            return false;
    }
    time_unit *u = place_of(units->items, units->capacity, key);
    const uint64_t bytes = (uint64_t)cover << (sector & 1 ? 32 : 0);
    const bool fresh = !u->key;
    if (!fresh && is_known(units, u, sector & 1, how, bytes))
        return false;
    const uint32_t progress = units->progress[warp % TIME_WAVE_WARPS];
    if (fresh) {
        *u = (time_unit){.key = key, .stamp = units->clock, .progress = progress};
        units->count++;
    }
    const bool of_other = is_of_other(u, sector & 1, how, bytes, units->block + 1);
    const bool gone = units->clock - u->stamp > (u->sm == units->sm ? units->own_age : units->shared_age);
    if (gone) /* what was written went to DRAM */
        u->written &= (uint8_t) ~(3 << HELD);
    if (how != WARP_WRITES) {
        if (fresh || u->block != units->block)
            note_sharing(units, u, fresh, progress);
        u->read |= bit;
        if (gone || !(u->read & COUNTED || u->written)) {
            units->sum.row_hits += use_row(units, key, units->rows) ? units->weight : 0;
            units->sum.fetches += units->weight;
        }
        u->read |= COUNTED;
    }
    if (how != WARP_READS) {
        u->cover |= bytes;
        note_written(units, u, bit, gone);
        if (!(u->written & COUNTED) || gone) {
            units->sum.write_row_hits += use_row(units, key, units->rows + ROWS) ? units->weight : 0;
            units->sum.written_units += units->weight;
        }
        u->written |= COUNTED;
    }
    u->sm = units->sm;
    u->block = units->block;
    u->stamp = units->clock;
    return of_other;
}

time_footprint time_units_end(time_units *units)
{
    for (size_t i = 0; i < units->capacity; i++)
        for (int k = 0; k < 2; k++)
            units->sum.partial += units->items[i].key && units->items[i].written >> k & 1 &&
                                          !(units->items[i].written >> READ_BEFORE >> k & 1) &&
                                          (uint32_t)(units->items[i].cover >> 32 * k) != UINT32_MAX
                                      ? units->weight
                                      : 0;
    return units->sum;
}
