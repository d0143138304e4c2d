/* Accesses to memory in the SM: the queue of each part, the one way into shared memory and L1 (a wavefront a cycle), L1
 * itself, and the lines in which stores are joined on their way out. */
#include "lab/time/model.h"

/* Cycles of the way in: shared memory's wavefronts; of global memory the banks of L1's data, two lines a cycle. */
static time_ticks wavefronts_of(const time_sm *sm, const time_access *a)
{
    enum { COPIED = 256 /* bytes a cycle, fit (wmma_async) */, LINES = 2 /* a cycle, m m_ldgs32 */ };
    const uint32_t word = a->word ? a->word : 1, low = (a->word & UINT16_MAX) ? a->word & UINT16_MAX : 1,
                   spared = time_is_spared(sm, a->inst);
    double cycles = 1;
    switch ((time_kind)a->inst->kind) {
    case TIME_SHARED:
        cycles = a->inst->swaps ? sm->gpu->swap : spared && spared < word ? spared : word;
        break;
    case TIME_ATOMIC:
    case TIME_REDUCTION:
        cycles = a->line_count / (double)LINES;
        break;
    case TIME_COPY:
        cycles = a->lanes * a->inst->bytes / (double)COPIED;
        break;
    case TIME_LOCAL_LOAD:
    case TIME_LOCAL_STORE:
        cycles = a->line_count / LINES;
        break;
    case TIME_LOAD:
    case TIME_STORE:
        cycles = low;
        break;
    default:
        break;
    }
    return time_of(cycles > 1 ? cycles : 1);
}

/* The SM waits where too much work lies before L2 and DRAM. */
static void hold_back(time_sm *sm, double times)
{
    sm->lsu_free = time_later(sm->lsu_free, time_l2_back(sm, times));
}

/* A line of a load. Gives when its sectors are there. */
static time_ticks load_line(time_sm *sm, const time_access *a, uint32_t entry, time_ticks at)
{
    const uint32_t number = entry >> 4, mask = entry & 15;
    time_ticks last = at;
    time_line own = {.mask = 0}, *line = &own;
    if (!a->inst->bypasses && !(line = time_l1_find(&sm->l1, number)))
        line = time_l1_take(&sm->l1, number);
    const uint32_t misses = mask & ~(uint32_t)line->mask;
    for (int s = 0; s < 4; s++)
        if ((mask & ~misses) >> s & 1)
            last = time_later(last, line->ready[s]);
    sm->l1_sectors += (uint32_t)__builtin_popcount(mask);
    sm->l1_hits += (uint32_t)__builtin_popcount(mask & ~misses);
    if (!misses)
        return last;
    if (a->inst->kind != TIME_COPY) /* L1's data takes 64 bytes a cycle */
        sm->lsu_free += TIME_TICK / 2 * __builtin_popcount(misses);
    const time_ticks turn = a->inst->takes_turns ? time_l2_turn(sm, number, at) : at,
                     ready = time_l2_load(sm, turn, number, misses);
    line->mask |= (uint8_t)misses;
    for (int s = 0; s < 4; s++)
        if (misses >> s & 1)
            line->ready[s] = ready;
    return time_later(last, ready);
}

static void load(time_sm *sm, time_warp *w, time_access *a, time_ticks start, time_ticks cycles)
{
    time_ticks last = 0;
    sm->first_wave = sm->slots[w->slot].block < (int64_t)sm->resident;
    for (uint32_t i = 0; i < a->line_count; i++)
        last = time_later(last, load_line(sm, a, a->lines[i], start + (i + 1) * cycles / a->line_count));
    a->done = last + time_of(sm->gpu->lat_l1) + (time_ticks)((double)(cycles - TIME_TICK) * sm->gpu->l1_again);
    hold_back(sm, 1);
    if (a->inst->kind == TIME_COPY)
        w->copies_done = time_later(w->copies_done, a->done);
}

