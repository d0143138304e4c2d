/* The sass source: CUPTI counts, in the kernel's own instructions, the wavefronts of each shared-memory access and
 * those that it would take without conflicts. Exact and the same on every run. Slow, since CUPTI patches every counted
 * instruction.
 *
 * CUPTI 13.0 on an H100 has these limits. Metrics can be configured once in a process: a second
 * cuptiSassMetricsSetConfig returns OUT_OF_MEMORY, also after UnsetConfig. Only the first kernel is counted, unless the
 * counters' availability was queried before (cupti_target_open). Kernels that are loaded later may not be counted. A
 * record holds one metric of one instruction. So metrics are configured once and enabled for each measurement only, and
 * work with kernels that were not loaded before is refused. CUPTI reports no error with wrong counts: the source checks
 * itself on kernels with known counts (cupti_proof.c) and is not available when that fails. Where metrics are enabled
 * for each measurement, other processes count in between: a source that waits for the model keeps nobody waiting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/counters/cupti.h"

/* Ways to drive CUPTI, tried in order. subtract: CUPTI counts again what was flushed before. */
typedef struct way {
    const char *name;
    bool each, subtract; /* enable for each measurement only */
    uint8_t lazy;
} way;
static const way ways[] = {
    {"enabled each time", true, false, 1},
    {"enabled each time, all kernels patched", true, false, 0},
    {"enabled throughout", false, false, 1},
    {"enabled throughout, counts add up", false, true, 1},
};

/* The one configuration of the process. */
static struct {
    bool configured, enabled, given_up;
    bool was_disabled; /* since the last check against known counts */
    int way;           /* -1: none was proved */
    CUcontext context;
    uint32_t device;
    uint64_t id[CUPTI_SASS_METRICS]; /* UINT64_MAX: the chip has no such metric */
    size_t metrics, kernels;         /* kernels: that were loaded before it was configured */
} session = {.way = -1};

typedef struct sass_source {
    smp_count_source base;
    cupti_target target;
} sass_source;

/* SMP_TRACE_COUNTERS=1 shows the attempts, 2 also CUPTI's records. */
static int trace_level(void)
{
    const char *text = getenv("SMP_TRACE_COUNTERS");
    return text ? atoi(text) : 0;
}

/* ------------------------------------------------------------------------------------------------ on and off */

static smp_code disable(const cupti_api *api, smp_error *err)
{
    CUpti_SassMetricsDisable_Params off = {.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
                                           .ctx = session.context};
    smp_code code = SMP_OK;
    if (!session.enabled)
        return SMP_OK;
    session.enabled = false;
    session.was_disabled = true;
    CUPTI_TRY(api, cuptiSassMetricsDisable, (&off));
fail:
    return code;
}

void cupti_sass_give_up(const cupti_api *api)
{
    CUpti_SassMetricsUnsetConfig_Params none = {.structSize = CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE,
                                                .deviceIndex = session.device};
    (void)disable(api, NULL);
    if (session.configured)
        (void)api->cuptiSassMetricsUnsetConfig(&none);
    session.given_up |= session.configured;
    session.configured = false;
}

bool cupti_sass_configured(void)
{
    return session.configured;
}

static void let_go(void *owner)
{
    (void)disable(((sass_source *)owner)->target.api, NULL);
}

static void end_session(void)
{
    const cupti_api *api;
    if (cupti_load(&api, NULL) == SMP_OK)
        cupti_sass_give_up(api);
}

