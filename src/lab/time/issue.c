/* An instruction leaves the scheduler: pipes and register banks are taken, results get their time, warps go on. */
#include "lab/time/model.h"

/* Two banks of registers that each give one operand a cycle; an operand that is kept (.reuse) is not read again while
 * the same warp goes on. */
static void read_operands(time_sm *sm, time_part *part, int warp, const time_inst *inst)
{
    for (int i = 0; i < inst->sources; i++) {
        bool kept = part->reused[i].warp == warp && part->reused[i].reg == inst->source[i];
        for (int k = 0; k < i; k++) /* x * x reads x once: m o_part_64_2_all */
            kept = kept || inst->source[k] == inst->source[i];
        for (int b = 0; b < 2 && !kept; b++)
            if (inst->wide[i] || (inst->source[i] & 1) == b)
                part->bank[b] = time_later(part->bank[b], sm->now) + TIME_TICK;
        part->reused[i].warp = inst->reuse[i] ? warp : -1;
        part->reused[i].reg = inst->reuse[i] ? inst->source[i] : -1;
    }
}

/* Until the issue the warp's waiting counts for the instruction that it waited with. */
static void count_stalls(time_sm *sm, time_part *part, time_warp *w, uint32_t pc)
{
    if (part->bank_wait)
        w->pending[SMP_TIME_DISPATCH] += part->bank_wait;
    part->bank_wait = 0;
    if (w->eligible >= 0)
        w->pending[SMP_TIME_NOT_SELECTED] += sm->now - w->eligible;
    w->pending[SMP_TIME_SELECTED] += TIME_TICK;
    for (int i = 0; i < SMP_TIME_REASONS; i++) {
        sm->stalls[i] += (double)w->pending[i];
        sm->inst_stalls[pc][i] += (double)w->pending[i];
        w->pending[i] = 0;
    }
    w->eligible = -1;
    w->looked = -1;
    sm->issued++;
}

static void take_pipe(time_sm *sm, time_part *part, const time_inst *inst)
{
    time_pipe pipe = (time_pipe)inst->pipe;
    if (pipe == TIME_MEMORY || pipe == TIME_NONE || pipe == TIME_CONSTANT)
        return;
    if (pipe == TIME_FMA && (sm->gpu->fma_halves <= 1 || part->pipe[TIME_HEAVY] < part->pipe[TIME_FMA]))
        pipe = TIME_HEAVY;
    time_ticks *free = &part->pipe[pipe];
    *free = (sm->now - *free < TIME_TICK ? *free : sm->now) + inst->cycles;
    sm->busy[pipe] += inst->cycles;
}

void time_open_barrier(time_sm *sm, time_slot *slot, time_ticks at)
{
    const uint32_t first = (uint32_t)(slot - sm->slots) * sm->trace->warps;
    slot->arrived = 0;
    for (uint32_t i = first; i < first + sm->trace->warps; i++) {
        time_warp *w = &sm->warps[i];
        if (!w->active || !w->at_barrier)
            continue;
        w->at_barrier = false;
        w->gate = at;
    }
}

static void arrive(time_sm *sm, time_warp *w)
{
    time_slot *slot = &sm->slots[w->slot];
    if (sm->free.barriers)
        return;
    w->at_barrier = true;
    sm->barrier_free = time_later(sm->barrier_free, sm->now) + time_of(sm->gpu->barrier_warp);
    if (++slot->arrived >= slot->alive)
        time_open_barrier(sm, slot, sm->barrier_free + time_of(sm->gpu->barrier));
}

