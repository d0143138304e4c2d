/* What is wrong with a kernel: findings of a kind at the same instructions are one, counted. */
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "warp/machine.h"

const char *smp_warp_fault_name(smp_warp_fault fault)
{
    static const char *const names[] = {"race", "uninitialised", "bounds", "misaligned", "barrier"};
    return names[fault];
}

void warp_fault(warp_block *block, smp_warp_fault fault, uint32_t inst, uint32_t thread, uint32_t other_inst,
                uint32_t other_thread, const char *format, ...)
{
    for (size_t i = block->fault_count; i--;) {
        warp_fault_key *f = &block->faults[i];
        if (f->fault == fault && f->inst == inst && f->other == other_inst) {
            f->count++;
            return;
        }
    }
    if (!smp_grow(&block->faults, &block->fault_capacity, block->fault_count + 1, sizeof *block->faults)) {
        block->stop = true;
        smp_fail_memory(&block->error, "findings", sizeof *block->faults);
        return;
    }
    warp_fault_key *f = &block->faults[block->fault_count++];
    memset(f, 0, sizeof *f);
    f->fault = fault;
    f->inst = inst;
    f->other = other_inst;
    f->count = 1;
    f->block = block->index;
    f->thread = thread;
    f->other_thread = other_thread;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
}
