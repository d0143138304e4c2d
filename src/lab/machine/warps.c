/* Runs warps. Of a warp's lanes the group with the lowest instruction runs until it meets the next group, which brings
 * lanes of a branch together again where the compiler's order of code does. A block's warps run one after another from
 * barrier to barrier. */
#include "lab/machine/cluster.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"

enum {
    LANE_SPINS = 2000,  /* backward jumps of some lanes of a warp until others of it run */
    WARP_SPINS = 50000, /* of a warp until other warps run */
    TIMED = 20000       /* instructions of warps from one look at the clock to the next */
};
#define OTHERS      (UINT32_MAX - 1)    /* no instruction: other lanes wait for their turn */
#define LONG_JUMPS  (UINT64_C(1) << 24) /* of a block, in all: the user is told, once a launch */
#define BLOCK_JUMPS (UINT64_C(1) << 31) /* of a block, in all: it waits for something that never comes */

static const char *inst_where(const warp_block *block, const warp_inst *inst, char *text, size_t size)
{
    const warp_code *code = block->code;
    if (inst->line && inst->file < code->file_count && code->files[inst->file])
        snprintf(text, size, "%s:%u", code->files[inst->file], inst->line);
    else
        snprintf(text, size, "line %u of the %s", inst->text_line, code->param_base ? "SASS" : "PTX");
    return text;
}

void warp_stop(warp_block *block, const warp_frame *, const warp_inst *inst, const char *format, ...)
{
    char message[400], where[300];
    if (block->stop)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    smp_fail(&block->error, SMP_E_PROCESS, "kernel '%s', block %u,%u,%u: %s", block->code->name, block->id[0],
             block->id[1], block->id[2], message);
    smp_at(&block->error, "%s", inst_where(block, inst, where, sizeof where));
    block->stop = true;
}

void warp_waits(warp_frame *frame)
{
    frame->spins = WARP_SPINS - 1;
}

/* ------------------------------------------------------------------------------------------------ one warp */

/* The ready lanes at the lowest instruction; *next is the instruction of the next group, past all code if none. */
static uint32_t pick_group(warp_frame *frame, uint32_t *pc, uint32_t *next)
{
    uint32_t candidates = frame->ready & ~frame->avoid, group = 0, low = UINT32_MAX, second = UINT32_MAX, apart = 0;
    *pc = frame->pc[0];
    *next = UINT32_MAX;
    for (int l = 0; l < WARP_LANES; l++)
        apart |= frame->pc[l] ^ *pc;
    if (candidates == WARP_ALL && !apart) /* as behind most barriers */
        return WARP_ALL;
    if (!candidates) {
        frame->avoid = 0;
        candidates = frame->ready;
    }
    WARP_ACTIVE_LANES(candidates)
    {
        const uint32_t at = frame->pc[l];
        if (at < low) {
            second = low;
            low = at;
            group = UINT32_C(1) << l;
        } else if (at == low)
            group |= UINT32_C(1) << l;
        else if (at < second)
            second = at;
    }
    if (second == UINT32_MAX && frame->ready & frame->avoid)
        second = OTHERS;
    *pc = low;
    *next = second;
    return group;
}

static void set_pc(warp_frame *frame, uint32_t lanes, uint32_t pc)
{
    for (int l = 0; l < WARP_LANES && lanes == WARP_ALL; l++)
        frame->pc[l] = pc;
    WARP_ACTIVE_LANES(lanes == WARP_ALL ? 0 : lanes)
    frame->pc[l] = pc;
}

/* The mask that a collective instruction names: shuffles and votes keep it in source `mode`-independent place. */
static uint32_t members_of(const warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t row = inst->s[inst->submode];
    return warp_words(frame, row)[__builtin_ctz(lanes)] & frame->live;
}