static void end_warp(time_sm *sm, time_warp *w, uint32_t pc)
{
    time_slot *slot = &sm->slots[w->slot];
    w->active = false;
    slot->stores_done = time_later(slot->stores_done, w->stores_done);
    if (w->stored > sm->now) { /* the slot waits for the answer, not the warp */
        const double drains = (double)(w->stored - sm->now);
        const uint32_t at = pc + 1 < sm->code->count ? pc + 1 : pc; /* it is past its EXIT */
        sm->stalls[SMP_TIME_DRAIN] += drains;
        sm->inst_stalls[at][SMP_TIME_DRAIN] += drains;
        sm->drained[at] = w->stored_by + 1;
    }
    sm->end = time_later(sm->end, sm->now + TIME_TICK);
    slot->alive--;
    if (!slot->alive) {
        const time_ticks done = time_later(sm->now, slot->stores_done);
        slot->block = -1;
        slot->free_at = done + time_of(sm->gpu->block_end);
        sm->done[sm->done_count++] = done;
    } else if (slot->arrived && slot->arrived >= slot->alive)
        time_open_barrier(sm, slot, sm->now + time_of(sm->gpu->barrier));
}

/* Results and reads release scoreboards. */
static void set_boards(time_warp *w, const time_inst *inst, time_ticks done, time_ticks read)
{
    if (inst->sets < TIME_BOARDS) {
        w->board[inst->sets] = time_later(w->board[inst->sets], done);
        w->board_reason[inst->sets] = inst->is_long ? SMP_TIME_LONG : SMP_TIME_SHORT;
    }
    if (inst->frees < TIME_BOARDS && w->board[inst->frees] < read) {
        const bool is_long = inst->is_long || inst->kind == TIME_STORE || inst->kind == TIME_REDUCTION;
        w->board[inst->frees] = read;
        w->board_reason[inst->frees] = is_long ? SMP_TIME_LONG : SMP_TIME_SHORT;
    }
}

/* Models an instruction beyond its pipe. Gives when its result is there and its operands are read. */
static void carry_out(time_sm *sm, time_warp *w, time_part *part, time_access *a)
{
    const time_inst *inst = a->inst;
    enum { FENCE = 20 /* cycles, assumed */ };
    switch ((time_kind)inst->kind) {
    case TIME_CONSTANT_LOAD: {
        if (!a->lanes)
            break;
        const time_ticks takes = a->word ? time_of(sm->gpu->constant_word * a->word) : TIME_TICK;
        sm->constant_free = time_later(sm->constant_free, sm->now) + takes;
        sm->constants_apart += a->word > 1 ? takes : 0;
        a->done = sm->constant_free + inst->latency;
        break;
    }
    case TIME_COPIES_END: {
        const time_ticks before = w->group_count ? w->groups[(w->group_count - 1) % TIME_GROUPS] : 0;
        a->done = time_later(time_later(sm->now, w->copies_done), before);
        w->groups[w->group_count++ % TIME_GROUPS] = a->done;
        w->copies_done = 0;
        break;
    }
    case TIME_FENCE:
        a->done = time_later(sm->now + time_of(FENCE), time_later(sm->beyond.last, sm->now) + time_of(sm->gpu->lat_l2));
        break;
    case TIME_PLAIN:
    case TIME_WAIT_COPIES:
    case TIME_BARRIER:
        break;
    default:
        time_access_run(sm, w, part, a);
    }
}

/* Whether another warp has changed a word in shared memory since this one read it, which then goes back to its load;
 * else it changes the word itself. */
static bool loses_swap(time_sm *sm, time_warp *w, const time_access *a)
{
    enum { WARPS = 64, WORDS = 16 /* of shared memory, as a shift */ };
    const int own = (int)((w - sm->warps) % sm->trace->warps);
    const time_ticks at = a->done - a->inst->latency + time_of(sm->gpu->swap_done);
    bool lost = false, fresh;
    for (uint32_t i = 0; i < a->line_count && w->tried; i++) {
        const int64_t *last = time_map_at(&sm->swapped, (uint32_t)w->slot << WORDS | a->lines[i] >> 4, &fresh);
        lost = lost || (last && *last / WARPS > w->read_at && *last % WARPS != own);
    }
    for (uint32_t i = 0; i < a->line_count && !lost; i++) {
        int64_t *last = time_map_at(&sm->swapped, (uint32_t)w->slot << WORDS | a->lines[i] >> 4, &fresh);
        if (last)
            *last = at * WARPS + own;
    }
    return lost;
}

