/* Findings about a kernel: findings of a kind at the same instructions are one, counted. */
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/machine.h"

const char *smp_warp_fault_name(smp_warp_fault fault)
{
    static const char *const names[] = {"race",    "uninitialised", "bounds", "misaligned",
                                        "barrier", "copy",          "free",   "leak"};
    return names[fault];
}

bool smp_warp_finding_same(const smp_warp_finding *a, const smp_warp_finding *b)
{
    const size_t verb = strcspn(a->text, " ");
    return a->fault == b->fault && a->here.line == b->here.line && a->other.line == b->other.line &&
           (a->other.line || (verb == strcspn(b->text, " ") && !memcmp(a->text, b->text, verb)));
}

/* A finding takes the time of some instructions. */
static void spend(warp_block *block)
{
    const uint64_t cost = 4 + block->fault_count / 4;
    block->look_at -= cost < block->look_at ? cost : block->look_at;
}

bool warp_fault_again(warp_block *block, smp_warp_fault fault, uint32_t inst, uint32_t other_inst)
{
    spend(block);
    for (size_t i = block->fault_count; i--;) {
        warp_fault_key *f = &block->faults[i];
        if (f->fault == fault && f->inst == inst && f->other == other_inst) {
            f->count++;
            return true;
        }
    }
    return false;
}

void warp_fault(warp_block *block, smp_warp_fault fault, uint32_t inst, uint32_t thread, uint32_t other_inst,
                uint32_t other_thread, const char *format, ...)
{
    if (warp_fault_again(block, fault, inst, other_inst))
        return;
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
    f->block = f->other_block = block->index;
    f->thread = thread;
    f->other_thread = other_thread;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
}

static void add_count(warp_count *sum, const warp_count *more)
{
    sum->skipped += more->skipped;
    sum->recorded += more->recorded;
    sum->strided += more->strided;
    if (more->stride && (!sum->stride || more->stride < sum->stride))
        sum->stride = more->stride;
    sum->far = sum->far || more->far;
    sum->seen_space |= more->seen_space;
    for (int space = SMP_WARP_SHARED; space <= SMP_WARP_LOCAL; space++)
        for (size_t i = 0; i < sizeof sum->in[space].all / sizeof sum->in[space].all[0]; i++)
            sum->in[space].all[i] += more->in[space].all[i];
    if (more->worst_ideal && (!sum->worst_ideal || (uint64_t)more->worst_wavefronts * sum->worst_ideal >
                                                       (uint64_t)sum->worst_wavefronts * more->worst_ideal)) {
        sum->worst_wavefronts = more->worst_wavefronts;
        sum->worst_ideal = more->worst_ideal;
        sum->worst_active = more->worst_active;
        sum->worst_op = more->worst_op;
        memcpy(sum->worst_offset, more->worst_offset, sizeof sum->worst_offset);
    }
}

smp_code warp_add_counts(warp_block *sum, const warp_block *more, smp_error *err)
{
    for (size_t i = 0; i < sum->launch->kernel->inst_count; i++) {
        add_count(&sum->counts[i], &more->counts[i]);
        sum->tallies[i].runs += more->tallies[i].runs;
        sum->tallies[i].lanes += more->tallies[i].lanes;
        sum->tallies[i].splits += more->tallies[i].splits;
    }
    for (size_t i = 0; i < more->patterns.count; i++)
        SMP_NEED(smp_warp_patterns_add(&sum->patterns, &more->patterns.items[i]), "patterns", sizeof(smp_warp_pattern),
                 err);
    for (size_t i = 0; i < more->fault_count; i++) {
        size_t at = 0;
        const warp_fault_key *f = &more->faults[i];
        while (at < sum->fault_count && !(sum->faults[at].fault == f->fault && sum->faults[at].inst == f->inst &&
                                          sum->faults[at].other == f->other))
            at++;
        if (at < sum->fault_count) {
            sum->faults[at].count += f->count;
            continue;
        }
        SMP_NEED(smp_grow(&sum->faults, &sum->fault_capacity, sum->fault_count + 1, sizeof *sum->faults), "findings",
                 sizeof *sum->faults, err);
        sum->faults[sum->fault_count++] = *f;
    }
    sum->illegal = sum->illegal || more->illegal;
    sum->refused = sum->refused || more->refused;
    sum->instructions += more->instructions;
    sum->clocks += more->clocks;
    if (more->stop && !sum->stop) {
        sum->stop = true;
        sum->error = more->error;
    }
    return SMP_OK;
}
