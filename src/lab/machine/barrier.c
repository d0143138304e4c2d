/* Barriers of a block: threads arrive, and are released when all that live, or as many as the instruction names, are
 * there. Threads that left before a barrier, or wait at another one, are a finding. A barrier orders what the warps
 * that arrive did before it, and what those that wait do behind it: no others. */
#include <string.h>

#include "lab/machine/rows.h"

/* mode of a barrier instruction */
enum { WAIT, ARRIVE_ONLY, COUNT_PREDICATES, ALL_PREDICATES, ANY_PREDICATE };

/* Orders an arriving warp's accesses so far, and those it knows of, before the warps that the barrier releases. Its
 * later accesses are not ordered: a warp that does not wait begins a new interval. */
static void tell(warp_block *block, warp_barrier *barrier, uint32_t warp, bool waits)
{
    warp_order *order = &block->order;
    if (!waits)
        order->interval++;
    for (uint32_t w = 0; w < block->warps; w++)
        if (barrier->before[w] < order->known[warp][w])
            barrier->before[w] = order->known[warp][w];
    barrier->before[warp] = waits ? order->interval + 1 : order->interval;
}

static void learn(warp_order *order, const warp_barrier *barrier, uint32_t warp, uint32_t warps)
{
    for (uint32_t w = 0; w < warps; w++)
        if (order->known[warp][w] < barrier->before[w])
            order->known[warp][w] = barrier->before[w];
}

static void release(warp_block *block, uint32_t id);
void warp_arrive(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t first = (uint32_t)__builtin_ctz(lanes);
    const uint32_t id = warp_words(frame, inst->s[0])[first];
    const uint32_t count = inst->sources > 1 ? warp_words(frame, inst->s[1])[first] : 0;
    if (id >= WARP_BARRIERS) {
        warp_stop(block, frame, inst, "there is no barrier %u: a block has %d", id, WARP_BARRIERS);
        return;
    }
    warp_barrier *barrier = &block->barriers[id];
    if (!barrier->arrived) {
        barrier->inst = inst->index;
        barrier->first_thread = warp_thread(frame, first);
        barrier->expected = count;
        barrier->mixed = false;
    } else if (barrier->inst != inst->index && !barrier->mixed) {
        barrier->mixed = true;
        barrier->other_inst = inst->index;
        barrier->other_thread = warp_thread(frame, first);
    }
    const bool waits = inst->mode != ARRIVE_ONLY;
    if (count || !waits)
        tell(block, barrier, frame->warp, waits);
    if (!waits || (count && count < block->threads))
        warp_note_pending(block);
    block->order.partial = block->order.partial || !waits || (count && count < block->threads);
    barrier->arrived += (uint32_t)warp_lanes_in(waits || lanes != frame->live ? lanes : WARP_ALL);
    if (waits) {
        barrier->waiting += (uint32_t)warp_lanes_in(lanes);
        frame->ready &= ~lanes;
        frame->at_barrier |= lanes;
        if (lanes == WARP_ALL)
            memset(frame->barrier, (int)id, sizeof frame->barrier);
        else
            WARP_ACTIVE_LANES(lanes)
        frame->barrier[l] = (uint8_t)id;
    }
    if (barrier->expected && barrier->arrived >= barrier->expected) /* the next to come are of its next round */
        release(block, id);
}

static uint32_t live_threads(const warp_block *block)
{
    uint32_t live = 0;
    for (uint32_t w = 0; w < block->warps; w++)
        live += (uint32_t)warp_lanes_in(block->frames[w].live);
    return live;
}

static uint32_t waiting_at(const warp_frame *frame, uint32_t id)
{
    uint32_t lanes = 0, others = 0;
    for (int l = 0; l < WARP_LANES && frame->at_barrier == WARP_ALL; l++)
        others |= frame->barrier[l] ^ id;
    if (frame->at_barrier == WARP_ALL && !others)
        return WARP_ALL;
    WARP_ACTIVE_LANES(frame->at_barrier)
    lanes |= (uint32_t)(frame->barrier[l] == id) << l;
    return lanes;
}

/* Barriers that count do so by warps: lanes that ended arrive with the others of their warp. */
static uint32_t brought(const warp_block *block, uint32_t id)
{
    uint32_t ended = 0;
    for (uint32_t w = 0; w < block->warps; w++) {
        const uint32_t live = block->frames[w].live;
        ended += live && waiting_at(&block->frames[w], id) == live ? (uint32_t)warp_lanes_in(~live) : 0;
    }
    return ended;
}