/* Sectors of a line that stores of late have not sent out yet. */
static uint32_t merge(time_sm *sm, uint32_t entry)
{
    const int lines = (int)sm->gpu->merge_lines;
    const uint32_t line = entry >> 4, mask = entry & 15;
    int oldest = 0;
    for (int i = 0; i < lines; i++) {
        if (sm->merged[i].line == line) {
            const uint32_t fresh = mask & ~sm->merged[i].mask;
            sm->merged[i].mask |= mask;
            sm->merged[i].used = ++sm->merge_clock;
            return (uint32_t)__builtin_popcount(fresh);
        }
        oldest = sm->merged[i].used < sm->merged[oldest].used ? i : oldest;
    }
    sm->merged[oldest].line = line;
    sm->merged[oldest].mask = mask;
    sm->merged[oldest].used = ++sm->merge_clock;
    return (uint32_t)__builtin_popcount(mask);
}

/* What an instruction stored leaves the SM then. */
static void note_stored(const time_sm *sm, time_warp *w, const time_access *a, time_ticks left)
{
    if (left > w->stored)
        w->stored_by = (uint32_t)(a->inst - sm->code->insts);
    w->stored = time_later(w->stored, left);
}

static void store(time_sm *sm, time_warp *w, const time_access *a, time_ticks at)
{
    enum { FEW_LINES = 4 }; /* of local memory, whose lines are whole where lanes are in step */
    const bool local = a->inst->kind == TIME_LOCAL_STORE;
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < a->line_count; i++) {
        sectors += merge(sm, a->lines[i]);
        if (local)
            time_l1_hold(&sm->l1, a->lines[i] >> 4, a->lines[i] & 15);
        else
            (void)time_l1_find(&sm->l1, a->lines[i] >> 4);
    }
    uint32_t partial = a->word >> 16 < sectors ? a->word >> 16 : sectors;
    if (local)
        partial = a->line_count > FEW_LINES ? sectors : 0;
    const time_ticks done = time_l2_store(sm, at, sectors - partial, partial, a->line_count);
    if (!local) {
        w->stores_done = time_later(w->stores_done, done);
        note_stored(sm, w, a, done - time_of(sm->gpu->lat_l2));
    }
    hold_back(sm, 1);
}

static void update(time_sm *sm, time_warp *w, time_access *a, time_ticks at)
{
    enum { TIMES = 4 }; /* so much further than with loads: assumed */
    a->done = time_l2_atomic(sm, a, at);
    note_stored(sm, w, a, a->left);
    const bool waits = a->inst->kind == TIME_ATOMIC; /* for the old value; else L2 has taken it over once it has left */
    w->stores_done = time_later(w->stores_done, waits ? a->done : a->left + time_of(sm->gpu->lat_l2));
    hold_back(sm, TIMES);
}

void time_access_run(time_sm *sm, time_warp *w, time_part *part, time_access *a)
{
    enum { WAY = 2, READ = 4, OFF = 6 }; /* cycles, assumed: to the way in; until operands are read; with no lane on */
    const time_ticks start = time_later(sm->now + WAY * TIME_TICK, sm->lsu_free);
    const time_ticks cycles = a->lanes ? wavefronts_of(sm, a) : TIME_TICK;
    const bool updates = a->inst->kind == TIME_ATOMIC || a->inst->kind == TIME_REDUCTION;
    sm->lsu_free = start + cycles;
    sm->wavefronts += cycles;
    part->ring[part->ring_head++ % TIME_RING] = start + cycles - TIME_TICK;
    part->gap_end = sm->now + time_of(sm->gpu->access_gap);
    if (!a->lanes) {
        a->read = start + OFF * TIME_TICK;
        a->done = start + (a->inst->latency ? a->inst->latency : time_of(sm->gpu->lat_l1)); /* m red_seq */
        return;
    }
    a->read = (updates ? sm->now + WAY * TIME_TICK : start) + cycles + READ * TIME_TICK;
    a->done = start + cycles - TIME_TICK + a->inst->latency;
    switch ((time_kind)a->inst->kind) {
    case TIME_LOAD:
    case TIME_LOCAL_LOAD:
    case TIME_COPY:
        load(sm, w, a, start, cycles);
        break;
    case TIME_STORE:
    case TIME_LOCAL_STORE:
        store(sm, w, a, start + cycles);
        break;
    case TIME_ATOMIC:
    case TIME_REDUCTION:
        update(sm, w, a, start + cycles);
        break;
    default:
        break;
    }
}
