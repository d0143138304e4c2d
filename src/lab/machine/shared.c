/* Shared memory: what an access costs in wavefronts, and whether it races, reads what nobody wrote or leaves the
 * block's memory. Two accesses of different threads to one place, at least one of them a write, race unless a barrier
 * lies between them or, within a warp, a __syncwarp of both. */
#include <string.h>

#include "lab/machine/cluster.h"
#include "lab/machine/rows.h"

/* The cost of an access, from the last one of this instruction where the lanes lie alike: all its addresses moved by
 * the same number of words only turn the banks. */
static const smp_bank_cost *cost_of(warp_block *block, uint32_t index, const smp_bank_access *access)
{
    warp_memo *memo = &block->memos[index];
    const uint32_t first = (uint32_t)__builtin_ctz(access->active), base = access->offset[first];
    const uint32_t phase = access->width < SMP_BANK_BYTES ? base % SMP_BANK_BYTES : 0;
    uint32_t delta[WARP_LANES], differs = 0;
    for (int l = 0; l < WARP_LANES; l++) /* whole warps are most, and this is without shifts of each lane's own */
        delta[l] = access->offset[l] - base;
    for (int l = 0; l < WARP_LANES && access->active != WARP_ALL; l++)
        delta[l] &= 0 - (access->active >> l & 1);
    for (int l = 0; l < WARP_LANES; l++)
        differs |= delta[l] ^ memo->delta[l];
    if (!differs && memo->known == 1 && memo->active == access->active && memo->op == (uint8_t)access->op &&
        memo->width == (uint8_t)access->width && memo->phase == phase && access->op != SMP_BANK_ASYNC &&
        access->op != SMP_BANK_ASYNC_L2)
        return &memo->cost;
    warp_note_pending(block);
    warp_settle_count(block, index);
    memcpy(memo->delta, delta, sizeof delta);
    memo->known = 1;
    memo->active = access->active;
    memo->op = (uint8_t)access->op;
    memo->width = (uint8_t)access->width;
    memo->phase = phase;
    memo->lie = (uint8_t)warp_lie_of(memo);
    memo->hash = 0;
    memo->leaders = 0;
    memo->plain = false;
    warp_shape_memo(memo);
    memo->cost = smp_bank_cost_of(access);
    return &memo->cost;
}

void warp_count_shared(warp_block *block, uint32_t index, const smp_bank_access *access)
{
    warp_count *count = &block->counts[index];
    const smp_bank_cost *cost = cost_of(block, index, access);
    warp_sums *sums = &count->in[SMP_WARP_SHARED];
    sums->wavefronts += (uint32_t)cost->wavefronts;
    sums->ideal += (uint32_t)cost->ideal;
    sums->packed += (uint32_t)cost->packed;
    sums->conflicts += (uint32_t)cost->conflicts;
    if (block->records)
        warp_record(block, index, access, cost->wavefronts);
    if ((uint64_t)cost->wavefronts * count->worst_ideal > (uint64_t)count->worst_wavefronts * (uint32_t)cost->ideal ||
        !count->worst_ideal) {
        count->worst_wavefronts = (uint32_t)cost->wavefronts;
        count->worst_ideal = (uint32_t)cost->ideal;
        count->worst_active = access->active;
        count->worst_op = access->op;
        memcpy(count->worst_offset, access->offset, sizeof count->worst_offset);
    }
}

/* ------------------------------------------------------------------------------------------------ races */

static inline bool is_atomic(const warp_touch *touch)
{
    return touch->how & 1;
}
/* The write that an access races with, of the last one and, for an atomic access, the plain one before atomic ones;
 * null: there is none. */
static inline const warp_touch *racing_write(const warp_block *block, const warp_granule *g, const warp_touch *now)
{
    if (!is_atomic(now) || !is_atomic(&g->write))
        return warp_unordered(block, g->write.stamp, now->stamp) ? &g->write : NULL;
    return warp_unordered(block, g->beneath.stamp, now->stamp) ? &g->beneath : NULL;
}

/* "s[12]", "byte 48 of shared memory" */
static void place_text(const warp_block *block, uint32_t offset, char *text, size_t size)
{
    const warp_code *code = block->code;
    for (size_t i = 0; i < code->array_count; i++) {
        const warp_shared_array *a = &code->arrays[i];
        if (offset >= a->offset && (offset - a->offset < a->size || (!a->size && offset >= block->dynamic_base))) {
            snprintf(text, size, "byte %u of '%s'", offset - (a->size ? a->offset : block->dynamic_base), a->name);
            return;
        }
    }
    snprintf(text, size, "byte %u of shared memory", offset);
}

static void race(warp_block *block, const warp_touch *before, const char *was, const char *is, uint32_t index,
                 uint32_t thread, uint32_t granule)
{
    char place[120];
    if (warp_fault_again(block, SMP_WARP_RACE, index, before->inst))
        return;
    place_text(block, granule << block->granule_shift, place, sizeof place);
    warp_fault(block, SMP_WARP_RACE, index, thread, before->inst, warp_thread_of(before),
               "one thread %s and another %s %s without a barrier between them", is, was, place);
}

