/* Launches: what a block needs, and a grid's blocks in one thread of the host or several. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "lab/machine/apart.h"
#include "lab/machine/cluster.h"
#include "lab/machine/rows.h"

static smp_code check_cluster(const smp_warp_launch *launch, smp_error *err);

void smp_warp_tasks_free(smp_warp_tasks *tasks, smp_warp_memory *memory)
{
    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->items[i].prepared)
            (void)smp_warp_buffer_free(memory, (void *)(uintptr_t)tasks->items[i].prepared);
        smp_free(tasks->items[i].params);
    }
    smp_free(tasks->items);
    *tasks = (smp_warp_tasks){.depth = tasks->depth};
}

uint32_t smp_warp_kernel_threads(const smp_warp_kernel *kernel, uint32_t registers)
{
    const warp_code *code = &kernel->code;
    const uint32_t of_gpu = smp_warp_threads_of(registers), wanted = warp_block_threads(code->block),
                   own = wanted ? wanted : code->most_threads;
    return own && own < of_gpu ? own : of_gpu;
}

static bool has_size(const smp_warp_launch *launch, smp_error *err)
{
    const uint32_t *grid = launch->grid, *block = launch->block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (!threads || block[0] > SMP_WARP_MAX_THREADS || block[1] > SMP_WARP_MAX_THREADS || block[2] > 64 ||
        threads > SMP_WARP_MAX_THREADS) {
        smp_fail(err, SMP_E_USAGE, "a block of %u x %u x %u threads cannot be launched", block[0], block[1], block[2]);
        smp_hint(err, "a block has 1 to %d threads", SMP_WARP_MAX_THREADS);
        return false;
    }
    if (grid[0] && grid[0] <= INT32_MAX && grid[1] && grid[1] <= 65535 && grid[2] && grid[2] <= 65535)
        return true;
    smp_fail(err, SMP_E_USAGE, "a grid of %u x %u x %u blocks cannot be launched", grid[0], grid[1], grid[2]);
    smp_hint(err, "x is 1 to 2147483647, y and z are 1 to 65535");
    return false;
}

smp_warp_room smp_warp_room_of(const smp_warp_launch *launch, smp_error *err)
{
    const warp_code *code = &launch->kernel->code;
    const uint32_t *block = launch->block, *own = code->block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (!has_size(launch, err))
        return SMP_WARP_OUT_OF_BOUNDS;
    if (own[0] && memcmp(own, block, sizeof launch->block) != 0) {
        smp_fail(err, SMP_E_USAGE, "a block of %u x %u x %u threads cannot be launched: %.80s wants %u x %u x %u",
                 block[0], block[1], block[2], code->name, own[0], own[1], own[2]);
        return SMP_WARP_OUT_OF_BOUNDS;
    }
    if (code->most_threads && threads > code->most_threads) {
        smp_fail(err, SMP_E_USAGE, "a block of %llu threads cannot be launched: %.80s may have %u",
                 (unsigned long long)threads, code->name, code->most_threads);
        smp_hint(err, "its __launch_bounds__ say so");
        return SMP_WARP_OUT_OF_BOUNDS;
    }
    const uint32_t most = smp_warp_threads_of(launch->registers);
    if (threads <= most)
        return SMP_WARP_FITS;
    smp_fail(err, SMP_E_USAGE, "a block of %llu threads cannot be launched: %.80s takes %u registers a thread",
             (unsigned long long)threads, code->name, launch->registers);
    smp_hint(err, "at most %u threads fit; __launch_bounds__(%llu) makes the compiler take fewer registers", most,
             (unsigned long long)threads);
    return SMP_WARP_OUT_OF_REGISTERS;
}

static smp_code check_launch(const smp_warp_launch *launch, uint64_t *threads, uint64_t *blocks, smp_error *err)
{
    const warp_code *code = &launch->kernel->code;
    *threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (smp_warp_room_of(launch, err))
        return err->code;
    *blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint64_t shared = (uint64_t)code->shared_bytes + launch->dynamic_shared;
    if (shared > SMP_WARP_MAX_SHARED)
        return smp_fail(err, SMP_E_USAGE, "%llu bytes of shared memory are more than a block can have",
                        (unsigned long long)shared),
               smp_hint(err, "the largest is %d bytes", SMP_WARP_MAX_SHARED);
    if (code->problem.code) {
        *err = code->problem;
        return err->code;
    }
    return check_cluster(launch, err);
}

/* The clusters of a launch. False: it has none. */
static bool cluster_of(const smp_warp_launch *launch, uint32_t shape[3])
{
    const warp_code *code = &launch->kernel->code;
    const uint32_t *from = launch->cluster[0] ? launch->cluster : code->cluster;
    for (int i = 0; i < 3; i++)
        shape[i] = from[0] && from[i] ? from[i] : 1;
    return from[0] || code->in_clusters;
}