/* bar.red: the result goes to every thread. */
static void reduce_predicates(warp_block *block, uint32_t id)
{
    uint32_t true_ones = 0, all = 0;
    for (uint32_t w = 0; w < block->warps; w++) {
        warp_frame *frame = &block->frames[w];
        const uint32_t lanes = waiting_at(frame, id);
        WARP_ACTIVE_LANES(lanes)
        {
            const warp_inst *inst = &frame->code->insts[frame->pc[l] - 1];
            const uint32_t p = warp_pred(frame, inst->s[inst->sources]) >> l & 1;
            true_ones += inst->negate_source ? !p : p;
            all++;
        }
    }
    for (uint32_t w = 0; w < block->warps; w++) {
        warp_frame *frame = &block->frames[w];
        const uint32_t lanes = waiting_at(frame, id);
        WARP_ACTIVE_LANES(lanes)
        {
            const warp_inst *inst = &frame->code->insts[frame->pc[l] - 1];
            if (inst->mode == COUNT_PREDICATES) {
                warp_words(frame, inst->d[0])[l] = true_ones;
            } else if (inst->mode >= ALL_PREDICATES) {
                const uint32_t r = inst->mode == ALL_PREDICATES ? true_ones == all : true_ones > 0;
                uint32_t *mask = warp_words(frame, inst->d[0]);
                *mask = (*mask & ~(UINT32_C(1) << l)) | r << l;
            }
        }
    }
}

/* Threads that ended without this barrier: an early return, or a branch around it that ptxas may not reconverge before
 * it. Those of a warp that waits here are told apart, since no GPU releases its other lanes for sure. */
static void report_absent(warp_block *block, uint32_t id, uint32_t absent)
{
    const warp_barrier *barrier = &block->barriers[id];
    uint32_t beside = 0;
    char text[100] = "";
    for (uint32_t w = 0; w < block->warps; w++)
        if (waiting_at(&block->frames[w], id)) {
            const uint32_t threads = block->threads - w * WARP_LANES;
            beside += (threads < WARP_LANES ? threads : WARP_LANES) - (uint32_t)warp_lanes_in(block->frames[w].live);
        }
    if (beside)
        snprintf(text, sizeof text, " (%u of them are lanes of a warp of which others wait)", beside);
    warp_fault(block, SMP_WARP_BARRIER, barrier->inst, barrier->first_thread, UINT32_MAX, 0,
               "%u of the block's %u threads ended without this barrier%s; all must reach it", absent, block->threads,
               text);
}

static void release(warp_block *block, uint32_t id)
{
    warp_barrier *barrier = &block->barriers[id];
    const bool whole = !barrier->expected || barrier->waiting >= block->threads;
    if (block->insts[barrier->inst]->mode >= COUNT_PREDICATES)
        reduce_predicates(block, id);
    for (uint32_t w = 0; w < block->warps; w++) {
        warp_frame *frame = &block->frames[w];
        const uint32_t lanes = waiting_at(frame, id);
        frame->at_barrier &= ~lanes;
        frame->ready |= lanes;
        if (!lanes)
            continue;
        frame->turn = 0;
        if (!whole)
            learn(&block->order, barrier, w, block->warps);
    }
    memset(barrier, 0, sizeof *barrier);
    block->order.interval++;
    if (whole)
        block->order.floor = block->order.interval;
    else
        block->order.partial = true;
}

/* Releases what is complete; false: nothing is. */
bool warp_release_barriers(warp_block *block)
{
    const uint32_t live = live_threads(block);
    bool released = false;
    for (uint32_t id = 0; id < WARP_BARRIERS; id++) {
        const warp_barrier *barrier = &block->barriers[id];
        const uint32_t expected = barrier->expected ? barrier->expected : live;
        if (!barrier->arrived)
            continue;
        if (barrier->arrived < expected && (!barrier->expected || barrier->arrived + brought(block, id) < expected))
            continue;
        if (!barrier->expected && live < block->threads)
            report_absent(block, id, block->threads - live);
        if (!barrier->expected && barrier->mixed)
            warp_fault(block, SMP_WARP_BARRIER, barrier->inst, barrier->first_thread, barrier->other_inst,
                       barrier->other_thread, "threads of one block wait at different barriers");
        release(block, id);
        released = true;
    }
    return released;
}

void warp_report_deadlock(warp_block *block)
{
    for (uint32_t id = 0; id < WARP_BARRIERS; id++) {
        const warp_barrier *barrier = &block->barriers[id];
        if (!barrier->waiting)
            continue;
        const uint32_t live = live_threads(block);
        warp_fault(block, SMP_WARP_BARRIER, barrier->inst, barrier->first_thread, UINT32_MAX, 0,
                   "barrier %u waits for %u threads and %u arrived: the block hangs", id,
                   barrier->expected ? barrier->expected : live, barrier->arrived);
        warp_stop(block, &block->frames[0], block->insts[barrier->inst],
                  "barrier %u waits for %u threads and only %u arrive: the block hangs", id,
                  barrier->expected ? barrier->expected : live, barrier->arrived);
        return;
    }
}
