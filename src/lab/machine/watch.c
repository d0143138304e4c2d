/* See watch.h. Two accesses of different threads to a cell, at least one of them a write of another value, race unless
 * both are atomic or volatile or something orders them (watch_order.c). */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "lab/machine/watch.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

#define LATE (UINT32_C(1) << 31) /* launches begin before this time */

void warp_forget_buffer(smp_warp_memory *memory, warp_buffer *buffer)
{
    if (buffer->cells)
        munmap(buffer->cells, buffer->cells_size);
    memory->cells_bytes -= buffer->cells_size;
    smp_free(buffer->known);
    buffer->cells = NULL;
    buffer->known = NULL;
}

/* ------------------------------------------------------------------------------------------------ launches */

/* The narrowest access, as a shift. */
static uint32_t shift_of(const warp_code *code)
{
    uint32_t least = 16, shift = 0;
    for (size_t i = 0; i < code->count; i++) {
        const warp_inst *inst = &code->insts[i];
        const uint32_t bytes = (uint32_t)inst->width * (inst->vec ? inst->vec : 1);
        if ((inst->space == WARP_GLOBAL || inst->space == WARP_GENERIC || inst->kind == WARP_COPIES) && bytes)
            least = bytes < least ? bytes : least;
    }
    while (2u << shift <= least)
        shift++;
    return shift;
}

bool warp_open_watch(warp_block *block, bool in_clusters)
{
    smp_warp_memory *memory = block->launch->memory;
    if (memory->clock >= LATE) { /* the clock begins anew */
        for (size_t i = 0; i < memory->count; i++)
            if (memory->buffers[i].cells)
                (void)madvise(memory->buffers[i].cells, memory->buffers[i].cells_size, MADV_DONTNEED);
        memory->clock = 0;
    }
    block->order.interval = block->order.ordered = ++memory->clock;
    enum { MOST_INSTRUCTIONS = 1 << (32 - WARP_WHO_SHIFT) };
    if (!block->launch->watch || (block->code->counts_only && !block->launch->met) ||
        block->launch->kernel->inst_count > MOST_INSTRUCTIONS)
        return true;
    block->watch = smp_alloc(sizeof *block->watch);
    if (!block->watch)
        return false;
    block->watch->shift = shift_of(block->code);
    block->watch->interleaved = block->launch->together || in_clusters;
    return true;
}

void warp_close_watch(warp_block *block)
{
    warp_watch *w = block->watch;
    if (block->order.interval > block->launch->memory->clock)
        block->launch->memory->clock = block->order.interval;
    if (!w)
        return;
    smp_free_all(w->turns, w->releases, w);
    block->watch = NULL;
}

void warp_note_watch(const warp_block *block, smp_warp_result *result)
{
    if (block->watch && block->watch->left_out)
        smp_warp_note(result, "races in a buffer of %llu bytes are not looked for: this machine has too little memory",
                      (unsigned long long)block->watch->left_out);
}

void warp_begin_turn(warp_block *block)
{
    warp_watch *w = block->watch;
    if (!w)
        return;
    w->turn_count -= w->is_new && w->turn_count;
    if (!smp_grow(&w->turns, &w->turn_capacity, w->turn_count + 1, sizeof *w->turns)) {
        smp_fail_memory(&block->error, "turns of blocks", w->turn_count * sizeof *w->turns);
        block->stop = true;
        return;
    }
    w->turns[w->turn_count++] = (warp_run_turn){block->order.interval, block->index};
    w->is_new = true;
}

/* ------------------------------------------------------------------------------------------------ findings */

static void place_text(const warp_where *where, uint64_t address, char *text, size_t size)
{
    const char *name = where->buffer->name;
    const unsigned long long at = address - where->start, all = where->buffer->size;
    if (name[0])
        snprintf(text, size, "byte %llu of '%s'", at, name);
    else
        snprintf(text, size, "byte %llu of a buffer of %llu bytes", at, all);
}

typedef struct touch {
    warp_block *block;
    const warp_frame *frame;
    const warp_inst *inst;
    const warp_access *access;
    const uint64_t *address; /* of each lane */
    const warp_where *where;
    uint32_t lane, bytes; /* bytes: of a cell */
    warp_seen now;
} touch;

