/* Access patterns of shared memory, row by row: see bank_patterns.h and kernels/bench/bench.cu. */
#include "base/order.h"
#include "bench/bench_run.h"

#include <stdlib.h>
#include <string.h>

#include "banks/bank.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "bench/bench.h"
#include "lab/program_kernels/own.h"

enum {
    COUNTED_BLOCKS = 4, /* a small launch: counts are exact for any size */
    COUNTED_WARPS = 8,
    COUNTED_ROUNDS = 2,
    COUNTED = COUNTED_BLOCKS * COUNTED_WARPS * COUNTED_ROUNDS * BENCH_UNROLL,
    TIMED_WAVEFRONTS = 1 << 19, /* for each SM: a third of a millisecond */
    MULTICAST = 4,              /* lanes that share an element */
    SAMPLES = 5
};
static const int strides[] = {1, 2, 3, 4, 8, 13, 16, 32, 33};
static const int widths[] = {4, 8, 16};

static void apply_rules(smp_bench_pattern *row)
{
    static const smp_bank_op ops[SMP_BENCH_OPS] = {SMP_BANK_LOAD, SMP_BANK_STORE, SMP_BANK_COUNT};
    const bench_pattern p = {.stride = row->stride, .share = row->share};
    smp_bank_access access = {.op = ops[row->op], .width = row->width, .active = UINT32_MAX};
    for (int lane = 0; lane < SMP_WARP; lane++)
        access.offset[lane] = (uint32_t)bench_offset(&p, row->width, lane);
    smp_bank_cost cost = smp_bank_cost_of(&access);
    row->rule_wavefronts = cost.wavefronts;
    row->rule_ideal = cost.ideal;
}

static void add_row(smp_bench_report *report, smp_bench_op op, int width, int stride, int share)
{
    smp_bench_pattern *row = &report->patterns[report->pattern_count++];
    *row = (smp_bench_pattern){.op = op, .width = width, .stride = stride, .share = share};
    if (share == 1)
        snprintf(row->name, sizeof row->name, "stride %d", stride);
    else
        snprintf(row->name, sizeof row->name, "%s", share == SMP_WARP ? "broadcast" : "multicast");
    apply_rules(row);
}

smp_code smp_patterns_list(smp_bench_report *report, smp_error *err)
{
    size_t stride_count = sizeof strides / sizeof strides[0], width_count = sizeof widths / sizeof widths[0];
    size_t most = SMP_BENCH_OPS * width_count * (stride_count + 2);
    report->pattern_count = 0;
    report->counted_instructions = COUNTED;
    report->patterns = smp_alloc_array(most, sizeof *report->patterns);
    SMP_NEED(report->patterns, "patterns", most * sizeof *report->patterns, err);
    for (int op = 0; op < SMP_BENCH_OPS; op++)
        for (size_t w = 0; w < width_count; w++) {
            if (op == SMP_BENCH_COUNT && widths[w] != 4)
                continue; /* there is no wider one */
            for (size_t s = 0; s < stride_count; s++)
                add_row(report, (smp_bench_op)op, widths[w], strides[s], 1);
            add_row(report, (smp_bench_op)op, widths[w], 1, SMP_WARP);
            add_row(report, (smp_bench_op)op, widths[w], 1, MULTICAST);
        }
    return SMP_OK;
}

static void pattern_geometry(const smp_io *, const void *params, smp_grid *grid)
{
    const bench_pattern *p = params;
    grid->grid[0] = p->blocks ? (unsigned)p->blocks : grid->units;
    grid->block[0] = (unsigned)p->warps * SMP_WARP;
}

#define LAUNCH(name) SMP_IN, SMP_OUT, {{0}}, name, pattern_geometry
static const smp_launch launches[SMP_BENCH_OPS][3] = {
    [SMP_BENCH_LOAD] = {{LAUNCH("bench_load4")}, {LAUNCH("bench_load8")}, {LAUNCH("bench_load16")}},
    [SMP_BENCH_STORE] = {{LAUNCH("bench_store4")}, {LAUNCH("bench_store8")}, {LAUNCH("bench_store16")}},
    [SMP_BENCH_COUNT] = {{LAUNCH("bench_count4")}},
};

/* The launch of one row: also the work that a source counts. */
typedef struct pattern_work {
    smp_device *device;
    const smp_launch *launch;
    smp_io io;
    smp_node_plan plan;
    size_t blocks;
} pattern_work;

static smp_code open_work(smp_device *device, pattern_work **out, smp_error *err)
{
    pattern_work *work = smp_alloc(sizeof *work);
    *out = work;
    SMP_NEED(work, "a launch", sizeof *work, err);
    work->device = device;
    work->blocks = (size_t)smp_max_i64(device->info.units, COUNTED_BLOCKS);
    work->io.out = (smp_view){.width = 1, .height = 1, .rows = 1, .channels = 1, .format = SMP_F32, .stride = 64};
    work->io.in = work->io.out;
    SMP_TRY(device->ops->alloc(device, work->blocks * sizeof(uint64_t), &work->io.result, err));
    return device->ops->zero(device, work->io.result, work->blocks * sizeof(uint64_t), err);
}

static void close_work(pattern_work *work)
{
    if (work && work->io.result)
        work->device->ops->free(work->device, work->io.result);
    smp_free(work);
}