/* Whether the warp goes on with other lanes than it came with: where an instruction does not jump though the next one
 * lies elsewhere, or a jump of all lanes leads nowhere. They all meet at BSYNC. */
static bool turns_to_others(const time_sm *sm, const time_warp *w, const time_access *a, uint32_t pc)
{
    const uint32_t next = time_pc(*w->at);
    const time_inst *inst = a->inst, *then = &sm->code->insts[next];
    const bool meets = then->pipe == TIME_BRANCH && then->latency == time_of(sm->gpu->converge);
    if (!inst->always)
        return inst->pipe != TIME_BRANCH && !inst->swaps && next != pc + 1;
    return next == pc + 1 || (time_lanes(*w->at) != a->lanes && !meets);
}

/* What it takes until the warp goes on elsewhere. */
static void jump(time_sm *sm, time_warp *w, time_part *part, const time_access *a, uint32_t pc)
{
    const time_inst *inst = a->inst;
    const time_ticks ready = w->ready;
    if (w->at >= w->end)
        return;
    const uint32_t to = time_pc(*w->at);
    if (inst->pipe == TIME_BRANCH && (to != pc + 1 || time_lanes(*w->at) > a->lanes))
        w->ready += inst->latency; /* lanes that went apart */
    if (turns_to_others(sm, w, a, pc))
        w->ready += time_of(sm->gpu->others);
    if (to != pc + 1) {
        w->ready += time_of(sm->gpu->jump);
        if (to > pc || pc - to > sm->gpu->l0_instructions) /* a loop has fetched on already */
            w->turned = w->ready;
        part->free_at = time_later(part->free_at, sm->now + TIME_TICK + time_of(sm->gpu->jump_slot));
    }
    w->pending[SMP_TIME_BRANCH] += w->ready - ready;
}

void time_issue(time_sm *sm, time_warp *w)
{
    time_part *part = &sm->parts[w->part];
    const uint32_t head = *w->at, pc = time_pc(head), *more = w->at + 1;
    const time_inst *inst = &sm->code->insts[pc];
    time_access access = {.inst = inst,
                          .lanes = time_lanes(head),
                          .line_count = time_lines(head),
                          .word = time_has_word(head) ? *more : 0,
                          .lines = more + time_has_word(head),
                          .read = sm->now + time_of(sm->gpu->lat_read),
                          .done = sm->now + inst->latency};
    if (sm->free.least && access.line_count)
        access.line_count = time_least_lines(sm, inst, access.lanes, access.line_count);
    if (access.line_count < time_lines(head))
        access.word = access.line_count;
    if (!access.line_count && time_lines(head)) /* spared */
        access.lanes = 0;
    read_operands(sm, part, (int)(w - sm->warps), inst);
    count_stalls(sm, part, w, pc);
    take_pipe(sm, part, inst);
    if (inst->pipe == TIME_SPECIAL)
        access.done = part->pipe[TIME_SPECIAL] - inst->cycles + inst->latency;
    carry_out(sm, w, part, &access);
    const time_ticks stall = (inst->stall ? inst->stall : 1) * TIME_TICK;
    w->ready = sm->now + stall;
    w->pending[SMP_TIME_WAIT] += stall - TIME_TICK;
    set_boards(w, inst, access.done, access.read);
    if (inst->kind == TIME_SHARED && !inst->swaps) {
        w->tried = w->at;
        w->read_at = access.done - inst->latency;
    }
    if (inst->swaps && loses_swap(sm, w, &access)) {
        w->pending[SMP_TIME_SHORT] += access.done - w->ready;
        w->ready = access.done;
        w->at = w->tried;
    } else
        w->at = access.lines + time_lines(head);
    jump(sm, w, part, &access, pc);
    if (inst->kind == TIME_BARRIER && access.lanes)
        arrive(sm, w);
    if (w->at >= w->end)
        end_warp(sm, w, pc);
}
