/* Asynchronous copies from global to shared memory: cp.async, LDGSTS. */
#include <string.h>

#include "lab/machine/machine.h"
#include "lab/ptx/execute.h"

void ptx_run_copy(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t to[WARP_LANES], from[WARP_LANES];
    uint32_t offset[WARP_LANES], fills = 0;
    const bool can_fill = inst->sources > 2;
    const uint32_t *wanted = can_fill && !inst->parts ? warp_words(frame, inst->s[2]) : NULL;
    const uint32_t holds = can_fill && inst->parts ? warp_pred(frame, inst->s[2]) : WARP_ALL;
    const uint32_t present = inst->parts && inst->negate_source ? ~holds : holds;
    if (inst->parts) {
        ptx_addresses_of_parts(frame, inst, inst->s[0], inst->add, WARP_SHARED, false, inst->offset, to);
        ptx_addresses_of_parts(frame, inst, inst->s[1], inst->s[3], WARP_GLOBAL, true, inst->offset2, from);
    } else {
        ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, to);
        ptx_addresses(frame, inst, 1, true, inst->offset2, from);
    }
    for (int l = 0; l < WARP_LANES; l++)
        offset[l] = (uint32_t)to[l];
    uint32_t reads = lanes & present;
    fills = lanes & ~present;
    WARP_ACTIVE_LANES(lanes)
    {
        if (wanted && wanted[l] < inst->width)
            fills |= UINT32_C(1) << l;
        if (wanted && !wanted[l])
            reads &= ~(UINT32_C(1) << l);
    }
    warp_access access = {WARP_READS, SMP_BANK_LOAD, inst->width, inst->width, NULL, NULL, NULL};
    const uint32_t inside = reads ? warp_touch_global(block, frame, inst, reads, from, &access) : 0;
    access.how = WARP_WRITES;
    access.op = inst->mode && !fills && !(inst->parts && can_fill) ? SMP_BANK_ASYNC_L2 : SMP_BANK_ASYNC;
    smp_bank_access banks = {.op = access.op, .width = inst->width, .active = lanes};
    banks.through_l1 = inst->mode ? 0 : lanes & ~fills;
    memcpy(banks.offset, offset, sizeof banks.offset);
    for (int l = 0; l < WARP_LANES; l++)
        banks.source[l] = (uint32_t)from[l];
    const uint32_t done = warp_touch_copy(block, frame, inst, lanes, offset, &access, &banks);
    WARP_ACTIVE_LANES(done)
    {
        const uint32_t bytes = !(inside >> l & 1) ? 0 : wanted && wanted[l] < inst->width ? wanted[l] : inst->width;
        if (bytes)
            memcpy(block->shared + offset[l], (const void *)(uintptr_t)from[l], bytes);
        memset(block->shared + offset[l] + bytes, 0, inst->width - bytes);
    }
}

/* The bytes are there since the copies were issued: this is for those who look before they wait. */
void ptx_run_copy_group(warp_block *, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const uint32_t left = (uint32_t)inst->offset;
    WARP_ACTIVE_LANES(lanes)
    {
        frame->groups[l] += inst->mode != PTX_GROUP_WAIT;
        const uint32_t done = frame->groups[l] > left ? frame->groups[l] - left : 0;
        if (inst->mode != PTX_GROUP_ENDS && done > frame->waited[l])
            frame->waited[l] = done;
    }
}