static void set_row(pattern_work *work, const smp_bench_pattern *row, int rounds, int blocks, int warps)
{
    const bench_pattern p = {
        .stride = row->stride, .share = row->share, .rounds = rounds, .blocks = blocks, .warps = warps};
    work->launch = &launches[row->op][row->width == 4 ? 0 : row->width == 8 ? 1 : 2];
    memcpy(work->plan.kernel.bytes, &p, sizeof p);
    work->plan.kernel.size = sizeof p;
}

static smp_code launch_row(pattern_work *work, smp_cost *cost, smp_error *err)
{
    static const smp_variant variant = {.name = "pattern"};
    return work->device->ops->launch(work->device, &variant, work->launch, &work->io, &work->plan, cost, err);
}

static smp_code counted_work(void *context, smp_error *err)
{
    return launch_row(context, NULL, err);
}

static smp_code count_rows(smp_count_source *source, pattern_work *work, smp_bench_report *report, smp_error *err)
{
    static const smp_shared_op ops[SMP_BENCH_OPS] = {SMP_SHARED_LOAD, SMP_SHARED_STORE, SMP_SHARED_ATOMIC};
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < report->pattern_count; i++) {
        smp_bench_pattern *row = &report->patterns[i];
        smp_counts counts;
        set_row(work, row, COUNTED_ROUNDS, COUNTED_BLOCKS, COUNTED_WARPS);
        code = smp_count_measure(source, counted_work, work, &counts, err);
        if (code)
            break;
        row->counts[counts.kind] = counts.ops[ops[row->op]];
        row->counted[counts.kind] = true;
    }
    return code;
}

smp_code smp_patterns_count(smp_device *device, smp_count_kind kind, smp_bench_report *report, smp_error *err)
{
    smp_count_source *source = NULL;
    pattern_work *work = NULL;
    smp_error own = {.code = SMP_OK};
    smp_own_count_launches(false);
    smp_code code = smp_count_open(kind, device, &source, &own);
    code = code ? code : open_work(device, &work, &own);
    code = code ? code : count_rows(source, work, report, &own);
    smp_count_close(source);
    close_work(work);
    if (code == SMP_E_DEVICE) { /* the report says what is missing */
        snprintf(report->source_problem[kind], sizeof report->source_problem[kind], "%s", own.message);
        snprintf(report->source_hint[kind], sizeof report->source_hint[kind], "%s", own.hint);
        return SMP_OK;
    }
    if (code && err)
        *err = own;
    return code;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, smp_by_double);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* One launch of a row with one block on every SM. *cycles: the median of the blocks. */
static smp_code time_once(pattern_work *work, double *seconds, double *cycles, smp_error *err)
{
    smp_device *device = work->device;
    size_t units = (size_t)device->info.units, bytes = units * sizeof(uint64_t);
    smp_cost cost = {0};
    uint64_t *ticks = smp_alloc(bytes);
    double *values = smp_alloc(units * sizeof *values);
    smp_code code = ticks && values ? SMP_OK : smp_fail_memory(err, "cycles", bytes);
    code = code ? code : launch_row(work, &cost, err);
    code = code ? code : device->ops->sync(device, err);
    if (!code)
        code = device->ops->copy_out(device, ticks, (int64_t)bytes, work->io.result, (int64_t)bytes, (int64_t)bytes, 1,
                                     err);
    for (size_t i = 0; !code && i < units; i++)
        values[i] = (double)ticks[i];
    if (!code) {
        *seconds = cost.seconds;
        *cycles = median(values, units);
    }
    smp_free_all(ticks, values);
    return code;
}

static smp_code time_row(pattern_work *work, smp_bench_report *report, smp_bench_pattern *row, smp_error *err)
{
    int rounds = TIMED_WAVEFRONTS / (BENCH_MAX_WARPS * BENCH_UNROLL * row->rule_wavefronts);
    double seconds[SAMPLES], cycles[SAMPLES], instructions = (double)rounds * BENCH_UNROLL * BENCH_MAX_WARPS;
    smp_code code = SMP_OK;
    set_row(work, row, rounds, 0, BENCH_MAX_WARPS);
    for (int i = -1; !code && i < SAMPLES; i++) /* the first run loads the kernel */
        code = time_once(work, &seconds[i < 0 ? 0 : i], &cycles[i < 0 ? 0 : i], err);
    if (code)
        return code;
    double all = instructions * SMP_WARP * row->width * work->device->info.units;
    row->cycles = median(cycles, SAMPLES) / instructions;
    row->gbs = all / median(seconds, SAMPLES) * 1e-9;
    /* The SM clock from its own cycle counter. A little low, since a launch takes longer than its blocks. */
    int mhz = (int)(median(cycles, SAMPLES) / median(seconds, SAMPLES) * 1e-6);
    report->sm_clock = mhz > report->sm_clock ? mhz : report->sm_clock;
    return SMP_OK;
}

smp_code smp_patterns_time(smp_device *device, smp_bench_report *report, smp_error *err)
{
    pattern_work *work = NULL;
    smp_code code = open_work(device, &work, err);
    for (size_t i = 0; !code && i < report->pattern_count; i++)
        code = time_row(work, report, &report->patterns[i], err);
    close_work(work);
    return code;
}
