/* Launches whose blocks wait for each other (cudaLaunchCooperativeKernel): all blocks are begun, and take turns where
 * one spins on a word of memory that another shall change. */
#include <string.h>

#include "base/alloc.h"
#include "warp/machine.h"

enum { MOST_IDLE = 2000 /* rounds in which every block spins */ };

/* What a block keeps while others run. */
typedef struct resident {
    warp_frame *frames;
    unsigned char *register_file, *local_file, *shared;
    warp_granule *granules;
    warp_barrier barriers[WARP_BARRIERS];
    uint64_t index, jumps;
    uint32_t id[3], interval, first_interval;
    bool ended;
} resident;

static bool open_resident(resident *r, const warp_block *block)
{
    enum { SLACK = 64 };
    const warp_code *code = block->code;
    r->frames = smp_alloc_array(block->warps, sizeof *r->frames);
    r->register_file = smp_alloc_array(block->warps, code->register_bytes);
    r->local_file = smp_alloc_array((size_t)block->warps * WARP_LANES, code->local_bytes);
    r->shared = smp_alloc(block->shared_size + SLACK);
    r->granules = smp_alloc_array((block->shared_size >> block->granule_shift) + 1, sizeof *r->granules);
    return r->frames && r->register_file && r->local_file && r->shared && r->granules;
}

static void close_resident(resident *r)
{
    smp_free(r->frames);
    smp_free(r->register_file);
    smp_free(r->local_file);
    smp_free(r->shared);
    smp_free(r->granules);
}

/* The memory of a block, whose rows the frames point into. */
static void enter(warp_block *block, const resident *r)
{
    block->register_file = r->register_file;
    block->local_file = r->local_file;
    block->shared = r->shared;
    block->granules = r->granules;
}

static void load(warp_block *block, const resident *r)
{
    enter(block, r);
    memcpy(block->frames, r->frames, block->warps * sizeof *r->frames);
    memcpy(block->barriers, r->barriers, sizeof r->barriers);
    memcpy(block->id, r->id, sizeof r->id);
    block->index = r->index;
    block->jumps = r->jumps;
    block->interval = r->interval;
    block->first_interval = r->first_interval;
}

static void save(const warp_block *block, resident *r)
{
    memcpy(r->frames, block->frames, block->warps * sizeof *r->frames);
    memcpy(r->barriers, block->barriers, sizeof r->barriers);
    memcpy(r->id, block->id, sizeof r->id);
    r->index = block->index;
    r->jumps = block->jumps;
    r->interval = block->interval;
    r->first_interval = block->first_interval;
}

smp_code warp_run_together(warp_block *block, uint64_t count, uint64_t *done, smp_error *err)
{
    resident *all = smp_alloc_array((size_t)count, sizeof *all), own;
    uint64_t open = 0;
    if (!all)
        return smp_fail_memory(err, "blocks that run together", count * sizeof *all);
    own = (resident){.register_file = block->register_file,
                     .local_file = block->local_file,
                     .shared = block->shared,
                     .granules = block->granules};
    for (; open < count && open_resident(&all[open], block); open++) {
        enter(block, &all[open]);
        warp_begin_block(block, open);
        save(block, &all[open]);
    }
    smp_code code =
        open == count ? SMP_OK : smp_fail_memory(err, "blocks that run together", count * block->code->register_bytes);
    *done = 0;
    for (int idle = 0; !code && !block->stop && *done < count; idle++) {
        for (uint64_t i = 0; i < count && !block->stop; i++) {
            bool waits = false;
            if (all[i].ended)
                continue;
            load(block, &all[i]);
            for (int turns = 0; !waits && !all[i].ended; turns++) {
                all[i].ended = !warp_step_block(block, &waits);
                if (turns || all[i].ended) /* it came past a barrier, or to its end */
                    idle = 0;
            }
            save(block, &all[i]);
            *done += all[i].ended;
        }
        if (idle > MOST_IDLE) {
            smp_fail(&block->error, SMP_E_PROCESS, "kernel '%s': its blocks wait for each other, and none goes on",
                     block->code->name);
            block->stop = true;
        }
    }
    enter(block, &own);
    for (uint64_t i = 0; i < count; i++)
        close_resident(&all[i]);
    smp_free(all);
    return code;
}