/* Lanes that name different masks are groups of their own, as those of a labeled partition. */
static void execute_groups(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t mask[WARP_LANES];
    memcpy(mask, warp_words(frame, inst->s[inst->submode]), sizeof mask);
    while (lanes) {
        uint32_t same = 0;
        WARP_ACTIVE_LANES(lanes)
        same |= (uint32_t)(mask[l] == mask[__builtin_ctz(lanes)]) << l;
        inst->execute(block, frame, inst, same);
        lanes &= ~same;
    }
}

/* Returns where lanes go on after they were gathered. */
static uint32_t after(const warp_inst *inst, uint32_t pc)
{
    return inst->flow == WARP_CONVERGE && inst->target ? inst->target : pc + 1;
}

/* Of these lanes one that another names whose mask is another; WARP_LANES: there is none. */
static uint32_t differing(const warp_frame *frame, const uint32_t *named, uint32_t lanes, uint32_t lane)
{
    WARP_ACTIVE_LANES(lanes & named[lane])
    if ((named[l] ^ named[lane]) & frame->live)
        return l;
    return WARP_LANES;
}

/* What an operation gives a lane that its mask leaves out is undefined, and so where lanes that name each other differ
 * in their masks. */
static void check_named(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t *named = warp_words(frame, inst->s[inst->submode]);
    uint32_t own = frame->code->param_base ? WARP_ALL : 0;
    for (int l = 0; l < WARP_LANES; l++)
        own |= named[l] & UINT32_C(1) << l;
    WARP_ACTIVE_LANES(lanes & ~own)
    warp_fault(block, SMP_WARP_BARRIER, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
               "a warp operation is called by a lane that its mask 0x%x leaves out", named[l]);
    WARP_ACTIVE_LANES(frame->code->param_base ? 0 : lanes & own)
    {
        const uint32_t other = differing(frame, named, lanes & own, l);
        if (other < WARP_LANES)
            warp_fault(block, SMP_WARP_BARRIER, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "a warp operation names lanes 0x%x, of which lane %u names 0x%x: all must name the same",
                       named[l], other, named[other]);
    }
}

/* Lanes reach a collective instruction. True: all its members are here, and it was executed for them. */
static bool gather_members(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t pc, uint32_t lanes)
{
    const uint32_t members = members_of(frame, inst, lanes);
    check_named(block, frame, inst, lanes);
    if ((lanes & members) == members || !members) {
        execute_groups(block, frame, inst, lanes);
        return true;
    }
    frame->ready &= ~lanes;
    frame->at_members |= lanes;
    set_pc(frame, lanes, pc);
    uint32_t here = 0;
    WARP_ACTIVE_LANES(frame->at_members & members)
    here |= (uint32_t)(frame->pc[l] == pc) << l;
    if (here != members)
        return false;
    inst->execute(block, frame, inst, members);
    frame->at_members &= ~members;
    frame->ready |= members;
    set_pc(frame, members, after(inst, pc));
    return false;
}

static void leave(warp_block *block, warp_frame *frame, uint32_t lanes)
{
    frame->ready &= ~lanes;
    frame->live &= ~lanes;
    if (block->cluster && !frame->depth)
        warp_cluster_exit(block, frame, lanes);
}

/* Nobody can run, and lanes wait for lanes that never come: the hardware's older rule takes those that are there. */
static void release_stuck_members(warp_block *block, warp_frame *frame)
{
    uint32_t low = UINT32_MAX, group = 0;
    WARP_ACTIVE_LANES(frame->at_members)
    {
        if (frame->pc[l] < low) {
            low = frame->pc[l];
            group = 0;
        }
        group |= (uint32_t)(frame->pc[l] == low) << l;
    }
    const warp_inst *inst = &frame->code->insts[low];
    if (inst->flow == WARP_MEMBERS)
        warp_fault(block, SMP_WARP_BARRIER, inst->index, warp_thread(frame, (uint32_t)__builtin_ctz(group)), UINT32_MAX,
                   0, "a warp operation names lanes that never reach it");
    inst->execute(block, frame, inst, group);
    frame->at_members &= ~group;
    frame->ready |= group;
    set_pc(frame, group, after(inst, low));
}