static smp_code check_cluster(const smp_warp_launch *launch, smp_error *err)
{
    const uint32_t *own = launch->kernel->code.cluster, *given = launch->cluster;
    uint32_t shape[3];
    if (!cluster_of(launch, shape))
        return SMP_OK;
    const uint64_t size = (uint64_t)shape[0] * shape[1] * shape[2];
    if (size > WARP_MOST_CLUSTER) {
        smp_fail(err, SMP_E_USAGE, "a cluster of %u x %u x %u blocks cannot be launched", shape[0], shape[1], shape[2]);
        return smp_hint(err, "a cluster has 1 to 8 blocks, 16 where a GPU allows it");
    }
    if (own[0] && given[0] && memcmp(own, given, sizeof launch->cluster) != 0)
        return smp_fail(err, SMP_E_USAGE,
                        "the launch asks for clusters of %u x %u x %u blocks, the kernel for %u x %u x %u", given[0],
                        given[1], given[2], own[0], own[1], own[2]);
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] % shape[i]) {
            smp_fail(err, SMP_E_USAGE, "a grid of %u x %u x %u blocks cannot be launched in clusters of %u x %u x %u",
                     launch->grid[0], launch->grid[1], launch->grid[2], shape[0], shape[1], shape[2]);
            return smp_hint(err, "each of the grid's numbers must be a multiple of the cluster's");
        }
    if (launch->together)
        return smp_fail(err, SMP_E_USAGE, "a cooperative launch in clusters is not supported");
    return SMP_OK;
}

static smp_code open_block(warp_block *block, const smp_warp_launch *launch, uint64_t threads, smp_error *err)
{
    const warp_code *code = &launch->kernel->code;
    enum { ALIGN = 16, SLACK = 64 };
    uint32_t shape[3];
    block->launch = launch;
    block->observer = launch->observer;
    block->deadline = launch->deadline > 0 ? launch->deadline : launch->seconds > 0 ? smp_now() + launch->seconds : 0;
    block->code = code;
    block->insts = launch->kernel->insts;
    block->rows = WARP_FOR_ISA(&warp_row_functions);
    block->threads = (uint32_t)threads;
    block->warps = (block->threads + WARP_LANES - 1) / WARP_LANES;
    block->dynamic_base = (code->shared_bytes + ALIGN - 1) / ALIGN * ALIGN;
    block->shared_size = launch->dynamic_shared ? block->dynamic_base + launch->dynamic_shared : code->shared_bytes;
    while ((UINT32_C(1) << (block->granule_shift + 1)) <= code->granule && block->granule_shift < 2)
        block->granule_shift++;
    block->register_file = smp_alloc_array(block->warps, code->register_bytes);
    block->local_file = smp_alloc_array((size_t)block->warps * WARP_LANES, code->local_bytes);
    block->shared = smp_alloc(block->shared_size + SLACK);
    const size_t granules = (block->shared_size >> block->granule_shift) + 1;
    block->granules = smp_alloc_array(granules, sizeof *block->granules);
    const bool timed = !launch->together && !cluster_of(launch, shape); /* else blocks have granules of their own */
    uint32_t *times = timed ? smp_alloc_array(3 * granules, sizeof *times) : NULL;
    if (times)
        block->times = (warp_times){times, times + granules, times + 2 * granules};
    block->counts = smp_alloc_array(launch->kernel->inst_count, sizeof *block->counts);
    block->memos = smp_alloc_array(launch->kernel->inst_count, sizeof *block->memos);
    block->tallies = smp_alloc_array(launch->kernel->inst_count, sizeof *block->tallies);
    if (!block->register_file || !block->local_file || !block->shared || !block->granules || !block->counts ||
        !block->memos || !block->tallies || (timed && !times))
        return smp_fail_memory(err, "a block", (uint64_t)block->warps * code->register_bytes);
    return code->param_base ? warp_open_banks(block, err) : SMP_OK;
}

