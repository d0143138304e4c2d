/* The sass source: CUPTI counts, in the kernel's own instructions, the wavefronts that each access of shared memory takes
 * and those that it would take without conflicts. Exact and the same on every run; slow, since every instruction that
 * counts is patched.
 *
 * A measurement runs the work twice: once for wavefronts, once to tell loads, stores, atomics and asynchronous copies apart
 * (with all six metrics at once CUPTI 13.0 adds the ideal to the wavefronts). How CUPTI likes to be driven is not the same
 * everywhere either, and wrong counts come without an error: the ways are tried on kernels whose counts are known
 * (cupti_proof.c), and the first that is right is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counters/cupti.h"

enum { GROUPS = 2, EACH = CUPTI_SASS_METRICS / GROUPS };

typedef struct way {
    const char *name;
    bool configure_each, stay_enabled; /* configured anew for every pass; or never switched off */
    uint8_t lazy;
} way;
static const way ways[] = {
    {"enabled for each pass", false, false, 1},
    {"configured for each pass", true, false, 1},
    {"configured for each pass, all kernels patched", true, false, 0},
    {"always enabled", false, true, 1},
    {"always enabled, all kernels patched", false, true, 0},
};
static int good_way = -1; /* of this process */

typedef struct group { /* metrics that are counted in one pass */
    uint64_t id[EACH];
    CUpti_SassMetrics_Config config[EACH];
    size_t count;
} group;

typedef struct sass_source {
    smp_count_source base;
    cupti_target target;
    group groups[GROUPS];
    int way, configured; /* the group that is, -1: none */
    bool enabled;
    cupti_lines *lines;
} sass_source;

/* SMP_TRACE_COUNTERS=1 shows what is tried, 2 also what CUPTI gives. */
static int trace_level(void)
{
    const char *text = getenv("SMP_TRACE_COUNTERS");
    return text ? atoi(text) : 0;
}

/* ------------------------------------------------------------------------------------------------ on and off */

static smp_code disable(sass_source *sass, smp_error *err)
{
    CUpti_SassMetricsDisable_Params off = {.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
                                           .ctx = sass->target.handles.context};
    smp_code code = SMP_OK;
    if (!sass->enabled)
        return SMP_OK;
    sass->enabled = false;
    CUPTI_TRY(sass->target.api, cuptiSassMetricsDisable, (&off));
fail:
    return code;
}

static smp_code unset(sass_source *sass, smp_error *err)
{
    CUpti_SassMetricsUnsetConfig_Params none = {.structSize = CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE,
                                                .deviceIndex = (uint32_t)sass->base.device->info.index};
    smp_code code = disable(sass, err);
    if (sass->configured < 0)
        return code;
    sass->configured = -1;
    CUPTI_TRY(sass->target.api, cuptiSassMetricsUnsetConfig, (&none));
fail:
    return code;
}

static void let_go(void *owner)
{
    (void)unset(owner, NULL);
}

static smp_code enable(sass_source *sass, int which, smp_error *err)
{
    const cupti_api *api = sass->target.api;
    group *g = &sass->groups[which];
    CUpti_SassMetricsSetConfig_Params set = {.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE,
                                             .numOfMetricConfig = g->count,
                                             .pConfigs = g->config,
                                             .deviceIndex = (uint32_t)sass->base.device->info.index};
    CUpti_SassMetricsEnable_Params on = {.structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE,
                                         .ctx = sass->target.handles.context,
                                         .enableLazyPatching = ways[sass->way].lazy};
    smp_code code = SMP_OK;
    cupti_claim(sass, let_go);
    if (sass->configured != which) {
        code = unset(sass, err);
        if (code)
            return code;
        CUPTI_TRY(api, cuptiSassMetricsSetConfig, (&set));
        sass->configured = which;
    }
    if (!sass->enabled) {
        CUPTI_TRY(api, cuptiSassMetricsEnable, (&on));
        sass->enabled = true;
    }
fail:
    return code;
}

/* ------------------------------------------------------------------------------------------------ records */

typedef struct fetched { /* what CUPTI gave of one pass */
    CUpti_SassMetrics_Data *records;
    CUpti_SassMetrics_InstanceValue *all;
    char (*names)[96]; /* of functions: CUPTI's own texts may go when it is disabled */
    size_t count, values; /* records; values of each */
} fetched;

static void fetched_free(fetched *got)
{
    smp_free(got->records);
    smp_free(got->names);
    smp_free(got->all);
    *got = (fetched){.count = 0};
}

static void trace_records(const fetched *got, size_t instances)
{
    fprintf(stderr, "sass: %zu instructions, %zu instances\n", got->count, instances);
    for (size_t i = 0; i < got->count && i < 8; i++) {
        fprintf(stderr, "  %s+0x%x:", got->names[i], got->records[i].pcOffset);
        for (size_t k = 0; k < got->values; k++)
            if (got->records[i].pInstanceValues[k].metricId != UINT64_MAX)
                fprintf(stderr, " %llx=%llu", (unsigned long long)got->records[i].pInstanceValues[k].metricId,
                        (unsigned long long)got->records[i].pInstanceValues[k].value);
        fputc('\n', stderr);
    }
}