static void race(const touch *t, const warp_seen *was, const char *did, const char *does, uint64_t at)
{
    warp_block *block = t->block;
    char place[120];
    const uint32_t other = was->who >> WARP_WHO_SHIFT, thread = was->who & WARP_WHO_THREAD;
    if (block->code->counts_only || warp_fault_again(block, SMP_WARP_RACE, t->inst->index, other))
        return;
    const uint64_t of = warp_watch_block(block->watch, was->when);
    place_text(t->where, at, place, sizeof place);
    warp_fault(block, SMP_WARP_RACE, t->inst->index, t->now.who & WARP_WHO_THREAD, other, thread,
               of == block->index ? "one thread %s and another %s %s without a barrier between them"
                                  : "one block %s and another %s %s, and nothing orders them: no fence and atomic, no "
                                    "barrier of the grid",
               does, did, place); /* in the order in which both are named */
    if (block->fault_count)
        block->faults[block->fault_count - 1].other_block = of;
}

/* Whether a store leaves the cell as it is; `was`: its last write, maybe by a lane of the same instruction, whose bytes
 * are not there yet. */
static bool writes_same(const touch *t, const warp_seen *was, uint64_t at)
{
    unsigned char own[WARP_ACCESS_BYTES], others[WARP_ACCESS_BYTES];
    const uint32_t last = (was->who & WARP_WHO_THREAD) % WARP_LANES;
    if (!t->access->value || t->access->width > WARP_ACCESS_BYTES)
        return false;
    t->access->value(t->frame, t->inst, t->lane, own);
    const void *there = (const void *)(uintptr_t)at;
    if (was->when == t->now.when && was->who >> WARP_WHO_SHIFT == t->inst->index &&
        (was->who & WARP_WHO_THREAD) / WARP_LANES == t->frame->warp && at >= t->address[last] &&
        at - t->address[last] < t->access->width) {
        t->access->value(t->frame, t->inst, last, others);
        there = others + (at - t->address[last]);
    }
    return !memcmp(there, own + (at - t->address[t->lane]), t->bytes);
}

static bool is_ordered(const touch *t, const warp_seen *was, uint64_t at, bool was_read)
{
    const uint32_t both = was->who & t->now.who, either = was->who | t->now.who;
    if (both & WARP_WHO_STRONG &&
        (!(either & WARP_WHO_BLOCK) || warp_watch_block(t->block->watch, was->when) == t->block->index))
        return true;
    return warp_watch_ordered(t->block, t->frame, t->now.who & WARP_WHO_THREAD, was, at, was_read);
}

static void look_at_read(const touch *t, warp_cell cell, uint64_t at)
{
    if (!is_ordered(t, cell.write, at, false))
        race(t, cell.write, cell.write->who & WARP_WHO_STRONG ? "updates" : "writes", "reads", at);
}

static void look_at_write(const touch *t, warp_cell cell, uint64_t at)
{
    const uint32_t ordered = t->block->order.ordered;
    const bool update = t->access->how == WARP_UPDATES;
    const char *does = update ? "updates" : "writes";
    const warp_seen *readers[] = {cell.read, cell.other, cell.strong, cell.strong_other};
    if (cell.write->when >= ordered && !is_ordered(t, cell.write, at, false) &&
        (update || !writes_same(t, cell.write, at))) {
        race(t, cell.write, cell.write->who & WARP_WHO_STRONG ? "updates" : "writes", does, at);
        return;
    }
    for (int i = 0, count = t->block->watch->strong ? 4 : 2; i < count; i++)
        if (readers[i]->when >= ordered && !is_ordered(t, readers[i], at, true) &&
            (update || !writes_same(t, cell.write, at))) {
            race(t, readers[i], "reads", does, at);
            return;
        }
}

/* ------------------------------------------------------------------------------------------------ accesses */

static inline bool is_mine(const warp_order *order, const warp_seen *was, const warp_seen *now)
{
    return was->when >= order->first && !((was->who ^ now->who) & WARP_WHO_THREAD);
}

