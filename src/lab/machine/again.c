/* Blocks that wait for ever. What a block does next follows from its registers, its shared and local memory, where its
 * lanes stand, and the memory of the device: where all of that comes again, it comes for ever. Nothing else is taken
 * for waiting: a loop that counts, or looks at the clock, ends by itself or at the limits of jumps and time. */
#include "lab/machine/buffers.h"
#include "lab/machine/cluster.h"

/* Jumps back from one look at a block to the next: each of its warps jumps more often than lanes of it wait for others
 * (warps.c), so that all have had their turn. */
enum { SAMPLE = 1 << 16 };

static uint64_t mix_frame(uint64_t hash, const warp_frame *f)
{
    const uint32_t words[] = {f->ready, f->at_barrier, f->at_members, f->live, f->avoid, f->carry};
    hash = warp_mix(warp_mix(hash, words, sizeof words), f->pc, sizeof f->pc);
    return warp_mix(hash, f->barrier, sizeof f->barrier);
}

uint64_t warp_state(const warp_block *block, const warp_frame *in)
{
    const warp_code *code = block->code;
    uint64_t hash = warp_mix(1, &block->clocks, sizeof block->clocks);
    for (uint32_t w = 0; w < block->warps; w++)
        hash = mix_frame(hash, &block->frames[w]);
    for (; in && in->depth; in = in->caller) {
        hash = warp_mix(mix_frame(hash, in), &in->code, sizeof in->code);
        hash = warp_mix(hash, in->rows, in->code->register_bytes);
        hash = warp_mix(hash, in->local, (size_t)WARP_LANES * in->code->local_bytes);
    }
    for (int i = 0; i < WARP_BARRIERS; i++) {
        const warp_barrier *b = &block->barriers[i];
        const uint32_t words[] = {b->arrived, b->waiting, b->expected};
        hash = warp_mix(hash, words, sizeof words);
    }
    hash = warp_mix(hash, block->register_file, (size_t)block->warps * code->register_bytes);
    hash = warp_mix(hash, block->local_file, (size_t)block->warps * WARP_LANES * code->local_bytes);
    return warp_mix(hash, block->shared, block->shared_size);
}

/* A state is kept for as many samples as there were before it, so that one of any period meets itself. memory: null
 * where others write it meanwhile. */
bool warp_comes_again(warp_again *a, uint64_t state, const smp_warp_memory *memory)
{
    if (a->samples && state == a->state) {
        const uint64_t digest = memory ? smp_warp_memory_digest(memory) : 0;
        if (!memory || (a->held && digest == a->memory))
            return true;
        a->held = true;
        a->memory = digest;
        a->digests++;
    } else if (!(a->samples & (a->samples - 1))) {
        a->state = state;
        a->held = false;
    }
    a->samples++;
    return false;
}

void warp_stop_waiting(warp_block *block, const warp_frame *in, const char *what)
{
    const warp_frame *frame = in ? in : block->frames;
    while (!in && frame + 1 < block->frames + block->warps && !frame->ready)
        frame++;
    const uint32_t lane = frame->ready ? (uint32_t)__builtin_ctz(frame->ready) : 0;
    const warp_inst *inst = &frame->code->insts[frame->pc[lane]];
    warp_fault(block, SMP_WARP_BARRIER, inst->index, warp_thread(frame, lane), UINT32_MAX, 0, "waits for ever for %s",
               what);
    warp_stop(block, frame, inst, "it waits here for ever for %s", what);
}

/* Lanes in a function wait, as long as they run alone. Other warps, but for those that wait in functions, have a turn:
 * false: something went on, or may have: beside blocks of other threads, which write memory meanwhile, that is not
 * known. Others could go on, but have no turn here: lanes of the warp outside the function, other blocks, warps that
 * wait in functions for what has changed since; then the block stops, and it is no mistake. */
static bool waits_in_call(warp_block *block, const warp_frame *in, uint64_t state)
{
    const smp_warp_memory *memory = block->launch->memory;
    warp_frame *own = &block->frames[in->warp];
    warp_again *a = &block->again;
    const warp_again before = *a;
    const uint64_t there = warp_mix(a->memory, block->shared, block->shared_size);
    const bool others = block->launch->together || block->cluster || own->ready & ~in->live ||
                        (a->inside && (a->others || a->there != there));
    *a = (warp_again){.inside = before.inside + 1, .others = others, .there = there};
    own->inside = true;
    for (uint32_t w = 0; w < block->warps && !block->stop; w++)
        if (!block->frames[w].inside)
            warp_run_frame(block, &block->frames[w]);
    own->inside = false;
    *a = before;
    if (block->stop || !block->alone || state != warp_state(block, in) ||
        before.memory != smp_warp_memory_digest(memory))
        return false;
    if (others)
        warp_stop(
            block, in, &in->code->insts[in->pc[__builtin_ctz(in->ready)]],
            "it waits here, in a function that is called, not inlined, for other threads, which is not supported");
    return !others;
}

static bool has_accessed(const warp_block *block)
{
    uint64_t accesses = 0;
    for (size_t i = 0; i < block->launch->kernel->inst_count; i++)
        for (int s = 0; s <= SMP_WARP_LOCAL; s++)
            accesses += block->counts[i].in[s].instructions;
    return accesses;
}

void warp_look_again(warp_block *block, const warp_frame *in)
{
    enum { FIRST = 1 << 21 };
    const smp_warp_launch *launch = block->launch;
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    warp_again *a = &block->again;
    if (block->jumps < (launch->met || in ? SAMPLE : FIRST) || block->jumps < a->next || block->stop)
        return;
    a->next = block->jumps + ((uint64_t)SAMPLE << (a->digests < 20 ? a->digests : 20)); /* all memory takes its time */
    const uint64_t state = warp_state(block, in);
    if (!warp_comes_again(a, state, launch->met || !block->alone ? NULL : launch->memory) ||
        (in && !launch->met && !waits_in_call(block, in, state)))
        return;
    const bool is_last = block->index + 1 == blocks, reads = has_accessed(block);
    warp_stop_waiting(block, in,
                      !reads    ? "nothing: it accesses no memory"
                      : is_last ? "a value that no block writes"
                                : "a value that no block before it writes");
    if (!is_last && reads)
        smp_hint(&block->error, "blocks run one after another; those that wait for later ones take turns where "
                                "cudaLaunchCooperativeKernel launches them");
}
