/* Clusters: the barrier of their blocks, and accesses to another block's shared memory. Two accesses by threads of
 * different blocks race unless a barrier of the cluster lies between them; those of one block, to another's memory,
 * also if one of their own block does. */
#include <string.h>

#include "lab/machine/cluster.h"

enum { ARRIVES, WAITS }; /* mode of a barrier instruction */

/* ------------------------------------------------------------------------------------------------ the barrier */

void warp_cluster_order(warp_block *block)
{
    if (block->cluster)
        block->cluster->epoch++;
}

/* Lanes of the block that wait for a phase that is over go on. */
void warp_cluster_wake(warp_block *block)
{
    const uint8_t phase = (uint8_t)block->cluster->phase;
    for (uint32_t w = 0; w < block->warps; w++) {
        warp_frame *frame = &block->frames[w];
        WARP_ACTIVE_LANES(frame->at_cluster)
        if (frame->cluster_phase[l] != phase) {
            frame->at_cluster &= ~(UINT32_C(1) << l);
            frame->cluster_arrived &= ~(UINT32_C(1) << l);
            frame->ready |= UINT32_C(1) << l;
        }
    }
    if (block->cluster_phase != block->cluster->phase) { /* it orders as a barrier of the block does */
        block->cluster_phase = block->cluster->phase;
        warp_order_all(block);
        for (uint32_t w = 0; w < block->warps; w++)
            block->frames[w].turn = 0;
    }
}

static void complete(warp_block *block)
{
    warp_cluster *c = block->cluster;
    if (!c->arrived || c->arrived < c->live)
        return;
    c->phase++;
    c->arrived = 0;
    warp_cluster_order(block);
    warp_cluster_wake(block);
}

void warp_cluster_barrier(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    warp_cluster *c = block->cluster;
    const uint32_t arrived = frame->cluster_arrived & lanes;
    if (inst->mode == ARRIVES ? arrived != 0 : arrived != lanes) {
        warp_stop(block, frame, inst, "a thread %s the cluster's barrier without %s it before",
                  inst->mode == ARRIVES ? "arrives at" : "waits at",
                  inst->mode == ARRIVES ? "having waited at" : "having arrived at");
        return;
    }
    if (inst->mode == ARRIVES) {
        frame->cluster_arrived |= lanes;
        WARP_ACTIVE_LANES(lanes)
        frame->cluster_phase[l] = (uint8_t)c->phase;
        c->arrived += (uint32_t)warp_lanes_in(lanes);
        complete(block);
        return;
    }
    frame->ready &= ~lanes;
    frame->at_cluster |= lanes;
    warp_cluster_wake(block);
}

/* Lanes that end are not waited for. */
void warp_cluster_exit(warp_block *block, const warp_frame *frame, uint32_t lanes)
{
    warp_cluster *c = block->cluster;
    WARP_ACTIVE_LANES(lanes & frame->cluster_arrived)
    c->arrived -= frame->cluster_phase[l] == (uint8_t)c->phase;
    c->live -= (uint32_t)warp_lanes_in(lanes);
    complete(block);
}

void warp_cluster_hangs(warp_block *block)
{
    const warp_cluster *c = block->cluster;
    for (uint32_t w = 0; w < block->warps; w++) {
        const warp_frame *frame = &block->frames[w];
        if (!frame->at_cluster)
            continue;
        const uint32_t lane = (uint32_t)__builtin_ctz(frame->at_cluster);
        const warp_inst *inst = &frame->code->insts[frame->pc[lane] - 1];
        warp_fault(block, SMP_WARP_BARRIER, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
                   "the cluster's barrier waits for %u threads and %u arrived: the cluster hangs", c->live, c->arrived);
        warp_stop(block, frame, inst, "the cluster's barrier waits for %u threads and only %u arrive: it hangs",
                  c->live, c->arrived);
        return;
    }
}

/* ------------------------------------------------------------------------------------------------ accesses */

uint32_t warp_same_member(const warp_block *block, uint32_t lanes, const uint32_t offset[WARP_LANES], uint32_t *rank)
{
    const uint32_t first = offset[__builtin_ctz(lanes)] >> WARP_RANK_SHIFT;
    uint32_t same = 0;
    WARP_ACTIVE_LANES(lanes)
    same |= (uint32_t)(offset[l] >> WARP_RANK_SHIFT == first) << l;
    *rank = block->cluster && first ? first - 1 : UINT32_MAX;
    return same;
}