static smp_code configure(sass_source *sass, smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = sass->target.api;
    CUpti_SassMetrics_Config config[CUPTI_SASS_METRICS];
    if (session.given_up || (session.configured && session.context != sass->target.handles.context)) {
        smp_fail(err, SMP_E_DEVICE, "SASS metrics can be configured once in a process: that was done and is over");
        return smp_hint(err, "count in a process of its own: fewer steps (--stages), or one device");
    }
    if (session.configured)
        return SMP_OK;
    session.context = sass->target.handles.context;
    session.device = (uint32_t)sass->base.device->info.index;
    session.metrics = 0;
    for (int m = 0; m < CUPTI_SASS_METRICS; m++) {
        CUpti_SassMetrics_GetProperties_Params get = {.structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
                                                      .pChipName = sass->target.chip,
                                                      .pMetricName = cupti_sass_names[m]};
        session.id[m] = UINT64_MAX;
        if (m != CUPTI_SASS_ASYNC)
            CUPTI_TRY(api, cuptiSassMetricsGetProperties, (&get));
        else if (api->cuptiSassMetricsGetProperties(&get) != CUPTI_SUCCESS)
            continue; /* asynchronous copies came with Ampere */
        session.id[m] = get.metric.metricId;
        config[session.metrics++] = (CUpti_SassMetrics_Config){
            .metricId = get.metric.metricId, .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    }
    CUpti_SassMetricsSetConfig_Params set = {.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE,
                                             .numOfMetricConfig = session.metrics,
                                             .pConfigs = config,
                                             .deviceIndex = session.device};
    CUPTI_TRY(api, cuptiSassMetricsSetConfig, (&set));
    session.configured = true;
    smp_cuda_before_close(sass->base.device, end_session);
    session.kernels = smp_cuda_kernel_count(sass->base.device);
fail:
    return code;
}

static smp_code enable(sass_source *sass, smp_error *err)
{
    CUpti_SassMetricsEnable_Params on = {.structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE,
                                         .ctx = session.context,
                                         .enableLazyPatching = ways[session.way].lazy};
    cupti_claim(sass, let_go);
    smp_code code = configure(sass, err);
    if (code || session.enabled)
        return code;
    CUPTI_TRY(sass->target.api, cuptiSassMetricsEnable, (&on));
    session.enabled = true;
fail:
    return code;
}

/* ------------------------------------------------------------------------------------------------ records */

/* One instruction of a kernel, its metrics. */
typedef struct instruction {
    char kernel[96]; /* a copy: CUPTI's own text may go when it is disabled */
    uint32_t pc;
    uint64_t value[CUPTI_SASS_METRICS];
} instruction;

typedef struct instructions {
    instruction *items;
    size_t count, capacity;
} instructions;

/* The records of one instruction are mostly contiguous, or in the order of the instructions. */
static instruction *instruction_at(instructions *all, const char *kernel, uint32_t pc)
{
    for (size_t i = all->count; i-- > 0;)
        if (all->items[i].pc == pc && !strncmp(all->items[i].kernel, kernel, sizeof all->items[i].kernel - 1))
            return &all->items[i];
    return NULL;
}

static smp_code add_record(instructions *all, const CUpti_SassMetrics_Data *record, size_t values, smp_error *err)
{
    const char *kernel = record->functionName ? record->functionName : "?";
    uint64_t any = 0;
    for (size_t i = 0; i < values; i++)
        any |= record->pInstanceValues[i].metricId != UINT64_MAX ? record->pInstanceValues[i].value : 0;
    if (!any)
        return SMP_OK; /* most of them: of kernels that did not run this time */
    instruction *at = instruction_at(all, kernel, record->pcOffset);
    if (!at) {
        SMP_NEED(smp_grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items), "counted instructions",
                 sizeof *all->items, err);
        at = &all->items[all->count++];
        *at = (instruction){.pc = record->pcOffset};
        snprintf(at->kernel, sizeof at->kernel, "%s", kernel);
    }
    for (size_t i = 0; i < values; i++)
        for (int m = 0; m < CUPTI_SASS_METRICS; m++)
            if (session.id[m] != UINT64_MAX && record->pInstanceValues[i].metricId == session.id[m])
                at->value[m] += record->pInstanceValues[i].value;
    return SMP_OK;
}

static void trace_instructions(const instructions *all, size_t records, size_t instances)
{
    fprintf(stderr, "sass: %zu records, %zu instances, %zu instructions\n", records, instances, all->count);
    for (size_t i = 0; i < all->count && i < 12; i++) {
        fprintf(stderr, "  %s+0x%x:", all->items[i].kernel, all->items[i].pc);
        for (int m = 0; m < CUPTI_SASS_METRICS; m++)
            fprintf(stderr, " %llu", (unsigned long long)all->items[i].value[m]);
        fputc('\n', stderr);
    }
}

/* Fetches the counts since the last fetch. */
static smp_code fetch(sass_source *sass, instructions *all, smp_error *err)
{
    cupti_records records;
    smp_code code = cupti_records_open(sass->target.api, session.context, session.metrics, &records, err);
    for (size_t i = 0; !code && i < records.count; i++)
        code = add_record(all, &records.items[i], records.values, err);
    if (!code && trace_level() > 1)
        trace_instructions(all, records.count, records.instances);
    cupti_records_close(&records);
    return code;
}

static void subtract(instructions *from, instructions *what)
{
    for (size_t i = 0; i < what->count; i++) {
        instruction *at = instruction_at(from, what->items[i].kernel, what->items[i].pc);
        for (int m = 0; at && m < CUPTI_SASS_METRICS; m++)
            at->value[m] -= at->value[m] < what->items[i].value[m] ? at->value[m] : what->items[i].value[m];
    }
}

static void add_instruction(const instruction *at, smp_counts *counts)
{
    const uint64_t *v = at->value;
    smp_shared_op op = v[CUPTI_SASS_LOADS]    ? SMP_SHARED_LOAD
                       : v[CUPTI_SASS_STORES] ? SMP_SHARED_STORE
                       : v[CUPTI_SASS_ASYNC]  ? SMP_SHARED_ASYNC
                                              : SMP_SHARED_ATOMIC;
    smp_shared_count count = {op == SMP_SHARED_ASYNC ? v[CUPTI_SASS_ASYNC] : v[CUPTI_SASS_INSTRUCTIONS],
                              v[CUPTI_SASS_WAVEFRONTS], v[CUPTI_SASS_IDEAL]};
    if (count.instructions || count.wavefronts) /* else never executed, or not an access to shared memory */
        smp_counts_add(counts, op, &count);
}