/* Two readers of which every writer races with one suffice: of two blocks, or of two warps of this one. Strong and
 * plain ones are apart. */
static inline void note_read(const touch *t, warp_cell cell)
{
    const warp_order *order = &t->block->order;
    const bool strong = t->now.who & WARP_WHO_STRONG;
    warp_seen *const read = strong ? cell.strong : cell.read, *const other = strong ? cell.strong_other : cell.other;
    t->block->watch->strong = t->block->watch->strong || strong;
    if (read->when < order->ordered || is_mine(order, read, &t->now)) {
        *read = (warp_seen){t->now.when, t->now.who};
        return;
    }
    const bool has_other = other->when >= order->ordered;
    if (has_other && other->who & WARP_WHO_APART)
        return;
    if (t->block->watch->interleaved ? warp_watch_block(t->block->watch, read->when) != t->block->index
                                     : read->when < order->first) {
        *other = *read;
        other->who |= WARP_WHO_APART;
    } else if (!has_other || other->when < order->floor || ((read->who ^ t->now.who) & WARP_WHO_THREAD) >= WARP_LANES)
        *other = *read;
    *read = (warp_seen){t->now.when, t->now.who};
}

/* A plain store of this block behind which its atomics come: those of other blocks still race with it. */
static inline bool keeps_store(const touch *t, warp_cell cell)
{
    return t->access->how == WARP_UPDATES && cell.write->when >= t->block->order.first &&
           !(cell.write->who & WARP_WHO_STRONG) && !t->block->watch->interleaved;
}

static inline warp_cell cell_at(const warp_cell *first, uint64_t index)
{
    return (warp_cell){first->write + index,  first->read + index,         first->other + index,
                       first->strong + index, first->strong_other + index, first->settled + index};
}

static inline void note_lane(const touch *t, warp_cell cell, uint64_t at, uint32_t count, bool alone)
{
    const warp_order *order = &t->block->order;
    const uint32_t ordered = order->ordered;
    for (uint32_t i = 0; i < count; i++, cell = cell_at(&cell, 1), at += t->bytes) {
        if (t->access->how == WARP_READS) {
            if (cell.write->when >= ordered && !(alone && is_mine(order, cell.write, &t->now)))
                look_at_read(t, cell, at);
            note_read(t, cell);
            continue;
        }
        const bool strong = t->block->watch->strong;
        const bool fresh = cell.write->when < ordered && cell.read->when < ordered && cell.other->when < ordered &&
                           !(strong && cell.strong->when >= ordered);
        if (!fresh)
            look_at_write(t, cell, at);
        if (!keeps_store(t, cell))
            *cell.write = (warp_seen){t->now.when, t->now.who};
        if (!fresh)
            cell.read->when = cell.other->when = *cell.settled = 0;
        if (!fresh && strong)
            cell.strong->when = cell.strong_other->when = 0;
    }
}

static void tell_unknown(const touch *t)
{
    char place[120];
    warp_block *block = t->block;
    if (warp_fault_again(block, SMP_WARP_UNINITIALISED, t->inst->index, UINT32_MAX))
        return;
    place_text(t->where, t->address[t->lane], place, sizeof place);
    warp_fault(block, SMP_WARP_UNINITIALISED, t->inst->index, t->now.who & WARP_WHO_THREAD, UINT32_MAX, 0,
               "%s %s, which nobody has written", t->access->how == WARP_READS ? "reads" : "updates", place);
}

/* Apart, since most cells have a writer or a reader alone: what is never touched takes no memory. A buffer whose cells
 * could take more than is left of three quarters of the machine's memory, of which strong readers' are rare, is not
 * watched. */