static void close_block(warp_block *block)
{
    smp_free_all(block->register_file, block->local_file, block->shared, block->granules, block->times.written,
                 block->counts, block->memos);
    smp_warp_patterns_free(&block->patterns);
    smp_free_all(block->tallies, block->faults, block->lanes);
    warp_close_watch(block);
    warp_close_banks(block);
    smp_free(block);
}

/* ------------------------------------------------------------------------------------------------ launches */

/* Blocks that run one after another in a thread. */
typedef struct share {
    warp_block *block;
    smp_warp_launch launch;  /* with a memory of its own */
    smp_warp_memory shadow;  /* the same where blocks are watched side by side */
    uint64_t from, to, done; /* of the launch's list, or of the grid */
    pthread_t thread;
    bool started;
} share;

static void settle_counts(warp_block *block)
{
    for (uint32_t i = 0; i < block->launch->kernel->inst_count; i++) {
        warp_tally *tally = &block->tallies[i];
        tally->runs += tally->whole;
        tally->lanes += tally->whole * WARP_LANES;
        tally->whole = 0;
        warp_settle_count(block, i);
    }
}

static void *run_share(void *given)
{
    share *s = given;
    const smp_warp_launch *launch = s->block->launch;
    for (uint64_t i = s->from; i < s->to && !s->block->stop; i++, s->done++)
        warp_run_block(s->block, launch->blocks ? launch->blocks[i] : i);
    settle_counts(s->block);
    const bool late = s->block->deadline > 0 && smp_now() > s->block->deadline; /* then it is in one thread, too */
    if (launch->met && s->block->stop && !late)
        *launch->met = true;
    return NULL;
}

/* Updates of memory that blocks share go one after another, and so does what they print and what is observed. Where
 * blocks are watched, so does all that is there for other blocks to see. */
static bool blocks_are_apart(const smp_warp_launch *launch)
{
    const smp_warp_kernel *kernel = launch->kernel;
    bool apart = (!launch->print || launch->met) && !launch->observer;
    for (size_t i = 0; i < kernel->inst_count && apart; i++) {
        const warp_inst *inst = kernel->insts[i];
        apart = (inst->kind != WARP_UPDATES_MEMORY || inst->space == WARP_SHARED) && !inst->serves &&
                !(launch->met && inst->meets);
    }
    return apart;
}

/* Whether blocks of several shares met, or may have. */
static bool shares_meet(share *shares, int count, bool met)
{
    for (int i = 0; i < count; i++)
        met = met || !shares[i].block->watch || shares[i].block->watch->left_out;
    for (int i = 1; i < count && !met; i++)
        met = warp_shadows_meet(&shares[0].shadow, &shares[i].shadow);
    return met;
}