/* Whether there is time left for what comes at this instruction. */
static bool has_time(warp_block *block, const warp_frame *frame, const warp_inst *inst)
{
    block->look_at = block->instructions + TIMED;
    const double now = block->deadline > 0 || block->block_deadline > 0 ? smp_now() : 0;
    if (block->launch->met && *block->launch->met)
        block->stop = true; /* the launch is done again */
    else if (block->deadline > 0 && now > block->deadline) {
        warp_stop(block, frame, inst, "it still runs here after the time limit of %g s", block->launch->seconds);
        const bool all = !block->launch->blocks && !block->launch->together, looks = !block->launch->counts_alone;
        if (all || looks) /* what was not typed */
            smp_hint(&block->error, "%s%s%s", all ? "--blocks 8 runs 8 of its blocks" : "", all && looks ? ", " : "",
                     looks ? "--no-findings takes less time" : "");
    } else if (block->block_deadline > 0 && now > block->block_deadline)
        warp_stop(block, frame, inst, "a block still runs here after %g s (--time-limit, --trust)",
                  block->launch->block_seconds);
    if (block->stop)
        block->error.code = SMP_E_LIMIT;
    return !block->stop;
}

/* For a jump or an end: the cost beside its guard. */
static uint32_t second_condition(const warp_frame *frame, const warp_inst *inst)
{
    const uint32_t holds = warp_pred(frame, inst->s[0]);
    return inst->negate_source ? ~holds : holds;
}

/* Lanes of a warp that stand at one instruction and run on together. */
typedef struct lane_group {
    uint32_t all, on;  /* its lanes; those whose guard holds */
    uint32_t pc, next; /* its instruction; one where other lanes stand, which it does not pass */
} lane_group;

typedef enum turn {
    TURN_GOES_ON,
    TURN_ENDS,     /* its lanes stand at several instructions, wait or have ended */
    TURN_GIVES_WAY /* the warp gives others a turn, or there is a stop */
} turn;

static turn end_turn(const warp_block *block)
{
    return block->stop ? TURN_GIVES_WAY : TURN_ENDS;
}

static turn refuse(warp_block *block, const warp_frame *frame, const warp_inst *inst, const char *what)
{
    warp_stop(block, frame, inst, "%s", what);
    return TURN_GIVES_WAY;
}

static turn jump_to_address(warp_block *block, warp_frame *frame, const warp_inst *inst, const lane_group *g)
{
    set_pc(frame, g->all & ~g->on, g->pc + 1);
    WARP_ACTIVE_LANES(g->on)
    {
        frame->pc[l] = (warp_words(frame, inst->s[0])[l] + (uint32_t)inst->offset) / inst->width;
        if (frame->pc[l] >= frame->code->count)
            return refuse(block, frame, inst, "a jump out of the code");
    }
    return TURN_ENDS;
}

/* A jump back of the whole group: lanes that stand elsewhere, and other warps, may have to write what it waits for. */
static turn count_spin(warp_block *block, warp_frame *frame, const warp_inst *inst, const lane_group *g)
{
    block->jumps++;
    frame->spins++;
    if (frame->spins % LANE_SPINS == 0 && g->next != UINT32_MAX) {
        set_pc(frame, g->all, inst->target);
        frame->avoid = g->all;
        return TURN_ENDS;
    }
    if (frame->spins >= (block->launch->together ? LANE_SPINS : WARP_SPINS)) {
        frame->spins = 0;
        set_pc(frame, g->all, inst->target);
        return TURN_GIVES_WAY;
    }
    return TURN_GOES_ON;
}

