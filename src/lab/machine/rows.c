/* See rows.h. */
#include "lab/machine/rows.h"

#include "lab/machine/watch.h"

#ifndef SMP_ISA
#define SMP_ISA base
#endif
#define NAME_(name, isa) name##_##isa
#define NAME(name, isa)  NAME_(name, isa)

typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));

/* ------------------------------------------------------------------------------------------------ reads */

/* Two lanes of a warp that read a place tell all that the others could (warp_readers_suffice). */
static uint32_t leaders_of(const warp_memo *memo)
{
    uint32_t before[WARP_LANES] = {0}, leaders = 0;
    WARP_ACTIVE_LANES(memo->active)
    for (uint32_t k = 0; k < WARP_LANES; k++) /* over whole rows: no branches */
        before[k] += (k > l) & (memo->delta[k] == memo->delta[l]);
    WARP_ACTIVE_LANES(memo->active)
    leaders |= (uint32_t)(before[l] < 2) << l;
    return leaders;
}

/* Whether the write is from before the last barrier, so that reading it is no mistake. */
static inline bool is_older(const warp_block *block, uint32_t at)
{
    const warp_order *order = &block->order;
    const warp_touch *write = &block->granules[at].write;
    const uint32_t when = warp_interval_of(write);
    return (when >= order->first) & (when < order->floor) & !warp_copy_of(write) & !order->partial;
}

/* A plain read of what was written before the last barrier. Once threads of two warps have read it since, no further
 * read of this interval can be a mistake or tell more. */
static inline void note_older(warp_block *block, uint32_t at, warp_touch now)
{
    const warp_times *times = &block->times;
    const uint32_t floor = block->order.floor;
    warp_readers *g = &block->granules[at].plain;
    if (times->settled && times->settled[at] == floor)
        return;
    if (!times->settled ||
        (times->read[at] >= floor && warp_thread_of(&g->read) / WARP_LANES == warp_thread_of(&now) / WARP_LANES)) {
        warp_note_read(block, at, &now);
        return;
    }
    if (times->read[at] >= floor) {
        g->other = g->read;
        times->settled[at] = floor;
    }
    g->read = now;
    times->read[at] = warp_interval_of(&now);
}

/* The same by eight lanes side by side. */
static inline void note_eight(warp_block *block, uint32_t at, warp_touch now)
{
    const uint32_t floor = block->order.floor;
    uint32_t *read = block->times.read, was_read = 0;
    for (uint32_t l = 0; l < WARP_EIGHT; l++)
        was_read |= read[at + l] >= floor;
    for (uint32_t l = 0; l < WARP_EIGHT && was_read; l++)
        note_older(block, at + l, (warp_touch){now.stamp + l, now.inst, now.how});
    if (was_read)
        return;
    for (uint32_t l = 0; l < WARP_EIGHT; l++)
        block->granules[at + l].plain.read = (warp_touch){now.stamp + l, now.inst, now.how};
    for (uint32_t l = 0; l < WARP_EIGHT; l++)
        read[at + l] = block->order.interval;
}

static __attribute__((noinline)) void check_reads(warp_block *block, const warp_frame *frame, const warp_inst *inst,
                                                  uint32_t lanes, const uint32_t offset[WARP_LANES])
{
    warp_memo *memo = &block->memos[inst->index];
    const uint32_t shift = block->granule_shift, narrow = (uint32_t)memo->width >> shift, count = narrow ? narrow : 1;
    uint32_t younger = 0;
    warp_note_pending(block);
    memo->leaders = memo->leaders ? memo->leaders : leaders_of(memo);
    WARP_ACTIVE_LANES(lanes & memo->leaders)
    for (uint32_t i = 0; i < count; i++)
        younger |= !is_older(block, (offset[l] >> shift) + i);
    WARP_ACTIVE_LANES(younger ? lanes : lanes & memo->leaders)
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = (offset[l] >> shift) + i;
        const warp_touch now = {warp_stamp(block, frame, l), inst->index, inst->orderly};
        if (is_older(block, at) && !inst->orderly)
            note_older(block, at, now);
        else
            warp_check_read(block, at, &now);
    }
}