static void find_cells(warp_watch *w, smp_warp_memory *memory, warp_where *where)
{
    enum { PAGE = 4096 };
    warp_buffer *b = where->buffer;
    const uint64_t each = (((b->size >> w->shift) + 1) * sizeof(warp_seen) + PAGE - 1) / PAGE * PAGE;
    const uint64_t size = 5 * each + each / sizeof(warp_seen) * sizeof *where->cells.settled;
    if (b->cells_size < size) {
        const uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3;
        const uint64_t others = memory->cells_bytes - b->cells_size;
        if (b->cells)
            munmap(b->cells, b->cells_size);
        void *cells = others + size > most ? MAP_FAILED
                                           : mmap(NULL, size, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        b->cells = cells == MAP_FAILED ? NULL : cells;
        b->cells_size = b->cells ? size : 0;
        memory->cells_bytes = others + b->cells_size;
    }
    const uint64_t count = warp_cells_in(b->cells_size);
    if (b->cells)
        where->cells = (warp_cell){b->cells,
                                   b->cells + count,
                                   b->cells + 2 * count,
                                   b->cells + 3 * count,
                                   b->cells + 4 * count,
                                   (void *)(b->cells + 5 * count)};
    else
        w->left_out = b->size;
}

static const warp_where *where_of(warp_block *block, const warp_inst *inst, uint64_t address)
{
    smp_warp_memory *memory = block->launch->memory;
    warp_watch *w = block->watch;
    warp_where *where = &w->wheres[inst->index % WARP_WHERES];
    if (w->version != memory->version) {
        memset(w->wheres, 0, sizeof w->wheres);
        w->version = memory->version;
    }
    if (address >= where->start && address < where->end)
        return where;
    warp_buffer *b = warp_find_buffer(memory, address);
    *where = (warp_where){.buffer = b};
    if (b)
        *where = (warp_where){.start = b->start, .end = b->start + b->size, .buffer = b};
    if (b)
        find_cells(w, memory, where);
    return where;
}

/* What others may wait for, or see. A plain write of one lane behind a fence may be a flag. */
static bool synchronises(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                         const uint64_t address[WARP_LANES], warp_touching how)
{
    const bool strong = how == WARP_UPDATES || inst->orderly || inst->is_volatile;
    const bool flag = !strong && how == WARP_WRITES && block->order.flag_next && !(lanes & (lanes - 1));
    if (!strong && !flag)
        return false;
    if (flag)
        block->order.flag_next = false;
    WARP_ACTIVE_LANES(inst->of_block ? 0 : lanes)
    warp_watch_sync(block, frame, address[l], how != WARP_WRITES, how != WARP_READS, inst->releases);
    return true;
}

/* Reads of a row that nobody has written in this launch. before: somebody has read in it. False: cells differ. */
static bool note_row_read(const warp_order *order, const warp_cell *cell, uint32_t now, uint32_t who, bool before)
{
    const uint32_t ordered = order->ordered, first = order->first;
    uint32_t same = 1, mine = 1, any_mine = 0, apart = 1;
    for (uint32_t l = 0; l < WARP_LANES && before; l++) {
        const warp_seen *read = &cell->read[l], *other = &cell->other[l];
        const uint32_t threads = (read->who ^ (who | l)) & WARP_WHO_THREAD;
        const uint32_t own = (read->when >= first) & !threads;
        same &= (read->when == now) & (other->when == now) & (threads < WARP_LANES);
        mine &= own;
        any_mine |= own;
        apart &= (read->when >= ordered) & (other->when >= ordered) & !!(other->who & WARP_WHO_APART);
    }
    if (before &&
        (same || (apart && !any_mine))) /* two lanes of this warp have read each, or two blocks: they suffice */
        return true;
    for (uint32_t l = 0; l < WARP_LANES && mine; l++)
        cell->read[l] = (warp_seen){now, who | l};
    return mine;
}

/* All lanes of a warp side by side, as most are, where nobody but they was there in this launch. False: not so. */
static bool note_row(const touch *t, uint32_t who)
{
    const warp_order *order = &t->block->order;
    const uint64_t first = t->address[0];
    const uint32_t ordered = order->ordered, now = t->now.when;
    const warp_cell cell = cell_at(&t->where->cells, (first - t->where->start) >> t->block->watch->shift);
    uint32_t written = 0, read = 0, mine = 1;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        written |= cell.write[l].when >= ordered;
        read |= cell.read[l].when >= ordered;
    }
    if (written)
        return false;
    if (t->access->how == WARP_READS)
        return note_row_read(order, &cell, now, who, read);
    for (uint32_t l = 0; l < WARP_LANES && read; l++)
        mine &= !((cell.read[l].who ^ (who | l)) & WARP_WHO_THREAD) & (cell.read[l].when >= order->first) &
                (cell.other[l].when < ordered);
    for (uint32_t l = 0; l < WARP_LANES && mine; l++) {
        cell.write[l] = (warp_seen){now, who | l};
        if (read)
            cell.read[l].when = cell.settled[l] = 0;
    }
    return mine;
}