static turn jump(warp_block *block, warp_frame *frame, const warp_inst *inst, lane_group *g)
{
    if (inst->sources)
        g->on &= second_condition(frame, inst);
    if (inst->mode != WARP_EACH_GOES && g->on != g->all)
        g->on = inst->mode == WARP_ANY_SENDS && g->on ? g->all : 0;
    const bool back = inst->target <= g->pc;
    if (g->on != g->all && g->on) {
        block->tallies[inst->index].splits++;
        set_pc(frame, g->all & ~g->on, g->pc + 1);
        set_pc(frame, g->on, inst->target);
        block->jumps += back;
        return TURN_ENDS;
    }
    const turn spin = g->on && back ? count_spin(block, frame, inst, g) : TURN_GOES_ON;
    g->pc = g->on ? inst->target : g->pc + 1;
    return spin;
}

static turn end_lanes(warp_block *block, warp_frame *frame, const warp_inst *inst, lane_group *g)
{
    if (inst->parts && inst->sources)
        g->on &= second_condition(frame, inst);
    if (frame->depth && inst->flow == WARP_EXIT && g->on)
        return refuse(block, frame, inst, "a thread that ends inside a function that is called is not supported");
    leave(block, frame, g->on);
    set_pc(frame, g->all & ~g->on, ++g->pc);
    return g->on ? TURN_ENDS : TURN_GOES_ON;
}

static turn wait_for_block(warp_block *block, warp_frame *frame, const warp_inst *inst, const lane_group *g)
{
    if (frame->depth)
        return refuse(block, frame, inst, "a barrier in a function that is called, not inlined, is not supported");
    set_pc(frame, g->all, g->pc + 1);
    if (g->on)
        warp_arrive(block, frame, inst, g->on);
    return end_turn(block);
}

static turn wait_for_cluster(warp_block *block, warp_frame *frame, const warp_inst *inst, const lane_group *g)
{
    if (frame->depth || !block->cluster)
        return refuse(block, frame, inst,
                      "a barrier of the cluster in a function that is called, not inlined, is not supported");
    set_pc(frame, g->all, g->pc + 1);
    if (g->on)
        warp_cluster_barrier(block, frame, inst, g->on);
    return end_turn(block);
}

static turn wait_for_members(warp_block *block, warp_frame *frame, const warp_inst *inst, lane_group *g)
{
    if (g->on) {
        set_pc(frame, g->all & ~g->on, g->pc + 1);
        if (!gather_members(block, frame, inst, g->pc, g->on) || g->on != g->all) {
            set_pc(frame, g->on & frame->ready, after(inst, g->pc));
            return end_turn(block);
        }
    }
    g->pc = g->on ? after(inst, g->pc) : g->pc + 1;
    return TURN_GOES_ON;
}

/* An observer is told what it cost. */
static void execute(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    if (!block->observer || !block->observer->streams) {
        inst->execute(block, frame, inst, lanes);
        return;
    }
    const uint64_t before = block->counts[inst->index].in[SMP_WARP_SHARED].wavefronts;
    inst->execute(block, frame, inst, lanes);
    block->observer->cost(block->observer, block->counts[inst->index].in[SMP_WARP_SHARED].wavefronts - before);
}

static __attribute__((noinline)) turn step_group(warp_block *block, warp_frame *frame, const warp_inst *inst,
                                                 lane_group *g)
{
    if (inst->flow == WARP_NEXT) {
        if (g->on)
            execute(block, frame, inst, g->on);
        else
            block->counts[inst->index].skipped++;
        g->pc++;
        return TURN_GOES_ON;
    }
    switch ((warp_flow)inst->flow) {
    case WARP_JUMP_TO:
        return jump_to_address(block, frame, inst, g);
    case WARP_JUMP:
        return jump(block, frame, inst, g);
    case WARP_EXIT:
    case WARP_RETURN:
        return end_lanes(block, frame, inst, g);
    case WARP_BARRIER:
        return wait_for_block(block, frame, inst, g);
    case WARP_CLUSTER:
        return wait_for_cluster(block, frame, inst, g);
    default: /* WARP_MEMBERS, WARP_CONVERGE */
        return wait_for_members(block, frame, inst, g);
    }
}