/* ------------------------------------------------------------------------------------------------ shared memory */

/* The first lane's place, where the lanes lie as the last time, inside and aligned. False: they do not. */
static inline bool lies_alike(const warp_block *block, const warp_frame *frame, const warp_inst *inst,
                              const warp_memo *memo, uint32_t *place)
{
    const uint32_t *row = warp_words(frame, inst->s[0]), first = row[0] << inst->scale;
    uint32_t base = first + (uint32_t)inst->offset, differs = 0;
    for (int l = 0; l < WARP_LANES; l++)
        differs |= ((row[l] << inst->scale) - first) ^ memo->delta[l];
    if (inst->parts && inst->add != WARP_NO_ROW) {
        const uint32_t *more = warp_words(frame, inst->add);
        base += more[0];
        for (int l = 0; l < WARP_LANES; l++)
            differs |= more[l] ^ more[0];
    }
    base -= inst->parts ? inst->bias : 0;
    *place = base;
    return !differs && (int64_t)base + memo->low >= 0 &&
           (int64_t)base + memo->high + memo->width <= (int64_t)block->shared_size &&
           !((base | memo->mixed) & (memo->width - 1u));
}

static __attribute__((noinline)) void record(warp_block *block, const warp_memo *memo, uint32_t index, uint32_t base)
{
    smp_bank_access access = {.op = (smp_bank_op)memo->op, .width = memo->width, .active = WARP_ALL};
    for (int l = 0; l < WARP_LANES; l++)
        access.offset[l] = base + memo->delta[l];
    warp_record(block, index, &access, memo->cost.wavefronts);
}

static __attribute__((noinline)) void note_count(warp_block *block, const warp_memo *memo, uint32_t index,
                                                 uint32_t base)
{
    warp_settle_count(block, index);
    if (block->records)
        record(block, memo, index, base);
}

/* Reads by all lanes of words that were written before the last barrier, in eights. */
static void note_reads(warp_block *block, warp_memo *memo, uint32_t base, warp_touch first)
{
    const uint32_t words = memo->width / 4u;
    memo->leaders = memo->leaders ? memo->leaders : leaders_of(memo);
    for (uint32_t k = 0; k < WARP_EIGHTS; k++) {
        const uint32_t lane = k * WARP_EIGHT, lanes = memo->leaders >> lane & 0xff;
        const uint32_t at = (base + memo->delta[lane]) >> 2;
        const warp_touch now = {first.stamp + lane, first.inst, first.how};
        if (lanes == 0xff && memo->rows >> k & 1 && words == 1)
            note_eight(block, at, now);
        else
            WARP_ACTIVE_LANES(lanes)
        for (uint32_t i = 0; i < words; i++)
            note_older(block, ((base + memo->delta[lane + l]) >> 2) + i,
                       (warp_touch){now.stamp + l, now.inst, now.how});
    }
}

static void note_pending(warp_block *block)
{
    const uint32_t count = block->pending.count;
    block->pending.count = 0;
    block->pending.noted = block->order.floor;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t inst = block->pending.reads[i].inst;
        note_reads(block, &block->memos[inst], block->pending.reads[i].base,
                   (warp_touch){block->pending.reads[i].stamp, inst, 0});
    }
}

/* Whether some of the words were written since the last barrier, or never. */
static bool are_younger(const warp_block *block, const warp_memo *memo, uint32_t base)
{
    const uint32_t *written = block->times.written, first = block->order.first, since = block->order.floor - first;
    uint32_t younger = !written | block->order.partial;
    for (uint32_t k = 0; k < WARP_EIGHTS && !younger; k++) {
        const uint32_t *delta = memo->delta + k * WARP_EIGHT, at = (base + delta[0]) >> 2;
        if (memo->rows >> k & 1)
            for (uint32_t l = 0; l < WARP_EIGHT; l++)
                younger |= written[at + l] - first >= since;
        else
            for (uint32_t l = 0; l < (memo->ones >> k & 1 ? 1 : WARP_EIGHT); l++)
                younger |= written[(base + delta[l]) >> 2] - first >= since;
    }
    return younger;
}

