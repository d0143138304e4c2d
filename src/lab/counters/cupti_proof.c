/* Kernels with known counts, to prove that a source counts right: those of kernels/bench/bench.cu, in which every warp
 * repeats one access. One kernel comes twice with different patterns, since CUPTI may count a kernel only once. */
#include <stdio.h>
#include <string.h>

#include "banks/bank.h"
#include "base/alloc.h"
#include "bench/bench.h"
#include "lab/counters/cupti.h"

enum { BLOCKS = 2, WARPS = 4, ROUNDS = 2, INSTRUCTIONS = BLOCKS * WARPS * ROUNDS * BENCH_UNROLL };

static void proof_geometry(const smp_io *, const void *, smp_grid *grid)
{
    grid->grid[0] = BLOCKS;
    grid->block[0] = WARPS * SMP_WARP;
}

#define KERNEL(name)                                                                                                   \
    {                                                                                                                  \
        SMP_IN, SMP_OUT, {{0}}, name, proof_geometry                                                                   \
    }
static const struct {
    smp_launch launch;
    smp_shared_op op;
    smp_bank_op rule;
    int width, stride;
} proofs[] = {
    {KERNEL("bench_load4"), SMP_SHARED_LOAD, SMP_BANK_LOAD, 4, 2},
    {KERNEL("bench_store8"), SMP_SHARED_STORE, SMP_BANK_STORE, 8, 1},
    {KERNEL("bench_load4"), SMP_SHARED_LOAD, SMP_BANK_LOAD, 4, 3},
    {KERNEL("bench_count4"), SMP_SHARED_ATOMIC, SMP_BANK_COUNT, 4, 4},
    {KERNEL("bench_load16"), SMP_SHARED_LOAD, SMP_BANK_LOAD, 16, 2},
};
enum { PROOFS = sizeof proofs / sizeof proofs[0] };

typedef struct proof_work {
    smp_device *device;
    const smp_launch *launch;
    smp_io io;
    smp_node_plan plan;
} proof_work;

static smp_code launch_proof(void *context, smp_error *err)
{
    static const smp_variant variant = {.name = "proof"};
    proof_work *work = context;
    return work->device->ops->launch(work->device, &variant, work->launch, &work->io, &work->plan, NULL, err);
}

static smp_bank_cost expected(int i, bench_pattern *p)
{
    smp_bank_access access = {.op = proofs[i].rule, .width = proofs[i].width, .active = UINT32_MAX};
    *p = (bench_pattern){.stride = proofs[i].stride, .share = 1, .rounds = ROUNDS, .blocks = BLOCKS, .warps = WARPS};
    for (int lane = 0; lane < SMP_WARP; lane++)
        access.offset[lane] = (uint32_t)bench_offset(p, proofs[i].width, lane);
    return smp_bank_cost_of(&access);
}

static void set_case(proof_work *work, int i, smp_bank_cost *cost)
{
    bench_pattern p;
    *cost = expected(i, &p);
    memcpy(work->plan.kernel.bytes, &p, sizeof p);
    work->plan.kernel.size = sizeof p;
    work->launch = &proofs[i].launch;
}

static smp_code prove_one(smp_count_source *source, proof_work *work, int i, char *wrong, size_t size, smp_error *err)
{
    smp_counts counts = {.kind = source->kind};
    smp_bank_cost cost;
    set_case(work, i, &cost);
    smp_code code = source->measure(source, launch_proof, work, &counts, err);
    const smp_shared_count *got = &counts.ops[proofs[i].op];
    const uint64_t wavefronts = (uint64_t)(INSTRUCTIONS * cost.wavefronts),
                   ideal = (uint64_t)(INSTRUCTIONS * cost.ideal);
    if (!code && (got->instructions != INSTRUCTIONS || got->wavefronts != wavefronts || got->ideal != ideal))
        snprintf(wrong, size, "%s, case %d: %llu instructions, %llu wavefronts, %llu ideal; there are %d, %llu, %llu",
                 proofs[i].launch.cuda, i, (unsigned long long)got->instructions, (unsigned long long)got->wavefronts,
                 (unsigned long long)got->ideal, INSTRUCTIONS, (unsigned long long)wavefronts,
                 (unsigned long long)ideal);
    return code;
}

static smp_code open_work(smp_device *device, proof_work **out, smp_error *err)
{
    proof_work *work = smp_alloc(sizeof *work);
    *out = work;
    SMP_NEED(work, "a launch", sizeof *work, err);
    work->device = device;
    work->io.out = (smp_view){.width = 1, .height = 1, .rows = 1, .channels = 1, .format = SMP_F32, .stride = 64};
    work->io.in = work->io.out;
    return device->ops->alloc(device, BLOCKS * sizeof(uint64_t), &work->io.result, err);
}

static void close_work(proof_work *work)
{
    if (work && work->io.result)
        work->device->ops->free(work->device, work->io.result);
    smp_free(work);
}

smp_code cupti_proof(smp_count_source *source, char *wrong, size_t size, smp_error *err)
{
    proof_work *work;
    wrong[0] = '\0';
    smp_code code = open_work(source->device, &work, err);
    for (int i = 0; !code && !wrong[0] && i < PROOFS; i++)
        code = prove_one(source, work, i, wrong, size, err);
    close_work(work);
    return code;
}

smp_code cupti_proof_load(smp_device *device, smp_error *err)
{
    proof_work *work;
    smp_bank_cost cost;
    smp_code code = open_work(device, &work, err);
    for (int i = 0; !code && i < PROOFS; i++) {
        set_case(work, i, &cost);
        code = launch_proof(work, err);
    }
    code = code ? code : device->ops->sync(device, err);
    close_work(work);
    return code;
}
