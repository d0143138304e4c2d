/* Accesses to memory: addresses, what the machine counts and checks of them, then the bytes. */
#include <string.h>

#include "lab/machine/cluster.h"
#include "lab/machine/rows.h"
#include "lab/ptx/execute.h"
#include "lab/ptx/half.h"

warp_space ptx_space_of(uint64_t address)
{
    switch (address & WARP_WINDOW_MASK) {
    case WARP_SHARED_WINDOW:
        return WARP_SHARED;
    case WARP_LOCAL_WINDOW:
        return WARP_LOCAL;
    case WARP_PARAM_WINDOW:
        return WARP_PARAM;
    default:
        return WARP_GLOBAL;
    }
}

const warp_frame *ptx_frame_of(const warp_frame *frame, uint64_t *offset)
{
    const uint64_t owner = *offset >> WARP_DEPTH_SHIFT;
    *offset &= (UINT64_C(1) << WARP_DEPTH_SHIFT) - 1;
    while (owner && frame->depth + 1 > owner && frame->caller)
        frame = frame->caller;
    return frame;
}

unsigned char *ptx_local(const warp_frame *frame, uint32_t lane, uint64_t offset)
{
    frame = ptx_frame_of(frame, &offset);
    return frame->local + (size_t)lane * frame->code->local_bytes + (size_t)offset;
}

/* In clusters the hardware has a block's rank in the upper bits, of its own addresses too. */
static uint32_t place_of(const warp_frame *frame, uint32_t address)
{
    if (!frame->clustered)
        return address;
    const uint32_t rank = address >> WARP_RANK_SHIFT, place = address & WARP_PLACE_MASK;
    return rank == frame->rank ? place : place | (rank + 1) << WARP_RANK_SHIFT;
}

/* SASS: a row of low words, one of high words behind it, a uniform row and a constant. Addresses of shared memory are
 * of 32 bits and begin at `bias`, also in their window. */
void ptx_addresses_of_parts(const warp_frame *frame, const warp_inst *inst, uint32_t row, uint32_t add,
                            warp_space space, bool wide, int64_t offset, uint64_t address[WARP_LANES])
{
    enum { WORD_ROW = 4 * WARP_LANES };
    const uint32_t *low = warp_words(frame, row), *high = warp_words(frame, row + WORD_ROW);
    for (int l = 0; l < WARP_LANES; l++)
        address[l] = (low[l] << inst->scale | (wide ? (uint64_t)high[l] << 32 : 0)) + (uint64_t)offset;
    if (add != WARP_NO_ROW) {
        const uint32_t *more = warp_words(frame, add), *most = warp_words(frame, add + WORD_ROW);
        for (int l = 0; l < WARP_LANES; l++)
            address[l] += more[l] | (inst->add_wide ? (uint64_t)most[l] << 32 : 0);
    }
    if (space == WARP_SHARED)
        for (int l = 0; l < WARP_LANES; l++)
            address[l] = place_of(frame, (uint32_t)(address[l] - inst->bias));
    else if (space == WARP_LOCAL)
        for (int l = 0; l < WARP_LANES; l++)
            address[l] = (uint32_t)address[l];
    else if (space == WARP_GENERIC)
        for (int l = 0; l < WARP_LANES; l++)
            if (ptx_space_of(address[l]) == WARP_SHARED)
                address[l] = WARP_SHARED_WINDOW | place_of(frame, (uint32_t)(address[l] - inst->bias));
}

void ptx_addresses(const warp_frame *frame, const warp_inst *inst, int slot, bool wide, int64_t offset,
                   uint64_t address[WARP_LANES])
{
    if (inst->parts) {
        ptx_addresses_of_parts(frame, inst, inst->s[slot], inst->add, (warp_space)inst->space, wide, offset, address);
    } else if (wide) {
        const uint64_t *row = warp_longs(frame, inst->s[slot]);
        for (int l = 0; l < WARP_LANES; l++)
            address[l] = row[l] + (uint64_t)offset;
    } else {
        const uint32_t *row = warp_words(frame, inst->s[slot]);
        for (int l = 0; l < WARP_LANES; l++)
            address[l] = row[l] + (uint32_t)offset; /* of 32 bits: s[127 - t] begins below 0 */
    }
}

