/* Accesses of whole warps that lie as the instruction's last one did: by far the most. What such an access costs and
 * how its bytes move is known by then. rows.c is compiled once for each instruction set; the results are the same. */
#pragma once

#include "lab/machine/memo.h"

/* What became of a load: nothing, as it lies otherwise; nothing yet, it lies alike; words were loaded that are to be
 * looked at; all; all, and what is pending is to be noted. */
typedef enum warp_loaded {
    WARP_LOADED_NOT,
    WARP_LOADED_NEXT,
    WARP_LOADED_NEWS,
    WARP_LOADED,
    WARP_LOADED_LAST
} warp_loaded;

struct warp_row_functions {
    /* A load of shared memory by a whole warp whose memo is plain; then, by what that returns, all that is left to do,
     * and looking at what was read. */
    warp_loaded (*load)(warp_block *block, warp_frame *frame, const warp_inst *inst, warp_memo *memo);
    void (*load_alike)(warp_block *block, warp_frame *frame, const warp_inst *inst);
    void (*look_at_reads)(warp_block *block, const warp_frame *frame, const warp_inst *inst);
    /* A store of shared memory by a whole warp. False: nothing was done, the last one was not plain, or lay otherwise.
     */
    bool (*store)(warp_block *block, warp_frame *frame, const warp_inst *inst);
    bool (*global)(warp_block *block, warp_frame *frame, const warp_inst *inst, const warp_access *access,
                   const uint64_t address[WARP_LANES]);
    /* Races of reads of one granule a lane. */
    void (*check_reads)(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                        const uint32_t offset[WARP_LANES]);
    void (*note_pending)(warp_block *block);
};
extern const struct warp_row_functions warp_row_functions_base, warp_row_functions_v3;
#ifdef SMP_WARP_V3
#define WARP_FOR_ISA(name)                                                                                             \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? name##_v3     \
                                                                                                       : name##_base)
#else
#define WARP_FOR_ISA(name) name##_base
#endif

/* Before shared memory is written or read otherwise, and before what instructions remember of their accesses changes.
 */
static inline void warp_note_pending(warp_block *block)
{
    if (block->pending.count && block->pending.floor == block->order.floor)
        block->rows->note_pending(block);
}

/* A load of shared memory by a whole warp. False: nothing was done, the last one was not plain, or lay otherwise. */
static inline bool warp_load_again(warp_block *block, warp_frame *frame, const warp_inst *inst)
{
    warp_memo *memo = &block->memos[inst->index];
    const warp_loaded was = memo->plain ? block->rows->load(block, frame, inst, memo) : WARP_LOADED_NOT;
    if (was == WARP_LOADED)
        return true;
    if (was == WARP_LOADED_LAST)
        block->rows->note_pending(block);
    else if (was == WARP_LOADED_NEXT)
        block->rows->load_alike(block, frame, inst);
    else if (was == WARP_LOADED_NEWS)
        block->rows->look_at_reads(block, frame, inst);
    return was != WARP_LOADED_NOT;
}

/* Counts the accesses of an instruction that lay as its last one did, and are not counted yet. */
static inline void warp_settle_count(warp_block *block, uint32_t index)
{
    warp_memo *memo = &block->memos[index];
    warp_sums *sums = &block->counts[index].in[SMP_WARP_SHARED];
    const uint64_t count = memo->again;
    memo->again = 0;
    sums->instructions += count;
    sums->lanes += count * WARP_LANES;
    sums->wavefronts += count * (uint32_t)memo->cost.wavefronts;
    sums->ideal += count * (uint32_t)memo->cost.ideal;
    sums->packed += count * (uint32_t)memo->cost.packed;
    sums->conflicts += count * (uint32_t)memo->cost.conflicts;
}

/* Counts an access to global memory by so many lanes. */
static inline void warp_count_global(warp_count *count, const warp_memo *memo, uint32_t active)
{
    enum { SECTOR = 32 };
    warp_sums *sums = &count->in[SMP_WARP_GLOBAL];
    const uint32_t ideal = (active * memo->width + SECTOR - 1) / SECTOR;
    count->seen_space |= 1 << SMP_WARP_GLOBAL;
    sums->instructions++;
    sums->lanes += active;
    sums->sectors += memo->sectors;
    sums->sectors_ideal += ideal < memo->sectors ? ideal : memo->sectors;
    if (memo->stride && ideal < memo->sectors) {
        count->strided += memo->sectors - ideal;
        count->stride = count->stride && count->stride < memo->stride ? count->stride : memo->stride;
    }
}

/* shared.c: a read that may be a mistake. memory.c: whether all lanes access one buffer, the last one or another. */
void warp_check_read(warp_block *block, uint32_t at, const warp_touch *now);
bool warp_in_buffer(warp_block *block, uint64_t low, uint64_t high, uint32_t width);

/* ------------------------------------------------------------------------------------------------ touches */

static inline uint32_t warp_interval_of(const warp_touch *touch)
{
    return (uint32_t)(touch->stamp >> 32);
}
/* Of cp.async the number of its group; 0: it is no copy. */
static inline uint32_t warp_copy_of(const warp_touch *touch)
{
    return touch->how >> 1;
}
static inline uint32_t warp_thread_of(const warp_touch *touch)
{
    return (uint32_t)touch->stamp & 0xffff;
}

/* Whether the readers that are known race with every writer that a further reader would race with: two of different
 * warps do, and so do two threads of this warp that read in this turn. A barrier of some warps may order one of them.
 */
static inline bool warp_readers_suffice(const warp_block *block, const warp_readers *known, uint64_t now)
{
    const uint64_t read = known->read.stamp, other = known->other.stamp;
    if (read >> 32 < block->order.floor || other >> 32 < block->order.floor || block->order.partial)
        return false;
    if ((uint16_t)read / WARP_LANES != (uint16_t)other / WARP_LANES)
        return true;
    return read / WARP_LANES == now / WARP_LANES && other / WARP_LANES == now / WARP_LANES && read != other;
}

static inline void warp_note_read(warp_block *block, uint32_t at, const warp_touch *now)
{
    const bool atomic = now->how & 1;
    warp_readers *known = atomic ? &block->granules[at].atomic : &block->granules[at].plain;
    const uint32_t floor = block->order.floor;
    if (warp_readers_suffice(block, known, now->stamp))
        return;
    if (warp_interval_of(&known->read) >= floor && warp_thread_of(&known->read) != warp_thread_of(now)) {
        const uint32_t own = warp_thread_of(now) / WARP_LANES;
        const bool same_warp = warp_thread_of(&known->read) / WARP_LANES == own;
        const bool other_kept =
            warp_interval_of(&known->other) >= floor && warp_thread_of(&known->other) / WARP_LANES != own;
        if (!same_warp || !other_kept)
            known->other = known->read;
    }
    known->read = *now;
    if (atomic)
        block->order.atomic_read = floor;
    else if (block->times.read)
        block->times.read[at] = warp_interval_of(now);
}

static inline void warp_note_write(const warp_block *block, uint32_t at, const warp_touch *now)
{
    warp_granule *g = &block->granules[at];
    if (now->how & ~g->write.how & 1)
        g->beneath = g->write;
    g->write = *now;
    if (!block->times.settled)
        return;
    block->times.written[at] = warp_copy_of(now) ? UINT32_MAX : warp_interval_of(now);
    block->times.settled[at] = 0;
}