/* Words that a warp writes, not touched since the last barrier. False: some were; then those before it are noted, which
 * the long way does again. */
static __attribute__((noinline)) bool note_writes(warp_block *block, const warp_frame *frame, const warp_inst *inst,
                                                  uint32_t base)
{
    const warp_memo *memo = &block->memos[inst->index];
    const uint32_t floor = block->order.floor;
    const warp_times *times = &block->times;
    warp_touch now = {warp_stamp(block, frame, 0), inst->index, 0};
    if (inst->orderly || !times->settled || block->order.atomic_read == floor)
        return false;
    warp_note_pending(block);
    for (uint32_t l = 0; l < WARP_LANES; l++, now.stamp++) {
        const uint32_t at = (base + memo->delta[l]) >> 2;
        if ((times->written[at] >= floor) | (times->read[at] >= floor))
            return false;
        block->granules[at].write = now;
        times->written[at] = block->order.interval; /* what was not read is not settled */
    }
    return true;
}

/* Words of all lanes, which lie as the memo says from `from` on. Returns whether one of their times (of the first
 * lane's on; null: none are looked at) is not of the `span` ones from `begin` on. */
static inline __attribute__((always_inline)) bool load_row(const warp_memo *memo, const unsigned char *from,
                                                           uint32_t *row, const uint32_t *times, uint32_t begin,
                                                           uint32_t span)
{
    eight open = {0};
    uint32_t any = 0;
    for (uint32_t k = 0; k < WARP_EIGHTS; k++) {
        const int32_t *delta = (const int32_t *)memo->delta + k * WARP_EIGHT, first = delta[0];
        eight *to = (eight *)(void *)row + k;
        if (memo->same[k] < k)
            *to = ((eight *)(void *)row)[memo->same[k]];
        else if (memo->ones >> k & 1) {
            uint32_t word;
            memcpy(&word, from + first, sizeof word);
            *to = word - (eight){0};
            any |= times && times[first / 4] - begin >= span;
        } else if (memo->rows >> k & 1 && memo->width == sizeof *row) {
            *to = *(const eight *)(const void *)(from + first);
            if (times)
                open |= (eight)(*(const eight *)(const void *)(times + first / 4) - begin >= span);
        } else
            for (uint32_t l = 0; l < WARP_EIGHT; l++) {
                memcpy(&row[k * WARP_EIGHT + l], from + delta[l], sizeof *row);
                any |= times && times[delta[l] / 4] - begin >= span;
            }
    }
    for (uint32_t l = 0; l < WARP_EIGHT && times; l++)
        any |= open[l];
    return any;
}

static inline void load_words(const warp_frame *frame, const warp_inst *inst, const warp_memo *memo,
                              const unsigned char *from)
{
    for (uint32_t i = 0; i < inst->vec; i++, from += 4)
        if (inst->d[i] != WARP_NO_ROW)
            (void)load_row(memo, from, warp_words(frame, inst->d[i]), NULL, 0, 0);
}

static inline __attribute__((always_inline)) bool load_looking(const warp_frame *frame, const warp_inst *inst,
                                                               const warp_memo *memo, const unsigned char *from,
                                                               const uint32_t *times, uint32_t begin, uint32_t span)
{
    bool any = false;
    if (inst->vec == 1 && inst->d[0] != WARP_NO_ROW)
        return load_row(memo, from, warp_words(frame, inst->d[0]), times, begin, span);
    for (uint32_t i = 0; i < inst->vec; i++)
        any |= inst->d[i] == WARP_NO_ROW ||
               load_row(memo, from + 4 * i, warp_words(frame, inst->d[i]), times + i, begin, span);
    return any;
}