static void load_bytes(warp_frame *frame, const warp_inst *inst, uint32_t lane, const unsigned char *from)
{
    for (uint32_t i = 0; i < inst->vec; i++, from += inst->width) {
        uint64_t value = 0;
        if (inst->d[i] == WARP_NO_ROW)
            continue;
        switch (inst->width) {
        case 1:
            value = inst->type == PTX_S8 ? (uint64_t)(int64_t)(int8_t)from[0] : from[0];
            break;
        case 2: {
            uint16_t half;
            memcpy(&half, from, 2);
            value = inst->type == PTX_S16 ? (uint64_t)(int64_t)(int16_t)half : half;
            break;
        }
        case 4: {
            uint32_t word;
            memcpy(&word, from, 4);
            value = inst->type == PTX_S32 ? (uint64_t)(int64_t)(int32_t)word : word;
            break;
        }
        default:
            memcpy(&value, from, 8);
        }
        if (inst->source_wide)
            warp_longs(frame, inst->d[i])[lane] = value;
        else
            warp_words(frame, inst->d[i])[lane] = (uint32_t)value;
    }
}

static void store_bytes(const warp_frame *frame, const warp_inst *inst, uint32_t lane, unsigned char *to)
{
    for (uint32_t i = 0; i < inst->vec; i++, to += inst->width) {
        const uint64_t value =
            inst->source_wide ? warp_longs(frame, inst->s[1 + i])[lane] : warp_words(frame, inst->s[1 + i])[lane];
        memcpy(to, &value, inst->width);
    }
}

/* An acquire in shared memory orders what was done before it and after it, as a barrier of the block does: mistakes
 * that other threads make are not found, and none is told that is not there. */
static void acquire(warp_block *block, const warp_inst *inst)
{
    if (!inst->acquires)
        return;
    warp_order_all(block);
    warp_cluster_order(block);
}

/* A fence behind a swap is an acquire: of a lock, whose owner before let it go behind a fence. */
void ptx_run_fence(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    if (inst->mode && block->watch)
        warp_watch_fence(block);
    if (!(frame->tried & lanes))
        return;
    frame->tried &= ~lanes;
    warp_order_all(block);
    warp_cluster_order(block);
}

/* Whether a lane's bytes lie in its local memory. */
static bool local_inside(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, uint64_t offset,
                         uint32_t bytes)
{
    const warp_frame *owner = ptx_frame_of(frame, &offset);
    if (offset <= owner->code->local_bytes && bytes <= owner->code->local_bytes - offset)
        return true;
    warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
               "accesses byte %llu of its local memory, of which a thread has %u", (unsigned long long)offset,
               owner->code->local_bytes);
    return false;
}

/* Words of lanes that were counted. shared: where their addresses begin, of 32 bits; null: they are the host's. */
static void pass_words(warp_frame *frame, const warp_inst *inst, uint32_t lanes, const unsigned char *shared,
                       const uint64_t address[WARP_LANES], bool load)
{
    const uint64_t mask = shared ? UINT32_MAX : UINT64_MAX;
    for (uint32_t i = 0; i < inst->vec; i++) {
        const uint64_t base = (uint64_t)(uintptr_t)shared + 4 * i;
        const uint32_t row = load ? inst->d[i] : inst->s[1 + i];
        if (row == WARP_NO_ROW)
            continue;
        uint32_t *words = warp_words(frame, row);
        WARP_ACTIVE_LANES(lanes)
        {
            void *at = (void *)(uintptr_t)(base + (address[l] & mask));
            memcpy(load ? &words[l] : at, load ? at : &words[l], sizeof *words);
        }
    }
}

/* The place in shared memory: 32 bits of an address of that space; a generic one may lie outside the window. */
static uint32_t shared_offset(const warp_inst *inst, uint64_t address)
{
    const bool outside = inst->space == WARP_GENERIC && (address & ~WARP_WINDOW_MASK) > UINT32_MAX;
    return outside ? UINT32_MAX : (uint32_t)address;
}

/* Shared memory of the blocks of a cluster, each block's apart. */
static void access_members(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                           const uint32_t offset[WARP_LANES], const warp_access *access, bool load)
{
    const uint64_t before = block->counts[inst->index].in[SMP_WARP_SHARED].instructions;
    while (lanes) {
        uint32_t rank;
        const uint32_t same = warp_same_member(block, lanes, offset, &rank);
        const bool own = rank == UINT32_MAX;
        unsigned char *memory = warp_memory_of(block, rank);
        const uint32_t done = own ? warp_touch_shared(block, frame, inst, same, offset, access)
                                  : warp_touch_far(block, frame, inst, same, rank, offset, access);
        WARP_ACTIVE_LANES(done)
        {
            if (load)
                load_bytes(frame, inst, l, memory + (offset[l] & WARP_PLACE_MASK));
            else
                store_bytes(frame, inst, l, memory + (offset[l] & WARP_PLACE_MASK));
        }
        lanes &= ~same;
    }
    warp_count_once(block, inst, before);
}

