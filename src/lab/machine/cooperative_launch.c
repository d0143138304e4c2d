/* Launches whose blocks wait for each other (cudaLaunchCooperativeKernel): all blocks are begun, and take turns where
 * one spins on a word of memory that another shall change. */
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/cluster.h"

enum { SOME_IDLE = 8, MOST_IDLE = 2000 /* rounds in which every block spins */ };
#define STATES UINT64_C(0x9e3779b97f4a7c15)

/* State that a block keeps while others run. */
typedef struct resident {
    warp_frame *frames;
    unsigned char *register_file, *local_file, *shared;
    warp_granule *granules;
    warp_lane_times *lanes;
    warp_barrier barriers[WARP_BARRIERS];
    uint64_t index, jumps;
    uint32_t id[3], rank, cluster_phase;
    warp_order order;
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
    smp_free_all(r->frames, r->register_file, r->local_file, r->shared, r->granules, r->lanes);
}

/* The memory of a block, whose rows the frames point into. */
static void enter(warp_block *block, const resident *r)
{
    block->register_file = r->register_file;
    block->local_file = r->local_file;
    block->shared = r->shared;
    block->granules = r->granules;
    block->lanes = r->lanes;
}

static void load(warp_block *block, const resident *r)
{
    enter(block, r);
    memcpy(block->frames, r->frames, block->warps * sizeof *r->frames);
    memcpy(block->barriers, r->barriers, sizeof r->barriers);
    memcpy(block->id, r->id, sizeof r->id);
    block->index = r->index;
    block->jumps = r->jumps;
    const uint32_t now = block->order.interval; /* time is one for all blocks */
    block->order = r->order;
    block->order.interval = now + 1;
    block->quick = 0;
    block->rank = r->rank;
    block->cluster_phase = r->cluster_phase;
    warp_begin_turn(block);
}

static void save(const warp_block *block, resident *r)
{
    memcpy(r->frames, block->frames, block->warps * sizeof *r->frames);
    memcpy(r->barriers, block->barriers, sizeof r->barriers);
    memcpy(r->id, block->id, sizeof r->id);
    r->index = block->index;
    r->jumps = block->jumps;
    r->order = block->order;
    r->lanes = block->lanes;
    r->rank = block->rank;
    r->cluster_phase = block->cluster_phase;
}

smp_code warp_run_cooperative(warp_block *block, uint64_t count, uint64_t *done, smp_error *err)
{
    resident *all = smp_alloc_array((size_t)count, sizeof *all), own;
    uint64_t open = 0;
    SMP_NEED(all, "blocks that run together", count * sizeof *all, err);
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
    warp_again again = {.samples = 0};
    for (int idle = 0; !code && !block->stop && *done < count; idle++) {
        uint64_t state = 1;
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
            state = idle > SOME_IDLE ? (state ^ warp_state(block, NULL)) * STATES : state;
            save(block, &all[i]);
            *done += all[i].ended;
        }
        if (*done < count && !block->stop &&
            (idle > MOST_IDLE || (idle > SOME_IDLE && warp_comes_again(&again, state, block->launch->memory))))
            warp_stop_waiting(block, NULL, "another block: its blocks wait for each other, and none goes on");
    }
    enter(block, &own);
    for (uint64_t i = 0; i < count; i++)
        close_resident(&all[i]);
    smp_free(all);
    return code;
}

/* The cluster of that number in the grid, and a block of it. */
static uint64_t block_of(const smp_warp_launch *launch, const uint32_t shape[3], uint64_t cluster, uint32_t rank)
{
    const uint64_t across = launch->grid[0] / shape[0], down = launch->grid[1] / shape[1];
    const uint64_t x = cluster % across * shape[0] + rank % shape[0];
    const uint64_t y = cluster / across % down * shape[1] + rank / shape[0] % shape[1];
    const uint64_t z = cluster / across / down * shape[2] + rank / shape[0] / shape[1];
    return (z * launch->grid[1] + y) * launch->grid[0] + x;
}