/* Fetches what launches did since the last time; count 0: no instruction was watched. */
static smp_code fetch(sass_source *sass, const group *g, fetched *got, smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = sass->target.api;
    CUpti_SassMetricsGetDataProperties_Params have = {
        .structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE, .ctx = sass->target.handles.context};
    CUPTI_TRY(api, cuptiSassMetricsGetDataProperties, (&have));
    size_t count = have.numOfPatchedInstructionRecords;
    /* CUPTI documents a value for each instance "of each metric"; whichever way it counts, this is enough. */
    size_t values = have.numOfInstances * g->count;
    if (!count || !values) {
        if (trace_level() > 1)
            fprintf(stderr, "sass: %zu instructions, %zu instances\n", count, have.numOfInstances);
        return SMP_OK;
    }
    got->values = values;
    got->records = smp_alloc_array(count, sizeof *got->records);
    got->names = smp_alloc_array(count, sizeof *got->names);
    got->all = smp_alloc_array(count * values, sizeof *got->all);
    if (!got->records || !got->names || !got->all)
        return smp_fail_memory(err, "counted instructions", count * values * sizeof *got->all);
    for (size_t i = 0; i < count * values; i++)
        got->all[i].metricId = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        got->records[i].structSize = sizeof *got->records;
        got->records[i].pInstanceValues = got->all + i * values;
    }
    CUpti_SassMetricsFlushData_Params flush = {.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
                                               .ctx = sass->target.handles.context,
                                               .numOfPatchedInstructionRecords = count,
                                               .numOfInstances = have.numOfInstances,
                                               .pMetricsData = got->records};
    CUPTI_TRY(api, cuptiSassMetricsFlushData, (&flush));
    got->count = count;
    for (size_t i = 0; i < count; i++)
        snprintf(got->names[i], sizeof got->names[i], "%s",
                 got->records[i].functionName ? got->records[i].functionName : "?");
    if (trace_level() > 1)
        trace_records(got, have.numOfInstances);
fail:
    return code;
}

/* The metrics of a group for one record. */
static void sum_record(const fetched *got, size_t index, const group *g, uint64_t sum[EACH])
{
    memset(sum, 0, EACH * sizeof *sum);
    for (size_t i = 0; i < got->values; i++)
        for (int m = 0; m < EACH; m++)
            if (g->id[m] != UINT64_MAX && got->records[index].pInstanceValues[i].metricId == g->id[m])
                sum[m] += got->records[index].pInstanceValues[i].value;
}

/* Which operation an instruction is, by the second pass. Atomics are what is none of the others. */
static smp_shared_op op_of(const fetched *told, const group *g, const char *kernel, uint32_t pc, uint64_t *async)
{
    static const smp_shared_op ops[EACH] = {SMP_SHARED_LOAD, SMP_SHARED_STORE, SMP_SHARED_ASYNC};
    for (size_t i = 0; i < told->count; i++) {
        uint64_t sum[EACH];
        if (told->records[i].pcOffset != pc || strcmp(told->names[i], kernel) != 0)
            continue;
        sum_record(told, i, g, sum);
        for (int m = 0; m < EACH; m++)
            if (sum[m]) {
                *async = ops[m] == SMP_SHARED_ASYNC ? sum[m] : 0;
                return ops[m];
            }
    }
    return SMP_SHARED_ATOMIC;
}