static void uninitialised(warp_block *block, const warp_touch *now, const char *does, uint32_t granule)
{
    char place[120];
    if (warp_fault_again(block, SMP_WARP_UNINITIALISED, now->inst, UINT32_MAX))
        return;
    place_text(block, granule << block->granule_shift, place, sizeof place);
    warp_fault(block, SMP_WARP_UNINITIALISED, now->inst, warp_thread_of(now), UINT32_MAX, 0,
               "%s %s, which the block has not written", does, place);
}

/* Whether the thread that issued an asynchronous copy has not waited for it. */
static inline bool is_pending(const warp_block *block, const warp_touch *write)
{
    const uint32_t thread = warp_thread_of(write);
    return warp_copy_of(write) && warp_interval_of(write) >= block->order.first &&
           warp_copy_of(write) > block->frames[thread / WARP_LANES].waited[thread % WARP_LANES];
}

/* What a copy may not have brought yet, or may overwrite. */
static void early(warp_block *block, const warp_granule *g, const warp_touch *now, const char *does, uint32_t granule)
{
    char place[120];
    if (warp_fault_again(block, SMP_WARP_RACE, now->inst, g->write.inst))
        return;
    place_text(block, granule << block->granule_shift, place, sizeof place);
    warp_fault(block, SMP_WARP_RACE, now->inst, warp_thread_of(now), g->write.inst, warp_thread_of(&g->write),
               "%s %s before its thread has waited for the copy (cp.async) into it", does, place);
}

static bool is_written(const warp_block *block, uint32_t granule)
{
    return warp_interval_of(&block->granules[granule].write) >= block->order.first || warp_written_far(block, granule);
}

/* Structures are copied with their padding: what lies beside written bytes in a load whose value is stored alone. */
static bool is_padding(const warp_block *block, uint32_t granule, const warp_inst *inst)
{
    const uint32_t count = ((uint32_t)inst->width * inst->vec) >> block->granule_shift;
    bool written = false;
    for (uint32_t i = 0; i < count && inst->copies; i++)
        written = written || is_written(block, (granule & ~(count - 1)) + i);
    return written;
}

void warp_check_read(warp_block *block, uint32_t granule, const warp_touch *now)
{
    const warp_granule *g = &block->granules[granule];
    const warp_touch *write = racing_write(block, g, now);
    if (!is_written(block, granule) && is_padding(block, granule, block->insts[now->inst]))
        return;
    if (!is_written(block, granule))
        uninitialised(block, now, "reads", granule);
    else if (is_pending(block, &g->write))
        early(block, g, now, "reads", granule);
    else if (write)
        race(block, write, is_atomic(write) ? "updates" : "writes", "reads", now->inst, warp_thread_of(now), granule);
    warp_note_read(block, granule, now);
}

static void check_write(warp_block *block, warp_granule *g, const warp_touch *now, uint32_t granule, bool same_value)
{
    const char *is = is_atomic(now) ? "updates" : "writes";
    const warp_touch *write = racing_write(block, g, now);
    if (!warp_copy_of(now) && is_pending(block, &g->write))
        early(block, g, now, is, granule);
    else if (write && !same_value)
        race(block, write, is_atomic(write) ? "updates" : "writes", is, now->inst, warp_thread_of(now), granule);
    else {
        const warp_touch *const readers[] = {&g->plain.read, &g->plain.other, &g->atomic.read, &g->atomic.other};
        for (int i = 0, count = is_atomic(now) ? 2 : 4; i < count; i++)
            if (warp_unordered(block, readers[i]->stamp, now->stamp)) {
                race(block, readers[i], "reads", is, now->inst, warp_thread_of(now), granule);
                break;
            }
    }
    warp_note_write(block, granule, now);
}

static void check_update(warp_block *block, warp_granule *g, const warp_touch *now, uint32_t granule)
{
    if (!is_written(block, granule) && !block->insts[now->inst]->replaces)
        uninitialised(block, now, "updates", granule);
    check_write(block, g, now, granule, false);
}

/* Whether a store leaves the granule as it is: several threads that write one value are no mistake. */
static bool writes_same(const warp_block *block, const warp_access *access, uint32_t lane, uint32_t offset,
                        uint32_t granule)
{
    const uint32_t at = granule << block->granule_shift;
    if (access->bytes)
        return !memcmp(block->shared + at, access->bytes[lane] + (at - offset), (size_t)1 << block->granule_shift);
    if (!access->values)
        return false;
    const uint32_t element = ((granule << block->granule_shift) - offset) / 4;
    uint32_t there;
    memcpy(&there, block->shared + offset + 4 * element, 4);
    return access->values[element] && access->values[element][lane] == there;
}