static void pass_bytes(warp_frame *frame, const warp_inst *inst, uint32_t lane, unsigned char *at, bool load)
{
    if (load)
        load_bytes(frame, inst, lane, at);
    else
        store_bytes(frame, inst, lane, at);
}

static void access_shared(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                          const uint64_t address[WARP_LANES], warp_access access, bool load)
{
    const bool words = inst->width == 4 && !inst->source_wide;
    const uint32_t *values[8] = {NULL};
    unsigned char written[WARP_LANES][WARP_ACCESS_BYTES];
    uint32_t offset[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        offset[l] = (uint32_t)address[l];
    for (int l = 0; l < WARP_LANES && inst->space == WARP_GENERIC; l++)
        offset[l] = shared_offset(inst, address[l]);
    if (!load && words) {
        for (int i = 0; i < inst->vec; i++)
            values[i] = warp_words(frame, inst->s[1 + i]);
        access.values = values;
    } else if (!load && !block->code->counts_only && access.width <= WARP_ACCESS_BYTES) {
        WARP_ACTIVE_LANES(lanes)
        store_bytes(frame, inst, l, written[l]);
        access.bytes = (const unsigned char(*)[WARP_ACCESS_BYTES])written;
    }
    acquire(block, inst);
    frame->tried &= ~lanes;
    if (block->cluster) {
        access_members(block, frame, inst, lanes, offset, &access, load);
        return;
    }
    lanes = warp_touch_shared(block, frame, inst, lanes, offset, &access);
    if (words && access.width == 4u * inst->vec && inst->space != WARP_GENERIC) {
        if (lanes == WARP_ALL && !inst->acquires && (load || inst->vec == 1) && (inst->parts || !inst->address_wide) &&
            (block->code->counts_only || block->granule_shift == 2))
            warp_make_plain(&block->memos[inst->index], block->shared_size,
                            inst->vec == 1 && !inst->orderly && inst->d[0] != WARP_NO_ROW);
        pass_words(frame, inst, lanes, block->shared, address, load);
        return;
    }
    WARP_ACTIVE_LANES(lanes)
    pass_bytes(frame, inst, l, block->shared + offset[l], load);
}

/* Returns a lane's bytes of another space; null: out of bounds, which is reported. */
static unsigned char *memory_at(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane,
                                warp_space space, uint64_t address, uint32_t bytes, bool load)
{
    const uint64_t offset = address & ~WARP_WINDOW_MASK;
    uint64_t start, size;
    switch (space) {
    case WARP_LOCAL:
        return local_inside(block, frame, inst, lane, offset, bytes) ? ptx_local(frame, lane, offset) : NULL;
    case WARP_PARAM:
        if (load && offset <= block->code->param_bytes && bytes <= block->code->param_bytes - offset)
            return (unsigned char *)(uintptr_t)block->launch->params + offset;
        warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
                   "%s byte %llu of the kernel's parameters, of which there are %u", load ? "reads" : "writes",
                   (unsigned long long)offset, block->code->param_bytes);
        return NULL;
    case WARP_CONST:
        if (smp_warp_buffer_of(block->launch->memory, address, &start, &size) && bytes <= size - (address - start))
            break;
        warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
                   "reads constant memory outside all variables");
        return NULL;
    default:
        break;
    }
    return (unsigned char *)(uintptr_t)address;
}

