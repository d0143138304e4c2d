/* One SM: four parts, each of which issues an instruction a cycle. Time jumps to the next cycle in which something can
 * happen. A part's scheduler takes the warp that issued last if it can go on, else the one of the highest number (h).
 */

#include "base/alloc.h"
#include "base/clock.h"
#include "lab/time/model.h"

smp_code time_sm_open(time_sm *sm, smp_error *err)
{
    const size_t groups = sm->code->count / TIME_FETCH + 2, slots = (size_t)sm->resident * sm->trace->warps;
    uint32_t l1_bytes;
    (void)time_resident(sm->trace, sm->gpu, &l1_bytes);
    sm->warp_slots = (uint32_t)slots;
    sm->warps = smp_alloc_array(slots + 1, sizeof *sm->warps);
    sm->slots = smp_alloc_array(sm->resident, sizeof *sm->slots);
    sm->fetched = smp_alloc_array(groups, sizeof *sm->fetched);
    sm->came = smp_alloc_array(groups, sizeof *sm->came);
    sm->groups = (time_groups){.count = (size_t)sm->gpu->l1_instructions / TIME_FETCH};
    sm->groups.places = smp_alloc_array(sm->groups.count, sizeof *sm->groups.places);
    sm->groups.held = smp_alloc_array(groups, sizeof *sm->groups.held);
    sm->has_constants = smp_alloc_array(TIME_CONSTANT_LINES, sizeof *sm->has_constants);
    sm->done = smp_alloc_array(sm->simulated + 1, sizeof *sm->done);
    sm->inst_stalls = smp_alloc_array(sm->code->count + 1, sizeof *sm->inst_stalls);
    sm->drained = smp_alloc_array(sm->code->count + 1, sizeof *sm->drained);
    bool fits = sm->warps && sm->slots && sm->fetched && sm->came && sm->groups.places && sm->groups.held &&
                sm->has_constants && sm->done && sm->inst_stalls && sm->drained &&
                time_l1_open(&sm->l1, l1_bytes, (uint32_t)sm->gpu->l1_ways);
    for (int p = 0; p < TIME_PARTS && fits; p++) {
        time_part *part = &sm->parts[p];
        part->last = -1;
        for (int i = 0; i < TIME_SOURCES; i++)
            part->reused[i].warp = part->reused[i].reg = -1;
        part->fetched = smp_alloc_array(groups, sizeof *part->fetched);
        part->came = smp_alloc_array(groups, sizeof *part->came);
        fits = part->fetched && part->came;
    }
    SMP_NEED(fits, "a model of an SM", slots * sizeof *sm->warps, err);
    for (uint32_t i = 0; i < sm->resident; i++)
        sm->slots[i].block = -1;
    for (int i = 0; i < TIME_MERGED; i++)
        sm->merged[i].line = UINT32_MAX;
    sm->interval = time_of(sm->gpu->block_rate * sm->active_sms);
    return time_beyond_open(sm, err);
}

void time_sm_close(time_sm *sm)
{
    for (int p = 0; p < TIME_PARTS; p++) {
        smp_free_all(sm->parts[p].fetched, sm->parts[p].came);
    }
    smp_free_all(sm->warps, sm->slots, sm->fetched, sm->came, sm->groups.places, sm->groups.held, sm->has_constants,
                 sm->done, sm->inst_stalls, sm->drained, sm->l1.lines);
    time_map_free(&sm->swapped);
    time_map_free(&sm->beyond.seen);
    time_map_free(&sm->beyond.servers);
    time_map_free(&sm->beyond.served);
}

/* ------------------------------------------------------------------------------------------------ what warps wait for
 */

/* A group of instructions comes `cycles` after it is asked for: now, or, since caches fetch ahead of a warp that goes
 * straight on, when the group before it came, or when the warp jumped there. */
static time_ticks arrival(const time_sm *sm, const uint64_t *fetched, const time_ticks *came, size_t group,
                          time_ticks turned, double cycles)
{
    const time_ticks asked = group && fetched[group - 1] ? time_later(came[group - 1] + time_of(TIME_FETCH), turned)
                                                         : sm->now,
                     there = asked + time_of(cycles);
    return time_later(there, sm->now);
}

/* The SM's cache takes a group in another's place, which is chosen at random. The caches behind give it one group at a
 * time. Gives by how much the answer is late. */
static time_ticks take_group(time_sm *sm, size_t group)
{
    time_groups *g = &sm->groups;
    const size_t place = time_draw(&g->random) % g->count;
    if (g->places[place])
        g->held[g->places[place] - 1] = false;
    g->places[place] = (uint32_t)group + 1;
    g->held[group] = true;
    const time_ticks late = g->free_at > sm->now ? g->free_at - sm->now : 0;
    g->free_at = time_later(g->free_at, sm->now) + time_of(sm->gpu->code_again);
    return late;
}