/* Runs one group until it leaves, waits, splits or meets the next. False: the warp gives others a turn, or a stop. */
static bool run_group(warp_block *block, warp_frame *frame, uint32_t lanes, uint32_t pc, uint32_t next)
{
    const warp_inst *const code = frame->code->insts;
    const bool streams = block->observer && block->observer->streams;
    for (;;) {
        const warp_inst *inst = &code[pc];
        uint32_t on = lanes;
        if (inst->guard != WARP_NO_ROW) {
            const uint32_t holds = warp_pred(frame, inst->guard);
            on &= inst->guard_not ? ~holds : holds;
        }
        if (block->instructions++ >= block->look_at && !has_time(block, frame, inst))
            return false;
        warp_tally *tally = &block->tallies[inst->index];
        tally->whole += on == WARP_ALL;
        if (on != WARP_ALL) {
            tally->runs++;
            tally->lanes += (uint32_t)warp_lanes_in(on);
        }
        if (streams)
            block->observer->step(block->observer, frame, inst, on);
        if (inst->flow == WARP_NEXT && on && !streams) { /* most are */
            inst->execute(block, frame, inst, on);
            pc++;
        } else {
            lane_group g = {.all = lanes, .on = on, .pc = pc, .next = next};
            const turn then = step_group(block, frame, inst, &g);
            if (then != TURN_GOES_ON)
                return then == TURN_ENDS;
            pc = g.pc;
        }
        if (block->stop)
            return false;
        if (pc >= next) {
            set_pc(frame, lanes, pc);
            return true;
        }
    }
}