/* One access of lanes that all mean the same space. */
static void access_lanes(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, warp_space space,
                         const uint64_t address[WARP_LANES], bool load)
{
    const uint32_t bytes = (uint32_t)inst->width * inst->vec;
    const warp_access access = {
        load ? WARP_READS : WARP_WRITES, load ? SMP_BANK_LOAD : SMP_BANK_STORE, bytes, inst->width, NULL, NULL,
        load ? NULL : store_bytes};
    if (space == WARP_SHARED) {
        access_shared(block, frame, inst, lanes, address, access, load);
        return;
    }
    if (lanes == WARP_ALL && inst->space == WARP_GLOBAL && block->memos[inst->index].plain &&
        block->rows->global(block, frame, inst, &access, address))
        return;
    if (space == WARP_GLOBAL)
        lanes = warp_touch_global(block, frame, inst, lanes, address, &access);
    else if (space == WARP_LOCAL && inst->execute != ptx_run_param) {
        warp_count_local(block, inst, lanes, address, bytes);
        if (block->observer)
            block->observer->touch(block->observer, frame, space, lanes, address, bytes, (int)access.how);
    }
    if (space == WARP_GLOBAL && inst->width == 4 && !inst->source_wide && (load || inst->vec == 1)) {
        warp_memo *memo = &block->memos[inst->index];
        if (lanes == WARP_ALL && memo->known && inst->space == WARP_GLOBAL)
            warp_make_plain(memo, 0, false);
        else
            memo->plain = 0;
        pass_words(frame, inst, lanes, NULL, address, load);
        return;
    }
    WARP_ACTIVE_LANES(lanes)
    {
        unsigned char *at = memory_at(block, frame, inst, l, space, address[l], bytes, load);
        if (at)
            pass_bytes(frame, inst, l, at, load);
    }
}

/* Generic addresses: the lanes of each space apart, as the hardware replays them. */
static __attribute__((noinline)) void access_any(warp_block *block, warp_frame *frame, const warp_inst *inst,
                                                 uint32_t lanes, bool load)
{
    uint64_t address[WARP_LANES];
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, address);
    if (inst->space != WARP_GENERIC) {
        access_lanes(block, frame, inst, lanes, (warp_space)inst->space, address, load);
        return;
    }
    while (lanes) {
        const warp_space space = ptx_space_of(address[__builtin_ctz(lanes)]);
        uint32_t same = 0;
        WARP_ACTIVE_LANES(lanes)
        same |= (uint32_t)(ptx_space_of(address[l]) == space) << l;
        access_lanes(block, frame, inst, same, space, address, load);
        lanes &= ~same;
    }
}

void ptx_run_load(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    if (lanes != WARP_ALL || inst->space != WARP_SHARED || !warp_load_again(block, frame, inst))
        access_any(block, frame, inst, lanes, true);
}

void ptx_run_store(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    if (lanes != WARP_ALL || inst->space != WARP_SHARED || !block->rows->store(block, frame, inst))
        access_any(block, frame, inst, lanes, false);
}

/* Parameters: the kernel's, or those of calls, which lie in local memory. */
void ptx_run_param(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t address[WARP_LANES];
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, address);
    const warp_space space = ptx_space_of(address[__builtin_ctz(lanes)]);
    access_lanes(block, frame, inst, lanes, space == WARP_GLOBAL ? WARP_PARAM : space, address, inst->mode);
}

/* ------------------------------------------------------------------------------------------------ atomics */

/* A value of 4 or 8 bytes. */
static uint64_t value_of(const warp_frame *frame, const warp_inst *inst, int slot, uint32_t lane)
{
    enum { WORD_ROW = 4 * WARP_LANES };
    if (inst->width != 8)
        return warp_words(frame, inst->s[slot])[lane];
    if (inst->parts)
        return warp_words(frame, inst->s[slot])[lane] | (uint64_t)warp_words(frame, inst->s[slot] + WORD_ROW)[lane]
                                                            << 32;
    return warp_longs(frame, inst->s[slot])[lane];
}