/* When an instruction is at hand: a part's cache keeps those groups of instructions that were fetched last. */
static time_ticks fetch(time_sm *sm, time_part *part, const time_warp *w, uint32_t pc)
{
    const size_t group = pc / TIME_FETCH;
    const uint64_t near = (uint64_t)sm->gpu->l0_instructions / TIME_FETCH,
                   far = (uint64_t)sm->gpu->l2_instructions / TIME_FETCH;
    if (part->fetched[group] && part->fetched[group] + near >= part->fetches)
        return part->came[group];
    const bool is_first = !sm->fetched[group],
               follows = group && sm->fetched[group - 1] && w->turned <= sm->came[group - 1];
    const double cycles = !is_first           ? sm->gpu->l1_miss
                          : !sm->fetches      ? sm->gpu->code_first
                          : sm->fetches > far ? sm->gpu->code_far
                          : follows           ? sm->gpu->code_next
                                              : sm->gpu->code_jump;
    if (!sm->groups.held[group]) {
        const time_ticks late = take_group(sm, group);
        sm->came[group] = arrival(sm, sm->fetched, sm->came, group, w->turned, cycles) + (is_first ? 0 : late);
        sm->fetches += is_first;
        sm->fetched[group] = true;
    }
    const time_ticks there = arrival(sm, part->fetched, part->came, group, 0, sm->gpu->l0_miss);
    part->came[group] = time_later(there, sm->came[group]);
    part->fetched[group] = ++part->fetches;
    return part->came[group];
}

/* When the constants of an instruction are at hand: the SM has a line of them from its first use on. */
static time_ticks find_constants(time_sm *sm, const time_inst *inst, time_ticks at)
{
    if (!inst->constants || sm->has_constants[inst->constants])
        return at;
    sm->has_constants[inst->constants] = true;
    return at + time_of(sm->gpu->constant_first);
}

/* Scoreboards and the instruction cache, the first time that a warp comes to an instruction. False: it waits. */
static bool is_clear(time_sm *sm, time_part *part, time_warp *w, uint32_t pc)
{
    const time_inst *inst = &sm->code->insts[pc];
    time_ticks until = sm->now;
    time_reason why = SMP_TIME_LONG;
    w->looked = (int32_t)pc;
    if (!inst->goes_on) {
        w->pending[SMP_TIME_BARRIER] += w->gate > w->ready ? w->gate - w->ready : 0;
        until = time_later(until, w->gate);
        w->gate = 0;
    }
    const time_ticks open = until;
    for (int i = 0; i < TIME_BOARDS; i++)
        if (inst->waits >> i & 1 && w->board[i] > until) {
            until = w->board[i];
            why = (time_reason)w->board_reason[i];
        }
    if (inst->kind == TIME_WAIT_COPIES && w->group_count > inst->copies_left) {
        const time_ticks done = w->groups[(w->group_count - 1 - inst->copies_left) % TIME_GROUPS];
        until = done > until ? done : until;
    }
    w->pending[why] += until - open;
    const time_ticks there = time_later(until, fetch(sm, part, w, pc)), known = find_constants(sm, inst, there);
    w->pending[SMP_TIME_NO_INSTRUCTION] += there - until;
    w->pending[SMP_TIME_CONSTANT] += known - there;
    w->ready = known;
    if (w->ready > sm->now)
        w->eligible = -1;
    return w->ready <= sm->now;
}

static bool is_global(time_kind kind)
{
    return kind == TIME_LOAD || kind == TIME_STORE || kind == TIME_LOCAL_LOAD || kind == TIME_LOCAL_STORE ||
           kind == TIME_ATOMIC || kind == TIME_REDUCTION || kind == TIME_COPY;
}

/* Returns when the pipe or queue of an instruction takes another one. */
static time_ticks pipe_free(const time_sm *sm, const time_part *part, const time_inst *inst, time_reason *why)
{
    enum { AHEAD = 32, SPECIALS = 8 }; /* cycles that a load of constants, a special function waits queued: assumed */
    *why = SMP_TIME_MATH;
    switch ((time_pipe)inst->pipe) {
    case TIME_NONE:
        return 0;
    case TIME_MEMORY: {
        const bool global = is_global((time_kind)inst->kind);
        const uint32_t queue = (uint32_t)(global ? sm->gpu->queue_global : sm->gpu->queue_shared);
        const time_ticks place = part->ring[(part->ring_head + TIME_RING - queue) % TIME_RING];
        *why = global ? SMP_TIME_LG : SMP_TIME_MIO;
        return place > part->gap_end ? place : part->gap_end;
    }
    case TIME_CONSTANT:
        *why = SMP_TIME_MIO;
        return sm->constant_free - time_of(AHEAD);
    case TIME_SPECIAL:
        *why = SMP_TIME_MIO;
        return part->pipe[TIME_SPECIAL] - time_of(SPECIALS);
    case TIME_FMA:
        return sm->gpu->fma_halves > 1 && part->pipe[TIME_FMA] < part->pipe[TIME_HEAVY] ? part->pipe[TIME_FMA]
                                                                                        : part->pipe[TIME_HEAVY];
    default:
        return part->pipe[inst->pipe];
    }
}

