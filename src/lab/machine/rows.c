/* See rows.h. */
#include "lab/machine/rows.h"

#include "lab/machine/watch.h"

#ifndef SMP_ISA
#define SMP_ISA base
#endif
#define NAME_(name, isa) name##_##isa
#define NAME(name, isa)  NAME_(name, isa)

typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t word __attribute__((may_alias));
typedef long long four __attribute__((vector_size(32)));

/* Eight words, and one, by their address; a word eight times; whether any of eight is not 0. */
#define EIGHT(from)  (*(eight *)(uintptr_t)(from))
#define WORD(from)   (*(word *)(uintptr_t)(from))
#define EIGHTFOLD(v) ((v) - (eight){0})
#ifdef __AVX__
#define IS_ANY(v) (!__builtin_ia32_ptestz256((four)(v), (four)(v)))
#else
#define IS_ANY(v) ((((four)(v))[0] | ((four)(v))[1] | ((four)(v))[2] | ((four)(v))[3]) != 0)
#endif

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
static inline bool lies_alike(const warp_frame *frame, const warp_inst *inst, const warp_memo *memo, uint32_t *place)
{
    const uint32_t *row = warp_words(frame, inst->s[0]), first = row[0] << inst->scale;
    uint32_t base = first + (uint32_t)inst->offset;
    eight differs = {0};
    for (uint32_t l = 0; l < WARP_LANES; l += WARP_EIGHT)
        differs |= ((EIGHT(row + l) << inst->scale) - first) ^ EIGHT(memo->delta + l);
    if (inst->parts && inst->add != WARP_NO_ROW) {
        const uint32_t *more = warp_words(frame, inst->add);
        base += more[0];
        for (uint32_t l = 0; l < WARP_LANES; l += WARP_EIGHT)
            differs |= EIGHT(more + l) ^ more[0];
    }
    base -= inst->parts ? inst->bias : 0;
    *place = base;
    return !IS_ANY(differs) && base + (uint32_t)memo->low <= memo->room && !(base & (memo->width - 1u));
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
    block->quick = 0;
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
    const uint32_t floor = block->order.floor, interval = block->order.interval;
    const warp_times *times = &block->times;
    warp_touch now = {warp_stamp(block, frame, 0), inst->index, 0};
    if (inst->orderly || !times->settled || block->order.atomic_read == floor)
        return false;
    warp_note_pending(block);
    for (uint32_t l = 0, next; l < WARP_LANES; l = next) {
        const uint32_t at = (base + memo->delta[l]) >> 2;
        uint32_t *written = times->written + at, *read = times->read + at;
        next = l + (l % WARP_EIGHT == 0 && memo->rows >> l / WARP_EIGHT & 1 ? WARP_EIGHT : 1);
        if (next == l + 1 ? (*written >= floor) | (*read >= floor)
                          : IS_ANY((EIGHT(written) >= floor) | (EIGHT(read) >= floor)))
            return false;
        for (uint32_t i = 0; i < next - l; i++, now.stamp++)
            block->granules[at + i].write = now;
        for (uint32_t i = 0; i < next - l; i++)
            written[i] = interval; /* what was not read is not settled */
    }
    return true;
}

/* Words of all lanes, which lie as the memo says from `from` on. Returns whether one of their times (of the first
 * lane's on; null: none are looked at) is not of the `span` ones from `begin` on. */
static __attribute__((noinline)) bool load_apart(const warp_memo *memo, const unsigned char *from, uint32_t *row,
                                                 const uint32_t *times, uint32_t begin, uint32_t span)
{
    uint32_t any = 0;
    for (uint32_t k = 0; k < WARP_EIGHTS; k++) {
        const int32_t *delta = (const int32_t *)memo->delta + k * WARP_EIGHT;
        if (memo->same[k] < k)
            memcpy(row + k * WARP_EIGHT, row + memo->same[k] * WARP_EIGHT, WARP_EIGHT * sizeof *row);
        else
            for (uint32_t l = 0; l < WARP_EIGHT; l++) {
                memcpy(&row[k * WARP_EIGHT + l], from + delta[l], sizeof *row);
                any |= times && times[delta[l] / 4] - begin >= span;
            }
    }
    return any;
}

/* The same of eights that each lie side by side, or each at one place. */
static inline __attribute__((always_inline)) bool load_eights(const warp_memo *memo, const unsigned char *from,
                                                              uint32_t *row, const uint32_t *times, uint32_t begin,
                                                              uint32_t span, bool ones)
{
    const unsigned char *time = (const unsigned char *)times;
    uint32_t any = 0;
    eight open = {0};
    for (uint32_t k = 0; k < WARP_EIGHTS; k++) {
        const int32_t first = (int32_t)memo->delta[k * WARP_EIGHT];
        if (ones)
            EIGHT(row + k * WARP_EIGHT) = EIGHTFOLD(WORD(from + first));
        else
            EIGHT(row + k * WARP_EIGHT) = EIGHT(from + first);
        if (times && memo->fresh >> k & 1 && ones)
            any |= WORD(time + first) - begin >= span;
        else if (times && memo->fresh >> k & 1)
            open |= (eight)(EIGHT(time + first) - begin >= span);
    }
    return ones ? any : times && IS_ANY(open);
}