static uint64_t as_signed(uint64_t value, uint32_t width)
{
    return width == 4 ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* As an H200 does it: in global memory subnormal floats are zeros, and the NaN of a double stays as it is. */
static uint64_t add_floats(ptx_type type, uint64_t old, uint64_t value, bool global)
{
    if (type == PTX_F64) {
        const double a = warp_bits_double(old), b = warp_bits_double(value);
        if (global && (a != a || b != b))
            return b != b ? value : old;
        return warp_double_bits(warp_nan_of(a + b, a, b, b));
    }
    if (type == PTX_F32) {
        const float a = warp_bits_float((uint32_t)old), b = warp_bits_float((uint32_t)value);
        return warp_float_bits(warp_one_nan(global ? warp_flushed(warp_flushed(a) + warp_flushed(b)) : a + b));
    }
    if (type == PTX_BF16 || type == PTX_BF16X2) {
        const uint32_t sum =
            warp_bf16_bits(warp_bf16_float((uint32_t)old & 0xffff) + warp_bf16_float((uint32_t)value & 0xffff));
        return type == PTX_BF16 ? sum
                                : sum | warp_bf16_bits(warp_bf16_float((uint32_t)old >> 16 & 0xffff) +
                                                       warp_bf16_float((uint32_t)value >> 16 & 0xffff))
                                            << 16;
    }
    const uint32_t low = warp_half_bits((double)warp_half_float((uint32_t)old & 0xffff) +
                                        (double)warp_half_float((uint32_t)value & 0xffff));
    if (type == PTX_F16)
        return low;
    return low | warp_half_bits((double)warp_half_float((uint32_t)old >> 16 & 0xffff) +
                                (double)warp_half_float((uint32_t)value >> 16 & 0xffff))
                     << 16;
}

uint64_t ptx_combine(uint32_t mode, bool is_signed, uint64_t a, uint64_t b)
{
    const bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    switch (mode) {
    case 0:
        return a + b;
    case 1:
        return less ? a : b;
    case 2:
        return less ? b : a;
    case 3:
        return a & b;
    case 4:
        return a | b;
    default:
        return a ^ b;
    }
}

static uint64_t apply(const warp_inst *inst, uint64_t old, uint64_t value, uint64_t swap, bool global)
{
    const ptx_type type = (ptx_type)inst->type;
    const bool sign = ptx_is_signed(type);
    switch (inst->mode) {
    case 6:
        return value;
    case PTX_ATOM_SWAP:
    case PTX_ATOM_SWAPPED:
        return old == value ? swap : old;
    case 8:
        return old >= value ? 0 : old + 1;
    case 9:
        return !old || old > value ? value : old - 1;
    default:
        if (ptx_is_float(type))
            return add_floats(type, old, value, global);
        return sign ? ptx_combine(inst->mode, true, as_signed(old, inst->width), as_signed(value, inst->width))
                    : ptx_combine(inst->mode, false, old, value);
    }
}

/* atomicAdd(p, 1) without use of its result */
static bool is_count(const warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    if (inst->mode != 0 || !inst->result_unused || inst->width != 4 || ptx_is_float((ptx_type)inst->type))
        return false;
    WARP_ACTIVE_LANES(lanes)
    if (warp_words(frame, inst->s[1])[l] != 1)
        return false;
    return true;
}

/* atomicCAS, and atomicExch whose result is used: of a lock that is let go it is not. */
static bool takes_lock(const warp_inst *inst)
{
    enum { EXCHANGE = 6 };
    return inst->mode == PTX_ATOM_SWAP || (inst->mode == EXCHANGE && !inst->result_unused);
}

void ptx_run_atomic(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t address[WARP_LANES];
    uint32_t offset[WARP_LANES];
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, address);
    const bool is_float = ptx_is_float((ptx_type)inst->type);
    warp_access access = {WARP_UPDATES, SMP_BANK_ATOMIC, inst->width, inst->width, NULL, NULL, NULL};
    access.op = is_float ? SMP_BANK_ATOMIC_FLOAT : is_count(frame, inst, lanes) ? SMP_BANK_COUNT : SMP_BANK_ATOMIC;
    const uint64_t before = block->counts[inst->index].in[SMP_WARP_SHARED].instructions;
    while (lanes) {
        const warp_space space =
            inst->space != WARP_GENERIC ? (warp_space)inst->space : ptx_space_of(address[__builtin_ctz(lanes)]);
        uint32_t same = lanes, done;
        if (inst->space == WARP_GENERIC) {
            same = 0;
            WARP_ACTIVE_LANES(lanes)
            same |= (uint32_t)(ptx_space_of(address[l]) == space) << l;
        }
        for (int l = 0; l < WARP_LANES; l++)
            offset[l] = shared_offset(inst, address[l]);
        if (space != WARP_SHARED && space != WARP_GLOBAL) {
            warp_stop(block, frame, inst, "an atomic operation on memory that threads do not share");
            return;
        }
        uint32_t rank = UINT32_MAX;
        if (space == WARP_SHARED) {
            acquire(block, inst);
            frame->tried |= takes_lock(inst) ? same : 0;
        }
        if (space == WARP_SHARED && block->cluster)
            same = warp_same_member(block, same, offset, &rank);
        done = space == WARP_GLOBAL ? warp_touch_global(block, frame, inst, same, address, &access)
               : rank == UINT32_MAX ? warp_touch_shared(block, frame, inst, same, offset, &access)
                                    : warp_touch_far(block, frame, inst, same, rank, offset, &access);
        WARP_ACTIVE_LANES(done)
        {
            unsigned char *at = space == WARP_SHARED ? warp_memory_of(block, rank) + (offset[l] & WARP_PLACE_MASK)
                                                     : (unsigned char *)(uintptr_t)address[l];
            const bool wide = inst->width == 8;
            uint64_t old = 0;
            memcpy(&old, at, inst->width);
            const uint64_t mask = wide ? UINT64_MAX : (UINT64_C(1) << (8 * inst->width)) - 1;
            const uint64_t value = value_of(frame, inst, 1, l) & mask;
            const uint64_t swap = inst->sources > 2 ? value_of(frame, inst, 2, l) & mask : 0;
            const uint64_t result = apply(inst, old, value, swap, space == WARP_GLOBAL);
            memcpy(at, &result, inst->width);
            if (inst->mode == PTX_ATOM_SWAPPED)
                old = old == value;
            if (inst->dests && wide && inst->parts) {
                warp_words(frame, inst->d[0])[l] = (uint32_t)old;
                warp_words(frame, inst->d[1])[l] = (uint32_t)(old >> 32);
            } else if (inst->dests && wide)
                warp_longs(frame, inst->d[0])[l] = old;
            else if (inst->dests)
                warp_words(frame, inst->d[0])[l] = (uint32_t)old;
        }
        lanes &= ~same;
    }
    warp_count_once(block, inst, before);
}