/* One cell a lane in one buffer, whose bytes are all known: by far the most accesses. Of lanes that read one cell the
 * first and last are noted. */
static void note_lanes(touch *t, uint32_t lanes, uint32_t who, warp_lie lie)
{
    const warp_watch *w = t->block->watch;
    const uint64_t *const address = t->address;
    const uint32_t ordered = t->block->order.ordered, shift = w->shift, now = t->now.when;
    const warp_where where = *t->where;
    const bool reads = t->access->how == WARP_READS, alone = !w->interleaved;
    uint64_t before = UINT64_MAX;
    if (lie == WARP_ROW && alone && (reads || !w->strong) && note_row(t, who))
        return;
    if (lie == WARP_ONE && reads && where.cells.write[(address[0] - where.start) >> shift].when < ordered)
        lanes = 1u | 1u << (WARP_LANES - 1);
    WARP_ACTIVE_LANES(lanes)
    {
        const uint64_t at = address[l], index = (at - where.start) >> shift;
        warp_seen *const read = where.cells.read + index;
        const bool written = where.cells.write[index].when >= ordered;
        t->now.who = who | l;
        if (reads && !written) {
            const warp_seen *other = where.cells.other + index;
            const uint32_t more = rest_ & (rest_ - 1);
            if (read->when < ordered)
                *read = (warp_seen){now, who | l};
            else if ((other->when < ordered || !(other->who & WARP_WHO_APART)) &&
                     (at != before || !more || address[__builtin_ctz(more)] != at))
                note_read(t, cell_at(&where.cells, index));
        } else if (!reads && !written && !w->strong && read->when < ordered)
            where.cells.write[index] = (warp_seen){now, who | l};
        else {
            t->lane = l;
            note_lane(t, cell_at(&where.cells, index), at, 1, alone);
        }
        before = at;
    }
}

void warp_watch_access(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                       const uint64_t address[WARP_LANES], const warp_extent *extent, const warp_access *access)
{
    const uint32_t shift = block->watch->shift, bytes = 1u << shift;
    touch t = {block, frame, inst, access, address, NULL, 0, bytes, {0, 0}};
    if (!lanes || access->width < bytes)
        return;
    const bool strong = synchronises(block, (warp_frame *)(uintptr_t)frame, inst, lanes, address, access->how),
               alone = !block->watch->interleaved;
    const uint32_t who = inst->index << WARP_WHO_SHIFT | (strong ? WARP_WHO_STRONG : 0) |
                         (strong && inst->of_block ? WARP_WHO_BLOCK : 0) | frame->warp * WARP_LANES;
    block->watch->is_new = false;
    t.now.when = block->order.interval;
    t.where = where_of(block, inst, address[__builtin_ctz(lanes)]);
    if (access->width == bytes && !(strong && access->how == WARP_READS) && t.where->cells.write &&
        !t.where->buffer->unknown && extent->low >= t.where->start && extent->high < t.where->end) {
        note_lanes(&t, lanes, who, extent->lie);
        return;
    }
    WARP_ACTIVE_LANES(lanes)
    {
        const uint64_t at = address[l];
        if (at < t.where->start || at >= t.where->end)
            t.where = where_of(block, inst, at);
        if (!t.where->buffer)
            continue;
        t.lane = l;
        t.now.who = who | l;
        if (t.where->buffer->unknown) {
            if (access->how != WARP_WRITES && !inst->replaces &&
                warp_is_unknown(t.where->buffer, at - t.where->start, access->width))
                tell_unknown(&t);
            if (access->how != WARP_READS)
                warp_know(t.where->buffer, at - t.where->start, access->width);
        }
        if (t.where->cells.write)
            note_lane(&t, cell_at(&t.where->cells, (at - t.where->start) >> shift), at, access->width >> shift, alone);
    }
}