static bool is_wanted(const smp_warp_launch *launch, const uint32_t shape[3], uint64_t cluster, uint32_t size)
{
    bool wanted = !launch->blocks;
    for (uint32_t rank = 0; rank < size && !wanted; rank++)
        for (uint64_t i = 0; i < launch->block_count && !wanted; i++)
            wanted = launch->blocks[i] == block_of(launch, shape, cluster, rank);
    return wanted;
}

static void begin_cluster(warp_block *block, resident *all, uint64_t number)
{
    warp_cluster *c = block->cluster;
    c->phase = c->arrived = 0;
    c->live = c->size * block->threads;
    c->first_epoch = ++c->epoch;
    for (uint32_t rank = 0; rank < c->size; rank++) {
        resident *r = &all[rank];
        warp_member *m = &c->members[rank];
        load(block, r);
        block->rank = rank;
        block->cluster_phase = 0;
        warp_begin_block(block, block_of(block->launch, c->shape, number, rank));
        r->ended = m->ended = m->was_reached = false;
        m->shared = r->shared;
        m->granules = r->granules;
        m->first_interval = block->order.first;
        save(block, r);
    }
}

/* Turns of the blocks until all have ended. */
static void run_cluster(warp_block *block, resident *all)
{
    warp_cluster *c = block->cluster;
    uint32_t ended = 0;
    for (bool moved = true; moved && ended < c->size && !block->stop;) {
        moved = false;
        for (uint32_t rank = 0; rank < c->size && !block->stop; rank++) {
            resident *r = &all[rank];
            bool waits = false, goes_on = true, held = false;
            if (r->ended)
                continue;
            load(block, r);
            while (!waits && goes_on) {
                goes_on = warp_step_block(block, &waits);
                moved = moved || goes_on;
            }
            for (uint32_t w = 0; w < block->warps; w++)
                held = held || block->frames[w].at_cluster;
            if (!goes_on && !held && !block->stop) {
                r->ended = true;
                ended++;
                warp_leave_cluster(block);
            }
            save(block, r);
        }
    }
    for (uint32_t rank = 0; rank < c->size && ended < c->size && !block->stop; rank++)
        if (!all[rank].ended) {
            load(block, &all[rank]);
            warp_cluster_hangs(block);
        }
}

smp_code warp_run_clusters(warp_block *block, const uint32_t shape[3], uint64_t *done, smp_error *err)
{
    const smp_warp_launch *launch = block->launch;
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint32_t size = shape[0] * shape[1] * shape[2];
    resident all[WARP_MOST_CLUSTER] = {{.frames = NULL}};
    const resident own = {.register_file = block->register_file,
                          .local_file = block->local_file,
                          .shared = block->shared,
                          .granules = block->granules};
    warp_cluster *c = block->cluster = smp_alloc(sizeof *c);
    smp_code code = c ? SMP_OK : smp_fail_memory(err, "a cluster", sizeof *c);
    *done = 0;
    for (uint32_t rank = 0; !code && rank < size; rank++) {
        const size_t granules = (block->shared_size >> block->granule_shift) + 1;
        c->members[rank].far = smp_alloc_array(granules, sizeof *c->members[rank].far);
        if (!open_resident(&all[rank], block) || !c->members[rank].far)
            code = smp_fail_memory(err, "blocks of a cluster", size * block->code->register_bytes);
    }
    if (!code) {
        memcpy(c->shape, shape, sizeof c->shape);
        c->size = size;
        c->is_explicit = launch->cluster[0] || block->code->cluster[0];
        if (block->banks[0])
            warp_put_cluster(block);
    }
    for (uint64_t number = 0; !code && number < blocks / size && !block->stop; number++) {
        if (!is_wanted(launch, shape, number, size))
            continue;
        begin_cluster(block, all, number);
        run_cluster(block, all);
        *done += block->stop ? 0 : size;
    }
    enter(block, &own);
    for (uint32_t rank = 0; rank < size; rank++) {
        close_resident(&all[rank]);
        if (c)
            smp_free(c->members[rank].far);
    }
    smp_free(c);
    block->cluster = NULL;
    return code;
}