unsigned char *warp_memory_of(const warp_block *block, uint32_t rank)
{
    return rank == UINT32_MAX            ? block->shared
           : rank < block->cluster->size ? block->cluster->members[rank].shared
                                         : NULL;
}

static warp_far_touch touch_of(const warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane,
                               bool atomic)
{
    return (warp_far_touch){.stamp = warp_stamp(block, frame, lane),
                            .epoch = block->cluster->epoch,
                            .inst = inst->index,
                            .rank = (uint16_t)block->rank,
                            .atomic = atomic};
}

/* Whether an earlier touch of the memory of block `of` is not ordered before another. Two of the block itself are
 * judged elsewhere (shared.c). */
static bool unordered(const warp_block *block, const warp_far_touch *before, const warp_far_touch *now, uint32_t of)
{
    if (before->epoch != now->epoch || (before->rank == now->rank && now->rank == of))
        return false;
    return before->rank != now->rank || warp_unordered(block, before->stamp, now->stamp);
}

static void race(warp_block *block, const warp_far_touch *before, const char *was, const char *is,
                 const warp_far_touch *now, uint32_t of, uint32_t granule)
{
    warp_fault(block, SMP_WARP_RACE, now->inst, (uint16_t)now->stamp, before->inst, (uint16_t)before->stamp,
               "one thread, of block %u of the cluster, %s and another %s byte %u of block %u's shared memory without "
               "a barrier of the cluster between them",
               now->rank, is, was, granule << block->granule_shift, of);
}

static void check(warp_block *block, const warp_far_touch *now, uint32_t of, uint32_t granule, warp_touching how,
                  bool same_value)
{
    warp_far *f = &block->cluster->members[of].far[granule];
    const char *is = how == WARP_READS ? "reads" : how == WARP_UPDATES ? "updates" : "writes";
    const warp_far_touch *const write = now->atomic && f->write.atomic ? &f->beneath : &f->write;
    if (unordered(block, write, now, of) && !same_value)
        race(block, write, write->atomic ? "updates" : "writes", is, now, of, granule);
    else if (how != WARP_READS) {
        const warp_far_touch *r = f->readers, *const end = r + (now->atomic ? 2 : 4);
        while (r < end && !unordered(block, r, now, of))
            r++;
        if (r < end)
            race(block, r, "reads", is, now, of, granule);
    }
    warp_far_touch *const reader = f->readers + (now->atomic ? 2 : 0);
    if (how == WARP_READS && reader->epoch == now->epoch &&
        (reader->rank != now->rank || reader[1].epoch != now->epoch))
        reader[1] = *reader;
    if (how != WARP_READS && now->atomic && !f->write.atomic)
        f->beneath = f->write;
    *(how == WARP_READS ? reader : &f->write) = *now;
}

/* Whether a store leaves the bytes as they are. */
static bool writes_same(const unsigned char *there, const warp_access *access, uint32_t lane)
{
    if (access->how != WARP_WRITES)
        return false;
    if (access->bytes)
        return !memcmp(there, access->bytes[lane], access->width);
    if (!access->values)
        return false;
    for (uint32_t i = 0; i < access->width / 4; i++)
        if (!access->values[i] || memcmp(there + 4 * i, &access->values[i][lane], 4) != 0)
            return false;
    return true;
}

static void check_lane(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane, uint32_t of,
                       uint32_t offset, const warp_access *access)
{
    const warp_far_touch now = touch_of(block, frame, inst, lane, access->how == WARP_UPDATES || inst->orderly);
    const bool same = writes_same(block->cluster->members[of].shared + offset, access, lane);
    const uint32_t last = (offset + access->width - 1) >> block->granule_shift;
    for (uint32_t at = offset >> block->granule_shift; at <= last; at++)
        check(block, &now, of, at, access->how, same);
}

void warp_check_near(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane, uint32_t offset,
                     const warp_access *access)
{
    check_lane(block, frame, inst, lane, block->rank, offset, access);
}