/* Runs all blocks, in as many threads as are wanted; the first share has the sum of all. */
static smp_code run_shares(share *shares, int count, const smp_warp_launch *launch, uint64_t wanted, uint64_t threads,
                           smp_error *err)
{
    smp_code code = SMP_OK;
    uint32_t shape[3];
    for (int i = 0; i < count && !code; i++) {
        shares[i].from = wanted / (uint64_t)count * (uint64_t)i;
        shares[i].to = i + 1 == count ? wanted : wanted / (uint64_t)count * (uint64_t)(i + 1);
        shares[i].block = smp_alloc(sizeof *shares[i].block);
        shares[i].launch = *launch;
        shares[i].launch.met = count > 1 ? launch->met : NULL; /* of one thread none meet */
        if (count > 1 && launch->met) {
            shares[i].launch.memory = &shares[i].shadow;
            code = warp_open_shadow(launch->memory, &shares[i].shadow) ? SMP_OK : smp_fail_memory(err, "a block", 0);
        }
        if (!code)
            code = shares[i].block ? open_block(shares[i].block, &shares[i].launch, threads, err)
                                   : smp_fail_memory(err, "a block", sizeof *shares[i].block);
        if (shares[i].block)
            shares[i].block->alone = count == 1 || launch->met;
        if (!code && (count == 1 || launch->met) && !warp_open_watch(shares[i].block, cluster_of(launch, shape)))
            code = smp_fail_memory(err, "a block", sizeof(warp_watch *));
    }
    if (!code && cluster_of(launch, shape))
        return warp_run_clusters(shares[0].block, shape, &shares[0].done, err);
    if (!code && launch->together)
        return warp_run_cooperative(shares[0].block, wanted, &shares[0].done, err);
    for (int i = 1; i < count && !code; i++)
        shares[i].started = !pthread_create(&shares[i].thread, NULL, run_share, &shares[i]);
    for (int i = 0; i < count && !code; i++)
        if (!shares[i].started)
            (void)run_share(&shares[i]);
    for (int i = 1; i < count; i++)
        if (shares[i].started)
            (void)pthread_join(shares[i].thread, NULL);
    if (!code && count > 1 && launch->met)
        *launch->met = shares_meet(shares, count, *launch->met);
    for (int i = 1; i < count && !code; i++) {
        code = warp_add_counts(shares[0].block, shares[i].block, err);
        shares[0].done += shares[i].done;
    }
    return code;
}

smp_code smp_warp_run(const smp_warp_launch *launch, smp_warp_result *result, smp_error *err)
{
    enum { MOST_SHARES = 64 };
    uint32_t shape[3];
    uint64_t threads = 0, blocks = 0;
    share shares[MOST_SHARES] = {{.block = NULL}};
    memset(result, 0, sizeof *result);
    SMP_TRY(check_launch(launch, &threads, &blocks, err));
    if (!launch->again && (!launch->watch || launch->blocks || launch->kernel->code.counts_only))
        smp_warp_memory_know_all(launch->memory); /* what this launch writes, or leaves, is not followed */
    const double began = smp_now();
    const uint64_t wanted = launch->blocks ? launch->block_count : blocks;
    uint64_t count = launch->threads > 1 && !launch->together && !cluster_of(launch, shape) && blocks_are_apart(launch)
                         ? (uint64_t)launch->threads
                         : 1;
    count = count > MOST_SHARES ? MOST_SHARES : count;
    count = count > wanted ? wanted ? wanted : 1 : count;
    smp_code code = run_shares(shares, (int)count, launch, wanted, threads, err);
    warp_block *block = shares[0].block;
    if (!code)
        settle_counts(block);
    code = code ? code : warp_make_result(block, result, err);
    if (!code) {
        result->watched = block->watch && !block->code->counts_only;
        result->launches = 1;
        result->blocks = blocks;
        result->blocks_run = shares[0].done;
        result->seconds = smp_now() - began;
        result->stopped = block->stop;
        result->error = block->error;
        if (block->stop) {
            code = block->error.code;
            if (err)
                *err = block->error;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        if (shares[i].block)
            close_block(shares[i].block);
        if (shares[i].shadow.buffers && !code && !*launch->met)
            warp_join_shadow(launch->memory, &shares[i].shadow);
        warp_close_shadow(&shares[i].shadow);
    }
    return code;
}