static inline bool load_words(const warp_frame *frame, const warp_inst *inst, const warp_memo *memo,
                              const unsigned char *from, const uint32_t *times, uint32_t begin, uint32_t span)
{
    bool any = false;
    for (uint32_t i = 0; i < inst->vec; i++, from += 4, times += times ? 1 : 0) {
        uint32_t *row = warp_words(frame, inst->d[i]);
        if (inst->d[i] == WARP_NO_ROW)
            any |= times != NULL;
        else if (memo->plain == WARP_ONES)
            any |= load_eights(memo, from, row, times, begin, span, true);
        else if (memo->plain == WARP_ROWS)
            any |= load_eights(memo, from, row, times, begin, span, false);
        else
            any |= load_apart(memo, from, row, times, begin, span);
    }
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

static __attribute__((noinline)) void look_at_reads(warp_block *block, const warp_frame *frame, const warp_inst *inst)
{
    uint32_t offset[WARP_LANES];
    warp_memo *memo = &block->memos[inst->index];
    if (inst->vec == 1 && !inst->orderly && !are_younger(block, memo, memo->place)) {
        warp_note_pending(block);
        note_reads(block, memo, memo->place, (warp_touch){warp_stamp(block, frame, 0), inst->index, 0});
        return;
    }
    for (int l = 0; l < WARP_LANES; l++)
        offset[l] = memo->place + memo->delta[l];
    check_reads(block, frame, inst, WARP_ALL, offset);
}

/* Whether there is room for no further one. */
static inline bool wait_to_note(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t base)
{
    warp_pending *p = &block->pending;
    p->reads[p->count].stamp = warp_stamp(block, frame, 0);
    p->reads[p->count].inst = inst->index;
    p->reads[p->count++].base = base;
    return p->count == WARP_PENDING;
}

/* Loads words, and looks at their times. A read of what was written before the last barrier can wait to be noted. */
static void load_checked(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t base)
{
    const warp_memo *memo = &block->memos[inst->index];
    const uint32_t floor = block->order.floor, first = block->order.first;
    const warp_times *times = &block->times;
    warp_pending *p = &block->pending;
    const bool waits = p->noted != floor, looks = times->written && !block->order.partial && !inst->orderly;
    const uint32_t *sought = !looks ? NULL : (waits ? times->written : times->settled) + base / 4;
    if (load_words(frame, inst, memo, block->shared + base, sought, waits ? first : floor, waits ? floor - first : 1) ||
        !looks) {
        look_at_reads(block, frame, inst);
        return;
    }
    if (!waits)
        return;
    p->count = p->floor == floor ? p->count : 0;
    p->floor = floor;
    if (wait_to_note(block, frame, inst, base))
        note_pending(block);
}

/* Any load that lies as the instruction's last one did. What follows is quick where it is of a word in eights, counted
 * later, and not looked at or noted later. */
static void load_alike(warp_block *block, warp_frame *frame, const warp_inst *inst)
{
    warp_memo *memo = &block->memos[inst->index];
    const uint32_t base = memo->place;
    const warp_pending *p = &block->pending;
    const bool looks = !block->code->counts_only, alone = block->records || block->observer;
    memo->again++;
    frame->tried = 0;
    if (alone)
        note_count(block, memo, inst->index, base);
    if (looks)
        load_checked(block, frame, inst, base);
    else
        (void)load_words(frame, inst, memo, block->shared + base, NULL, 0, 0);
    const uint32_t floor = block->order.floor;
    block->quick = alone || (looks && (p->floor != floor || p->noted == floor)) ? 0 : floor;
}

static inline __attribute__((always_inline)) warp_loaded load_eight(warp_block *block, const warp_frame *frame,
                                                                    const warp_inst *inst, const warp_memo *memo,
                                                                    uint32_t base, bool ones)
{
    const uint32_t first = block->order.first, since = block->order.floor - first;
    const unsigned char *from = block->shared + base;
    uint32_t *row = warp_words(frame, inst->d[0]);
    if (block->code->counts_only)
        (void)load_eights(memo, from, row, NULL, 0, 0, ones);
    else if (load_eights(memo, from, row, block->times.written + base / 4, first, since, ones))
        return WARP_LOADED_NEWS;
    else if (wait_to_note(block, frame, inst, base))
        return WARP_LOADED_LAST;
    return WARP_LOADED;
}

/* Has no calls: vectors make those dear. */
static warp_loaded load(warp_block *block, warp_frame *frame, const warp_inst *inst, warp_memo *memo)
{
    uint32_t base;
    if (!lies_alike(frame, inst, memo, &base))
        return WARP_LOADED_NOT;
    memo->place = base;
    if (!memo->quick || block->quick != block->order.floor || block->order.partial)
        return WARP_LOADED_NEXT;
    memo->again++;
    frame->tried = 0;
    return memo->plain == WARP_ONES ? load_eight(block, frame, inst, memo, base, true)
                                    : load_eight(block, frame, inst, memo, base, false);
}

static bool store(warp_block *block, warp_frame *frame, const warp_inst *inst)
{
    warp_memo *memo = &block->memos[inst->index];
    uint32_t base;
    if (!memo->plain || !lies_alike(frame, inst, memo, &base) ||
        (!block->code->counts_only && !note_writes(block, frame, inst, base)))
        return false;
    memo->again++;
    frame->tried = 0;
    if (block->records || block->observer)
        note_count(block, memo, inst->index, base);
    store_words(frame, inst, memo, block->shared + base);
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
        (void)load_words(frame, inst, memo, (const unsigned char *)(uintptr_t)address[0], NULL, 0, 0);
    else
        store_words(frame, inst, memo, (unsigned char *)(uintptr_t)address[0]);
    return true;
}

extern const struct warp_row_functions NAME(warp_row_functions, SMP_ISA);
const struct warp_row_functions NAME(warp_row_functions, SMP_ISA) = {.load = load,
                                                                     .load_alike = load_alike,
                                                                     .look_at_reads = look_at_reads,
                                                                     .store = store,
                                                                     .global = global,
                                                                     .check_reads = check_reads,
                                                                     .note_pending = note_pending};