static void check_lane(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, uint32_t offset,
                       const warp_access *access)
{
    const bool copies = inst->kind == WARP_COPIES && access->how == WARP_WRITES && !frame->depth;
    const bool atomic = access->how == WARP_UPDATES || inst->orderly;
    const warp_touch now = {warp_stamp(block, frame, lane), inst->index,
                            (copies ? (frame->groups[lane] + 1) << 1 : 0) | atomic};
    const uint32_t last = (offset + access->width - 1) >> block->granule_shift;
    warp_note_pending(block);
    for (uint32_t at = offset >> block->granule_shift; at <= last; at++) {
        warp_granule *g = &block->granules[at];
        if (access->how == WARP_READS)
            warp_check_read(block, at, &now);
        else if (access->how == WARP_UPDATES)
            check_update(block, g, &now, at);
        else {
            const bool alone = !warp_unordered(block, g->write.stamp, now.stamp);
            check_write(block, g, &now, at, alone || writes_same(block, access, lane, offset, at));
            /* the value is there at once, so that the next lane of this instruction compares with it */
            if (access->bytes) { /* of this granule alone: the next one is compared first */
                const uint32_t begin = at << block->granule_shift;
                memcpy(block->shared + begin, access->bytes[lane] + (begin - offset),
                       (size_t)1 << block->granule_shift);
            } else if (access->values && access->granule == 4) {
                const uint32_t element = ((at << block->granule_shift) - offset) / 4;
                if (access->values[element])
                    memcpy(block->shared + offset + 4 * element, &access->values[element][lane], 4);
            }
        }
    }
}

void warp_check_shared(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, uint32_t offset,
                       uint32_t bytes, warp_touching how)
{
    const warp_access access = {.how = how, .width = bytes};
    if (!bytes || block->code->counts_only)
        return;
    if (block->cluster)
        warp_check_near(block, frame, inst, lane, offset, &access);
    check_lane(block, frame, inst, lane, offset, &access);
}

/* ------------------------------------------------------------------------------------------------ accesses */

/* Whether it declares extern __shared__ and got none. */
static bool wants_dynamic(const warp_block *block)
{
    bool declares = false;
    for (size_t i = 0; i < block->code->array_count; i++)
        declares = declares || !block->code->arrays[i].size;
    return declares && !block->launch->dynamic_shared;
}

static uint32_t lanes_inside(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                             const uint32_t offset[WARP_LANES], const warp_access *access)
{
    uint32_t inside = 0;
    const char *lacks = wants_dynamic(block) ? "; its launch gives no dynamic shared memory: --shared BYTES, shared=, "
                                               "or <<<grid, block, bytes>>>"
                                             : "";
    const char *doing = access->how == WARP_READS ? "reads" : access->how == WARP_WRITES ? "writes" : "updates";
    WARP_ACTIVE_LANES(lanes)
    {
        if ((uint64_t)offset[l] + access->width > block->shared_size)
            warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "%s %u bytes at byte %d of shared memory, of which the block has %u%s", doing, access->width,
                       (int)offset[l], block->shared_size, lacks);
        else if (offset[l] % access->width)
            warp_fault(block, SMP_WARP_MISALIGNED, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "%s %u bytes at byte %u of shared memory, no multiple of %u", doing, access->width, offset[l],
                       access->width);
        else
            inside |= UINT32_C(1) << l;
    }
    return inside;
}

uint32_t warp_touch_copy(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                         const uint32_t offset[WARP_LANES], const warp_access *access, smp_bank_access *banks)
{
    warp_count *count = &block->counts[inst->index];
    uint32_t mixed = 0, high = 0; /* at least the highest offset */
    for (int l = 0; l < WARP_LANES && lanes == WARP_ALL; l++)
        mixed |= offset[l];
    if (lanes != WARP_ALL)
        WARP_ACTIVE_LANES(lanes)
    mixed |= offset[l];
    high = mixed & (0 - access->width);
    if ((uint64_t)high + access->width > block->shared_size) {
        high = 0;
        WARP_ACTIVE_LANES(lanes)
        high = offset[l] > high ? offset[l] : high;
    }
    count->seen_space |= 1 << SMP_WARP_SHARED;
    count->in[SMP_WARP_SHARED].instructions++;
    count->in[SMP_WARP_SHARED].lanes += (uint32_t)warp_lanes_in(lanes);
    if ((uint64_t)high + access->width > block->shared_size || mixed & (access->width - 1))
        lanes = lanes_inside(block, frame, inst, lanes, offset, access);
    if (!lanes)
        return 0;
    banks->active = lanes;
    warp_count_shared(block, inst->index, banks);
    if (block->code->counts_only)
        return lanes;
    if (block->cluster)
        WARP_ACTIVE_LANES(lanes)
    warp_check_near(block, frame, inst, l, offset[l], access);
    if (access->how == WARP_READS)
        block->rows->check_reads(block, frame, inst, lanes, offset);
    else
        WARP_ACTIVE_LANES(lanes)
    check_lane(block, frame, inst, l, offset[l], access);
    return lanes;
}

uint32_t warp_touch_shared(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                           const uint32_t offset[WARP_LANES], const warp_access *access)
{
    smp_bank_access banks;
    banks.op = access->op;
    banks.width = (int)access->width;
    banks.through_l1 = 0;
    memcpy(banks.offset, offset, sizeof banks.offset);
    return warp_touch_copy(block, frame, inst, lanes, offset, access, &banks);
}
