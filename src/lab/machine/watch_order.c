/* What orders accesses to global memory: barriers, and between blocks fences and what threads see of each other. A
 * block that writes an atomic or volatile place releases there what it did before its last fence; one that reads or
 * updates that place later acquires it. What blocks do at which address is followed for one step: behind a block that
 * had acquired something itself all that was released so far counts, so that nothing right is told. */
#include "lab/machine/watch.h"

#include "base/alloc.h"

enum { MOST_RELEASES = 1 << 22, FIRST_RELEASES = 64 };

uint64_t warp_watch_block(warp_watch *w, uint32_t when)
{
    size_t low = w->last, high = w->turn_count;
    if (low >= high || w->turns[low].when > when)
        low = 0;
    else if (low + 1 == high || w->turns[low + 1].when > when)
        return w->turns[low].block;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        *(w->turns[middle].when <= when ? &low : &high) = middle;
    }
    w->last = low;
    return high ? w->turns[low].block : 0;
}

/* Its place in the table: there, or free. */
static warp_release *slot_of(warp_release *table, size_t capacity, uint64_t address, uint64_t block)
{
    size_t at = (address ^ block * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd) >> 32 & (capacity - 1);
    while (table[at].block && (table[at].address != address || table[at].block != block + 1))
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static const warp_release *find_release(const warp_watch *w, uint64_t address, uint64_t block)
{
    const warp_release *r = w->release_capacity ? slot_of(w->releases, w->release_capacity, address, block) : NULL;
    return r && r->block ? r : NULL;
}

/* Null: there is no memory. */
static warp_release *add_release(warp_watch *w, uint64_t address, uint64_t block)
{
    if (2 * (w->release_count + 1) > w->release_capacity) {
        const size_t capacity = w->release_capacity ? 2 * w->release_capacity : FIRST_RELEASES;
        warp_release *table = capacity > MOST_RELEASES ? NULL : smp_alloc_array(capacity, sizeof *table);
        if (!table)
            return NULL;
        for (size_t i = 0; i < w->release_capacity; i++)
            if (w->releases[i].block)
                *slot_of(table, capacity, w->releases[i].address, w->releases[i].block - 1) = w->releases[i];
        smp_free(w->releases);
        w->releases = table;
        w->release_capacity = capacity;
    }
    warp_release *r = slot_of(w->releases, w->release_capacity, address, block);
    if (!r->block) {
        *r = (warp_release){.address = address, .block = block + 1};
        w->release_count++;
    }
    return r;
}

/* ALL_BLOCKS: that somebody has released something at an address. */
#define ALL_BLOCKS (UINT64_MAX - 1)

static void release(warp_block *block, uint64_t address, uint32_t before)
{
    const uint64_t keys[][2] = {{address, block->index}, {0, block->index}, {address, ALL_BLOCKS}};
    warp_order *order = &block->order;
    bool elsewhere = order->acquired_any;
    for (uint32_t i = 0; i < order->acquired_count; i++)
        elsewhere = elsewhere || order->acquired[i] != address;
    for (int i = 0; i < 3; i++) {
        warp_release *r = add_release(block->watch, keys[i][0], keys[i][1]);
        if (!r) { /* too many to follow: all that was fenced is seen by all */
            order->acquired_any = true;
            return;
        }
        r->before = before > r->before ? before : r->before;
        r->reads_before = order->interval + 1;
        r->handed_on = r->handed_on || elsewhere;
    }
}

static void acquire(warp_block *block, warp_frame *frame, uint64_t address)
{
    warp_order *order = &block->order;
    const warp_release *own = find_release(block->watch, address, block->index);
    if (own && own->before > frame->seen)
        frame->seen = own->before;
    if (!find_release(block->watch, address, ALL_BLOCKS))
        return;
    for (uint32_t i = 0; i < order->acquired_count; i++)
        if (order->acquired[i] == address)
            return;
    if (order->acquired_count < WARP_ACQUIRED)
        order->acquired[order->acquired_count++] = address;
    else
        order->acquired_any = true;
}

void warp_watch_fence(warp_block *block)
{
    block->order.fenced = ++block->order.interval;
    block->order.flag_next = true;
}

void warp_watch_sync(warp_block *block, warp_frame *frame, uint64_t address, bool acquires, bool releases,
                     bool is_fence)
{
    if (releases && is_fence)
        warp_watch_fence(block);
    if (acquires && block->watch->release_count)
        acquire(block, frame, address);
    if (releases && (block->order.fenced || !acquires))
        release(block, address, block->order.fenced);
}

/* Of another block: whether it released what it did then at an address that this one has read since. */
static bool was_released(warp_block *block, const warp_seen *was, uint64_t address, bool was_read)
{
    const warp_order *order = &block->order;
    warp_watch *w = block->watch;
    const uint64_t of = warp_watch_block(w, was->when);
    bool any = order->acquired_any;
    for (uint32_t i = 0; i < order->acquired_count; i++) {
        const uint64_t at = order->acquired[i];
        if (at == address && was->who & WARP_WHO_STRONG)
            return true;
        const warp_release *r = find_release(w, at, of), *all = find_release(w, at, ALL_BLOCKS);
        if (r && was->when < (was_read ? r->reads_before : r->before))
            return true;
        any = any || (all && all->handed_on);
    }
    const warp_release *r = any ? find_release(w, 0, of) : NULL;
    return r && was->when < (was_read ? r->reads_before : r->before);
}

bool warp_watch_ordered(warp_block *block, const warp_frame *frame, uint32_t thread, const warp_seen *was,
                        uint64_t address, bool was_read)
{
    const warp_order *order = &block->order;
    if (was->when < order->ordered)
        return true;
    const bool own = block->watch->interleaved ? warp_watch_block(block->watch, was->when) == block->index
                                               : was->when >= order->first;
    if (!own)
        return block->cluster || was_released(block, was, address, was_read);
    const uint32_t other = was->who & WARP_WHO_THREAD, from = other / WARP_LANES, to = thread / WARP_LANES;
    return was->when < order->floor || other == thread ||
           (from == to &&
            (was->when < frame->turn_since || warp_lanes_ordered(block, was->when, other, thread))) ||
           was->when < frame->seen || (order->partial && was->when < order->known[to][from]);
}