static inline void store_words(const warp_frame *frame, const warp_inst *inst, const warp_memo *memo, unsigned char *to)
{
    const uint32_t *from = warp_words(frame, inst->s[1]);
    for (uint32_t k = 0; k < WARP_EIGHTS; k++, from += WARP_EIGHT) {
        const uint32_t *delta = memo->delta + k * WARP_EIGHT;
        if (memo->rows >> k & 1)
            memcpy(to + (int32_t)delta[0], from, WARP_EIGHT * sizeof *from);
        else
            for (uint32_t l = 0; l < WARP_EIGHT; l++)
                memcpy(to + (int32_t)delta[l], &from[l], sizeof *from);
    }
}

static __attribute__((noinline)) void look_at_reads(warp_block *block, const warp_frame *frame, const warp_inst *inst,
                                                    uint32_t base)
{
    uint32_t offset[WARP_LANES];
    warp_memo *memo = &block->memos[inst->index];
    if (inst->vec == 1 && !inst->orderly && !are_younger(block, memo, base)) {
        warp_note_pending(block);
        note_reads(block, memo, base, (warp_touch){warp_stamp(block, frame, 0), inst->index, 0});
        return;
    }
    for (int l = 0; l < WARP_LANES; l++)
        offset[l] = base + memo->delta[l];
    check_reads(block, frame, inst, WARP_ALL, offset);
}

/* Loads words, and looks at their times. A read of what was written before the last barrier can wait to be noted. */
static inline void load_checked(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t base)
{
    const warp_memo *memo = &block->memos[inst->index];
    const unsigned char *at = block->shared + base;
    const uint32_t floor = block->order.floor, first = block->order.first;
    const warp_times *times = &block->times;
    warp_pending *p = &block->pending;
    const bool waits = p->noted != floor;
    if (!times->written || block->order.partial || inst->orderly) {
        load_words(frame, inst, memo, at);
        look_at_reads(block, frame, inst, base);
        return;
    }
    if (load_looking(frame, inst, memo, at, (waits ? times->written : times->settled) + base / 4, waits ? first : floor,
                     waits ? floor - first : 1)) {
        look_at_reads(block, frame, inst, base);
        return;
    }
    if (!waits)
        return;
    p->count = p->floor == floor ? p->count : 0;
    p->floor = floor;
    p->reads[p->count].stamp = warp_stamp(block, frame, 0);
    p->reads[p->count].inst = inst->index;
    p->reads[p->count++].base = base;
    if (p->count == WARP_PENDING)
        note_pending(block);
}

static bool shared(warp_block *block, warp_frame *frame, const warp_inst *inst, bool load)
{
    warp_memo *memo = &block->memos[inst->index];
    const bool looks = !block->code->counts_only;
    uint32_t base;
    if (!lies_alike(block, frame, inst, memo, &base) || (looks && block->granule_shift != 2))
        return false;
    if (looks && !load && !note_writes(block, frame, inst, base))
        return false;
    memo->again++;
    if (block->records || block->observer)
        note_count(block, memo, inst->index, base);
    frame->tried = 0;
    if (!load)
        store_words(frame, inst, memo, block->shared + base);
    else if (looks)
        load_checked(block, frame, inst, base);
    else
        load_words(frame, inst, memo, block->shared + base);
    return true;
}

/* ------------------------------------------------------------------------------------------------ global memory */

/* Looks at cells that lanes read. Returns whether the reads tell something new: somebody has written them in this
 * launch, or not two blocks before this one have read them. Else they are settled. */
static inline bool look_at_cells(const warp_order *order, const warp_cell *cells, uint64_t at, uint32_t count)
{
    const uint32_t ordered = order->ordered, earlier = order->first - ordered;
    const warp_seen *write = cells->write + at, *read = cells->read + at, *other = cells->other + at;
    uint32_t *settled = cells->settled + at, open = 0;
    for (uint32_t i = 0; i < count; i++)
        open |= settled[i] ^ ordered;
    if (!open)
        return false;
    for (open = 0; count--; write++, read++, other++) {
        open |= (write->when >= ordered) | (read->when - ordered >= earlier) | (other->when < ordered) |
                !(other->who & WARP_WHO_APART);
        *settled++ = open ? 0 : ordered;
    }
    return open;
}