bool warp_written_far(const warp_block *block, uint32_t granule)
{
    const warp_cluster *c = block->cluster;
    return c && c->members[block->rank].far[granule].write.epoch >= c->first_epoch;
}

static bool is_written(const warp_block *block, uint32_t of, uint32_t granule)
{
    const warp_cluster *c = block->cluster;
    const warp_member *m = &c->members[of];
    return m->granules[granule].write.stamp >> 32 >= m->first_interval || m->far[granule].write.epoch >= c->first_epoch;
}

static void tell_ended(warp_block *block, const warp_member *m, uint32_t of)
{
    const warp_far_touch *const touch = &m->last;
    if (warp_fault_again(block, SMP_WARP_RACE, touch->inst, UINT32_MAX))
        return;
    warp_fault(block, SMP_WARP_RACE, touch->inst, (uint16_t)touch->stamp, UINT32_MAX, 0,
               "accesses shared memory of block %u of the cluster, which may have ended: a barrier of the cluster must "
               "come before its end",
               of);
    if (block->fault_count)
        block->faults[block->fault_count - 1].block = block->faults[block->fault_count - 1].other_block = m->last_block;
}

static uint32_t lanes_inside(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, uint32_t rank,
                             const uint32_t offset[WARP_LANES], const warp_access *access)
{
    const char *doing = access->how == WARP_READS ? "reads" : access->how == WARP_WRITES ? "writes" : "updates";
    uint32_t inside = 0;
    WARP_ACTIVE_LANES(lanes)
    {
        const uint32_t at = offset[l] & WARP_PLACE_MASK;
        if ((uint64_t)at + access->width > block->shared_size)
            warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "%s %u bytes at byte %u of shared memory of block %u of the cluster, of which it has %u", doing,
                       access->width, at, rank, block->shared_size);
        else if (at % access->width)
            warp_fault(block, SMP_WARP_MISALIGNED, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "%s %u bytes at byte %u of shared memory of block %u of the cluster, no multiple of %u", doing,
                       access->width, at, rank, access->width);
        else
            inside |= UINT32_C(1) << l;
    }
    return inside;
}

uint32_t warp_touch_far(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, uint32_t rank,
                        const uint32_t offset[WARP_LANES], const warp_access *access)
{
    warp_count *count = &block->counts[inst->index];
    if (rank >= block->cluster->size) {
        warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, (uint32_t)__builtin_ctz(lanes)), UINT32_MAX,
                   0, "accesses shared memory of block %u of the cluster, which has %u blocks", rank,
                   block->cluster->size);
        return 0;
    }
    warp_member *m = &block->cluster->members[rank];
    count->seen_space |= 1 << SMP_WARP_SHARED;
    count->in[SMP_WARP_SHARED].instructions++;
    count->in[SMP_WARP_SHARED].lanes += (uint32_t)warp_lanes_in(lanes);
    count->far = true;
    lanes = lanes_inside(block, frame, inst, lanes, rank, offset, access);
    if (!lanes || block->code->counts_only)
        return lanes;
    m->was_reached = true;
    m->last = touch_of(block, frame, inst, (uint32_t)__builtin_ctz(lanes), false);
    m->last_block = block->index;
    if (m->ended)
        tell_ended(block, m, rank);
    WARP_ACTIVE_LANES(lanes)
    {
        const uint32_t at = offset[l] & WARP_PLACE_MASK;
        if (access->how != WARP_WRITES && !is_written(block, rank, at >> block->granule_shift))
            warp_fault(block, SMP_WARP_UNINITIALISED, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "reads byte %u of shared memory of block %u of the cluster, which nobody has written", at, rank);
        check_lane(block, frame, inst, l, rank, at, access);
    }
    return lanes;
}

void warp_count_once(warp_block *block, const warp_inst *inst, uint64_t before)
{
    uint64_t *const count = &block->counts[inst->index].in[SMP_WARP_SHARED].instructions;
    *count = *count > before ? before + 1 : before;
}

void warp_leave_cluster(warp_block *block)
{
    warp_member *m = &block->cluster->members[block->rank];
    m->ended = true;
    if (m->was_reached && m->last.epoch == block->cluster->epoch)
        tell_ended(block, m, block->rank);
}