static smp_code add_records(sass_source *sass, const fetched *counted, const fetched *told, smp_counts *counts,
                            smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < counted->count; i++) {
        uint64_t sum[EACH], async = 0;
        char where[96];
        const char *kernel = counted->names[i];
        uint32_t pc = counted->records[i].pcOffset;
        sum_record(counted, i, &sass->groups[0], sum);
        if (!sum[CUPTI_SASS_WAVEFRONTS] && !sum[CUPTI_SASS_INSTRUCTIONS])
            continue; /* never executed */
        smp_shared_op op = op_of(told, &sass->groups[1], kernel, pc, &async);
        smp_shared_count count = {async ? async : sum[CUPTI_SASS_INSTRUCTIONS], sum[CUPTI_SASS_WAVEFRONTS],
                                  sum[CUPTI_SASS_IDEAL]};
        if (sass->base.want_sites)
            cupti_line_of(&sass->target, &sass->lines, kernel, pc, where, sizeof where);
        code = smp_counts_add(counts, kernel, sass->base.want_sites ? where : NULL, op, &count, err);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ measuring */

static smp_code one_pass(sass_source *sass, int which, smp_count_work *work, void *context, fetched *got,
                         smp_error *err)
{
    smp_device *device = sass->base.device;
    smp_code code = device->ops->sync(device, err);
    if (!code)
        code = enable(sass, which, err);
    if (!code && ways[sass->way].stay_enabled) { /* what is left of others' launches */
        fetched stale = {.count = 0};
        code = fetch(sass, &sass->groups[which], &stale, err);
        fetched_free(&stale);
    }
    if (!code)
        code = work(context, err);
    if (!code)
        code = device->ops->sync(device, err);
    if (!code)
        code = fetch(sass, &sass->groups[which], got, err);
    if (code)
        (void)unset(sass, NULL); /* whatever state it is in, the next begins anew */
    else if (ways[sass->way].configure_each)
        code = unset(sass, err);
    else if (!ways[sass->way].stay_enabled)
        code = disable(sass, err);
    return code;
}

static smp_code measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                        smp_error *err)
{
    sass_source *sass = (sass_source *)source;
    fetched counted = {.count = 0}, told = {.count = 0};
    smp_code code = one_pass(sass, 0, work, context, &counted, err);
    if (!code && counted.count)
        code = one_pass(sass, 1, work, context, &told, err);
    if (!code && source->want_sites)
        code = unset(sass, err); /* looking up lines loads modules */
    if (!code)
        code = add_records(sass, &counted, &told, counts, err);
    fetched_free(&counted);
    fetched_free(&told);
    return code;
}

/* Finds the way that counts right, once a process. The emulator passing for a GPU (tests) has none. */
static smp_code find_way(sass_source *sass, smp_error *err)
{
    char last[160] = "";
    sass->way = good_way < 0 ? 0 : good_way;
    if (good_way >= 0 || sass->target.handles.driver->emulated)
        return SMP_OK;
    for (int w = 0; w < (int)(sizeof ways / sizeof ways[0]); w++) {
        char wrong[160];
        sass->way = w;
        smp_code code = cupti_proof(&sass->base, wrong, sizeof wrong, err);
        if (code == SMP_E_DEVICE && err)
            snprintf(wrong, sizeof wrong, "%.159s", err->message);
        else if (code)
            return code;
        (void)unset(sass, NULL);
        if (trace_level() > 0)
            fprintf(stderr, "sass %s: %s\n", ways[w].name, code || wrong[0] ? wrong : "right");
        if (!code && !wrong[0]) {
            good_way = w;
            return SMP_OK;
        }
        if (!last[0])
            memcpy(last, wrong, sizeof last);
    }
    smp_fail(err, SMP_E_DEVICE, "SASS metrics of this CUPTI count wrong: %s", last);
    return smp_hint(err, "SMP_TRACE_COUNTERS=1 shows what was tried; another version of CUPTI may do better (SMP_CUPTI)");
}

static void close_source(smp_count_source *source)
{
    sass_source *sass = (sass_source *)source;
    (void)source->device->ops->sync(source->device, NULL);
    let_go(sass);
    cupti_claim(NULL, NULL);
    cupti_lines_free(sass->lines);
    cupti_target_close(&sass->target);
    smp_free(sass);
}

/* Asks for the metrics' identities. */
static smp_code name_metrics(sass_source *sass, smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = sass->target.api;
    for (int m = 0; m < CUPTI_SASS_METRICS; m++) {
        group *g = &sass->groups[m / EACH];
        CUpti_SassMetrics_GetProperties_Params get = {.structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
                                                      .pChipName = sass->target.chip,
                                                      .pMetricName = cupti_sass_names[m]};
        g->id[m % EACH] = UINT64_MAX;
        if (m != CUPTI_SASS_ASYNC)
            CUPTI_TRY(api, cuptiSassMetricsGetProperties, (&get));
        else if (api->cuptiSassMetricsGetProperties(&get) != CUPTI_SUCCESS)
            continue; /* asynchronous copies came with Ampere */
        g->id[m % EACH] = get.metric.metricId;
        g->config[g->count++] = (CUpti_SassMetrics_Config){
            .metricId = get.metric.metricId, .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    }
fail:
    return code;
}

smp_code smp_count_open_sass(smp_device *device, smp_count_source **out, smp_error *err)
{
    sass_source *sass = smp_alloc(sizeof *sass);
    if (!sass)
        return smp_fail_memory(err, "a source of counts", sizeof *sass);
    sass->base = (smp_count_source){.kind = SMP_COUNT_SASS, .device = device, .measure = measure, .close = close_source};
    sass->configured = -1;
    smp_code code = cupti_target_open(device, CUPTI_PROFILER_SASS_METRICS, &sass->target, err);
    if (!code)
        code = name_metrics(sass, err);
    if (!code)
        code = find_way(sass, err);
    if (!code) {
        *out = &sass->base;
        return SMP_OK;
    }
    close_source(&sass->base);
    return code;
}