/* Whether reads tell nothing new. */
static inline bool tell_nothing(const warp_block *block, const warp_inst *inst, const warp_memo *memo, uint64_t first)
{
    const warp_watch *w = block->watch;
    const warp_where *where = &w->wheres[inst->index % WARP_WHERES];
    const uint32_t count = memo->width >> w->shift;
    bool news = inst->orderly || inst->is_volatile || w->interleaved || !count ||
                w->version != block->launch->memory->version || !where->cells.write || where->buffer->unknown ||
                first + (uint64_t)(int64_t)memo->low < where->start ||
                first + (uint64_t)(int64_t)memo->high >= where->end;
    for (uint32_t k = 0; k < WARP_EIGHTS && !news; k++)
        for (uint32_t l = 0, next; l < WARP_EIGHT && !news; l = next) {
            const uint64_t at = first + (uint64_t)(int64_t)(int32_t)memo->delta[k * WARP_EIGHT + l] - where->start;
            const bool row = memo->rows >> k & 1;
            next = row || memo->ones >> k & 1 ? WARP_EIGHT : l + 1;
            news = look_at_cells(&block->order, &where->cells, at >> w->shift, row ? count * WARP_EIGHT : count);
        }
    return !news;
}

/* The processor fetches what comes next if the instruction goes on by as much. */
static inline void fetch_next(const warp_block *block, const warp_inst *inst, warp_memo *memo, uint64_t first)
{
    const uint64_t next = 2 * first - memo->before;
    const warp_where *where = block->watch ? &block->watch->wheres[inst->index % WARP_WHERES] : NULL;
    memo->before = first;
    for (uint32_t k = 0; k < WARP_EIGHTS; k++) {
        const uint64_t at = next + (uint64_t)(int64_t)(int32_t)memo->delta[k * WARP_EIGHT];
        if (memo->same[k] < k)
            continue;
        __builtin_prefetch((const void *)(uintptr_t)at);
        if (where && where->cells.write && at >= where->start && at < where->end)
            __builtin_prefetch(where->cells.settled + ((at - where->start) >> block->watch->shift));
    }
}

static bool global(warp_block *block, warp_frame *frame, const warp_inst *inst, const warp_access *access,
                   const uint64_t address[WARP_LANES])
{
    enum { SECTOR = 32 };
    warp_memo *memo = &block->memos[inst->index];
    const bool load = access->how == WARP_READS;
    uint64_t differs = 0;
    for (int l = 0; l < WARP_LANES; l++)
        differs |= (address[l] - address[0]) ^ (uint64_t)(int64_t)(int32_t)memo->delta[l];
    if (differs || block->launch->written || block->observer ||
        (memo->lie != WARP_ONE && address[0] % SECTOR != memo->phase))
        return false;
    const warp_extent extent = {address[0] + (uint64_t)(int64_t)memo->low, address[0] + (uint64_t)(int64_t)memo->high,
                                (warp_lie)memo->lie};
    if ((address[0] | memo->mixed) & (memo->width - 1u) || !warp_in_buffer(block, extent.low, extent.high, memo->width))
        return false;
    warp_count_global(&block->counts[inst->index], memo, WARP_LANES);
    if (load)
        fetch_next(block, inst, memo, address[0]);
    if (block->watch && load && tell_nothing(block, inst, memo, address[0]))
        block->watch->is_new = false;
    else if (block->watch)
        warp_watch_access(block, frame, inst, WARP_ALL, address, &extent, access);
    if (load)
        load_words(frame, inst, memo, (const unsigned char *)(uintptr_t)address[0]);
    else
        store_words(frame, inst, memo, (unsigned char *)(uintptr_t)address[0]);
    return true;
}

extern const struct warp_row_functions NAME(warp_row_functions, SMP_ISA);
const struct warp_row_functions NAME(warp_row_functions, SMP_ISA) = {
    .shared = shared, .global = global, .check_reads = check_reads, .note_pending = note_pending};