/* ------------------------------------------------------------------------------------------------ windows */

void ptx_run_to_window(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t result[WARP_LANES];
    const uint64_t *from = warp_longs(frame, inst->s[0]);
    const uint64_t own = (uint64_t)(frame->depth + 1) << WARP_DEPTH_SHIFT;
    const uint64_t window = inst->space == WARP_SHARED  ? WARP_SHARED_WINDOW
                            : inst->space == WARP_LOCAL ? WARP_LOCAL_WINDOW | own
                            : inst->space == WARP_PARAM ? WARP_PARAM_WINDOW
                                                        : 0;
    for (int l = 0; l < WARP_LANES; l++)
        result[l] = !window ? from[l] : inst->mode ? from[l] & ~WARP_WINDOW_MASK : from[l] | window;
    ptx_blend(frame, inst->d[0], 'd', result, lanes);
}

void ptx_run_is_space(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint64_t *from = warp_longs(frame, inst->s[0]);
    uint32_t mask = 0;
    for (int l = 0; l < WARP_LANES; l++)
        mask |= (uint32_t)(ptx_space_of(from[l]) == (warp_space)inst->space &&
                           !(inst->mode && from[l] >> WARP_RANK_SHIFT & UINT8_MAX)) /* shared::cta: the own */
                << l;
    ptx_blend(frame, inst->d[0], 'p', &mask, lanes);
}

/* mapa: the same place in another block of the cluster. */
void ptx_run_map_rank(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    enum { MOST_RANK = 254 };
    const uint32_t *rank = warp_words(frame, inst->s[1]);
    const uint64_t field = (uint64_t)UINT8_MAX << WARP_RANK_SHIFT;
    uint64_t result[WARP_LANES];
    uint32_t low[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++) {
        const uint64_t from = inst->address_wide ? warp_longs(frame, inst->s[0])[l] : warp_words(frame, inst->s[0])[l];
        const uint64_t code = rank[l] == frame->rank ? 0 : (rank[l] < MOST_RANK ? rank[l] : MOST_RANK) + 1;
        result[l] = (from & ~field) | code << WARP_RANK_SHIFT;
        low[l] = (uint32_t)result[l];
    }
    ptx_blend(frame, inst->d[0], inst->address_wide ? 'd' : 'w', inst->address_wide ? (void *)result : (void *)low,
              lanes);
}

/* getctarank: of the block whose shared memory it is. */
void ptx_run_rank_of(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint32_t result[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++) {
        const uint64_t from = inst->address_wide ? warp_longs(frame, inst->s[0])[l] : warp_words(frame, inst->s[0])[l];
        const uint32_t code = (uint32_t)(from >> WARP_RANK_SHIFT) & UINT8_MAX;
        result[l] = code ? code - 1 : frame->rank;
    }
    ptx_blend(frame, inst->d[0], 'w', result, lanes);
}