/* ------------------------------------------------------------------------------------------------ measuring */

static smp_code measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                        smp_error *err)
{
    sass_source *sass = (sass_source *)source;
    const way *how = &ways[session.way];
    instructions before = {.count = 0}, all = {.count = 0};
    const bool had_turn = sass->target.turn;
    cupti_target_turn(&sass->target, true);
    smp_code code = source->device->ops->sync(source->device, err);
    code = code ? code : enable(sass, err);
    if (!code && !how->each)
        code = fetch(sass, &before, err); /* counts of other launches meanwhile */
    code = code ? code : work(context, err);
    code = code ? code : source->device->ops->sync(source->device, err);
    if (!code && smp_cuda_kernel_count(source->device) > session.kernels) {
        smp_fail(err, SMP_E_DEVICE, "SASS metrics count only kernels that were loaded before they were configured");
        code = smp_hint(err, "the modelled counts need none of this");
    }
    code = code ? code : fetch(sass, &all, err);
    if (how->each || code) {
        smp_code off = disable(sass->target.api, code ? NULL : err);
        code = code ? code : off;
    }
    cupti_target_turn(&sass->target, had_turn);
    if (!code && how->subtract)
        subtract(&all, &before);
    for (size_t i = 0; !code && i < all.count; i++)
        add_instruction(&all.items[i], counts);
    smp_free_all(before.items, all.items);
    return code;
}

/* Finds a way that counts right, and checks it again after another profiler had the counters. An emulator that poses as
 * a GPU (tests) cannot be checked. */
static smp_code prove(sass_source *sass, smp_error *err)
{
    const int count = (int)(sizeof ways / sizeof ways[0]), known = session.way;
    char first[160] = "";
    session.way = known < 0 ? 0 : known;
    if (sass->target.handles.driver->emulated || (known >= 0 && !session.was_disabled))
        return configure(sass, err);
    if (known < 0) {
        smp_code code = cupti_proof_load(sass->base.device, err);
        if (code) {
            session.way = known;
            return code;
        }
    }
    for (int w = session.way; w < (known < 0 ? count : known + 1); w++) {
        char wrong[160] = "";
        session.way = w;
        smp_code code = cupti_proof(&sass->base, wrong, sizeof wrong, err);
        if (code == SMP_E_DEVICE && err)
            snprintf(wrong, sizeof wrong, "%.159s", err->message);
        else if (code) {
            session.way = known;
            return code;
        }
        if (trace_level() > 0)
            fprintf(stderr, "sass %s: %s\n", ways[w].name, code || wrong[0] ? wrong : "right");
        if (!code && !wrong[0]) {
            session.was_disabled = false;
            return SMP_OK;
        }
        if (code || ways[w].each || w + 1 == count) /* counts that accumulate show only where it stays enabled */
            (void)disable(sass->target.api, NULL);
        if (!first[0])
            memcpy(first, wrong, sizeof first);
        if (!session.configured)
            break;
    }
    session.way = known;
    smp_fail(err, SMP_E_DEVICE, "SASS metrics of this CUPTI count wrong%s: %s", known < 0 ? "" : " a second time",
             first);
    return smp_hint(err, "SMP_TRACE_COUNTERS=1 shows what was tried; the modelled counts need none of this");
}

static void close_source(smp_count_source *source)
{
    sass_source *sass = (sass_source *)source;
    (void)source->device->ops->sync(source->device, NULL);
    let_go(sass);
    cupti_claim(NULL, NULL);
    cupti_target_close(&sass->target);
    smp_free(sass);
}

smp_code smp_count_open_sass(smp_device *device, smp_count_source **out, smp_error *err)
{
    const char *without = getenv("SMP_WITHOUT_SASS");
    if (without && *without && strcmp(without, "0") != 0)
        return smp_fail(err, SMP_E_DEVICE, "SASS metrics are switched off by SMP_WITHOUT_SASS");
    sass_source *sass = smp_alloc(sizeof *sass);
    SMP_NEED(sass, "a source of counts", sizeof *sass, err);
    sass->base =
        (smp_count_source){.kind = SMP_COUNT_SASS, .device = device, .measure = measure, .close = close_source};
    smp_code code = cupti_target_open(device, CUPTI_PROFILER_SASS_METRICS, &sass->target, err);
    code = code ? code : prove(sass, err);
    if (!code) {
        cupti_target_turn(&sass->target, !ways[session.way].each);
        *out = &sass->base;
        return SMP_OK;
    }
    close_source(&sass->base);
    return code;
}