/* Whether a warp that is ready can issue now; else it waits for a pipe. */
static bool can_issue(time_sm *sm, const time_part *part, time_warp *w, const time_inst *inst)
{
    time_reason why;
    const time_ticks free = pipe_free(sm, part, inst, &why);
    if (free <= sm->now)
        return true;
    if (w->eligible >= 0)
        w->pending[SMP_TIME_NOT_SELECTED] += sm->now - w->eligible;
    w->eligible = -1;
    w->pending[why] += free - sm->now;
    w->ready = free;
    return false;
}

/* ------------------------------------------------------------------------------------------------ scheduling */

static inline void sooner(time_ticks *next, time_ticks at)
{
    *next = at < *next ? at : *next;
}

/* The warp that issues now; null: none. */
static time_warp *choose(time_sm *sm, int p, time_ticks *next)
{
    time_part *part = &sm->parts[p];
    time_warp *best = NULL;
    for (uint32_t k = (uint32_t)p; k < sm->warp_slots; k += TIME_PARTS) {
        time_warp *w = &sm->warps[k];
        if (!w->active)
            continue;
        const uint32_t pc = time_pc(*w->at);
        if (w->at_barrier && !sm->code->insts[pc].goes_on)
            continue;
        if (w->ready > sm->now) {
            sooner(next, w->ready);
            continue;
        }
        if ((w->looked != (int32_t)pc && !is_clear(sm, part, w, pc)) || !can_issue(sm, part, w, &sm->code->insts[pc])) {
            sooner(next, w->ready);
            continue;
        }
        if (!best || best - sm->warps != part->last)
            best = w;
        if (w->eligible < 0)
            w->eligible = sm->now;
    }
    return best;
}

static void run_part(time_sm *sm, int p, time_ticks *next)
{
    time_part *part = &sm->parts[p];
    if (part->free_at > sm->now) {
        sooner(next, part->free_at);
        return;
    }
    const time_ticks banks = part->bank[0] > part->bank[1] ? part->bank[0] : part->bank[1];
    if (banks > sm->now + time_of(sm->gpu->operand_window)) {
        sooner(next, sm->now + TIME_TICK);
        part->bank_wait += TIME_TICK;
        return;
    }
    time_warp *w = choose(sm, p, next);
    if (!w)
        return;
    part->last = (int)(w - sm->warps);
    sooner(next, sm->now + TIME_TICK);
    time_issue(sm, w);
}

/* Blocks that wait for a slot begin when one is free. */
static void next_block(const time_sm *sm, time_ticks *next)
{
    for (uint32_t i = 0; i < sm->resident && sm->launched < sm->simulated; i++)
        if (sm->slots[i].block < 0) {
            const time_ticks at = sm->next_launch > sm->slots[i].free_at ? sm->next_launch : sm->slots[i].free_at;
            sooner(next, at > sm->now ? at : sm->now + TIME_TICK);
        }
}

/* Looks at the clock now and then. */
static bool is_late(time_sm *sm, uint32_t round)
{
    enum { ROUNDS = 1 << 12 };
    sm->late = sm->late || (sm->deadline > 0 && round % ROUNDS == 0 && smp_now() > sm->deadline);
    return sm->late;
}

void time_sm_run(time_sm *sm)
{
    for (uint32_t round = 0; !is_late(sm, round); round++) {
        time_ticks next = TIME_NEVER;
        time_launch_blocks(sm);
        for (int p = 0; p < TIME_PARTS; p++)
            run_part(sm, p, &next);
        next_block(sm, &next);
        for (uint32_t i = 0; next == TIME_NEVER && i < sm->warp_slots; i++)
            if (sm->warps[i].active && !sm->warps[i].at_barrier)
                next = sm->warps[i].ready;
        if (next == TIME_NEVER)
            return;
        const time_ticks whole = (next + TIME_TICK - 1) / TIME_TICK * TIME_TICK;
        sm->now = whole > sm->now ? whole : sm->now + TIME_TICK;
    }
}