/* Runs until all lanes wait for the block or have ended. False: a stop, or others shall have a turn. */
bool warp_run_frame(warp_block *block, warp_frame *frame)
{
    while (frame->ready || frame->at_members) {
        uint32_t pc, next;
        if (!frame->ready) {
            release_stuck_members(block, frame);
            if (block->stop)
                return false;
            continue;
        }
        const uint32_t group = pick_group(frame, &pc, &next);
        const bool goes_on = run_group(block, frame, group, pc, next);
        if (!goes_on && frame->depth) /* others have no turn before it returns */
            warp_look_again(block, frame);
        if (block->stop)
            return false;
        if (block->jumps > LONG_JUMPS && !block->said && block->launch->print) {
            const warp_inst *inst = &frame->code->insts[pc];
            block->said = true;
            fprintf(stderr,
                    "smempipe: kernel %s, line %u: block %u,%u,%u has jumped back %u million times and still runs; it "
                    "is stopped at 2147 million, by --time-limit or by Ctrl-C\n",
                    block->code->name, inst->line ? inst->line : inst->text_line, block->id[0], block->id[1],
                    block->id[2], (unsigned)(LONG_JUMPS >> 20));
        }
        if (block->jumps > BLOCK_JUMPS) {
            warp_stop(block, frame, &frame->code->insts[pc],
                      "the block jumped back two thousand million times and does not end");
            return false;
        }
        if (!goes_on && !frame->depth)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ rows */

static uint64_t special_value(const warp_block *block, const warp_frame *frame, warp_special special, uint32_t lane)
{
    const smp_warp_launch *launch = block->launch;
    static const uint32_t none[3] = {1, 1, 1};
    const warp_cluster *cluster = block->cluster;
    const uint32_t *shape = cluster ? cluster->shape : none;
    const uint32_t t = warp_thread(frame, lane), bit = UINT32_C(1) << lane;
    switch (special) {
#define NAMED(name, spelling, value) NAMELESS(name, value)
#define NAMELESS(name, value)                                                                                          \
    case WARP_##name:                                                                                                  \
        return value;
#include "lab/machine/special_list.def"
    }
    return 0;
}

/* Zeroes the registers and fills the rows of constants and special registers. */
void warp_fill_rows(const warp_block *block, warp_frame *frame)
{
    const warp_code *code = frame->code;
    memset(frame->rows, 0, code->register_bytes);
    for (size_t i = 0; i < code->constant_count; i++) {
        const warp_constant *c = &code->constants[i];
        for (int l = 0; l < WARP_LANES; l++)
            if (c->wide)
                warp_longs(frame, c->row)[l] = c->bits;
            else
                warp_words(frame, c->row)[l] = (uint32_t)c->bits;
    }
    for (size_t i = 0; i < code->special_count; i++) {
        const warp_special_row *s = &code->specials[i];
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            const uint64_t value = special_value(block, frame, s->special, l) + s->add;
            if (s->wide)
                warp_longs(frame, s->row)[l] = value;
            else
                warp_words(frame, s->row)[l] = (uint32_t)value;
        }
    }
    warp_fill_bank_rows(block, frame);
}

/* ------------------------------------------------------------------------------------------------ blocks */

void warp_begin_block(warp_block *block, uint64_t index)
{
    const smp_warp_launch *launch = block->launch;
    enum { PATTERN = 0xa5 }; /* what shared memory holds before it is written */
    block->index = index;
    block->records = warp_records_block(launch, index);
    block->id[0] = (uint32_t)(index % launch->grid[0]);
    block->id[1] = (uint32_t)(index / launch->grid[0] % launch->grid[1]);
    block->id[2] = (uint32_t)(index / launch->grid[0] / launch->grid[1]);
    warp_order_all(block);
    block->order.first = block->order.interval;
    block->order.partial = block->order.acquired_any = block->order.flag_next = false;
    block->order.fenced = block->order.acquired_count = 0;
    warp_begin_turn(block);
    block->jumps = block->failed_waits = 0;
    block->again = (warp_again){.next = 0};
    block->look_at = 0; /* beginning a block takes time, too */
    block->block_deadline = launch->block_seconds > 0 ? smp_now() + launch->block_seconds : 0;
    if (block->observer)
        block->observer->begin(block->observer, block);
    memset(block->shared, PATTERN, block->shared_size);
    memset(block->barriers, 0, sizeof block->barriers);
    for (uint32_t w = 0; w < block->warps; w++) {
        warp_frame *frame = &block->frames[w];
        const uint32_t count = block->threads - w * WARP_LANES;
        memset(frame, 0, sizeof *frame);
        frame->code = block->code;
        frame->warp = w;
        frame->clustered = block->cluster != NULL;
        frame->rank = block->rank;
        frame->rows = block->register_file + (size_t)w * block->code->register_bytes;
        frame->local = block->local_file + (size_t)w * WARP_LANES * block->code->local_bytes;
        frame->live = frame->ready = count >= WARP_LANES ? WARP_ALL : (UINT32_C(1) << count) - 1;
        warp_fill_rows(block, frame);
    }
}

bool warp_step_block(warp_block *block, bool *spins)
{
    bool moved = false, waits = false, held = false;
    *spins = false;
    if (block->cluster)
        warp_cluster_wake(block);
    for (uint32_t w = 0; w < block->warps && !block->stop; w++) {
        warp_frame *frame = &block->frames[w];
        if (frame->ready || frame->at_members) {
            moved = true;
            warp_run_frame(block, frame);
            *spins = *spins || frame->ready;
        }
        waits = waits || frame->at_barrier;
        held = held || frame->at_cluster;
    }
    if (block->stop)
        return false;
    moved = warp_release_barriers(block) || moved;
    if (!moved && waits && !held)
        warp_report_deadlock(block);
    return moved;
}

void warp_run_block(warp_block *block, uint64_t index)
{
    bool spins;
    warp_begin_block(block, index);
    while (warp_step_block(block, &spins))
        if (block->alone)
            warp_look_again(block, NULL);
    if (block->observer)
        block->observer->end(block->observer);
}
