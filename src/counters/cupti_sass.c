/* The sass source: CUPTI counts, in the kernel's own instructions, the wavefronts that each access of shared memory takes
 * and those that it would take without conflicts. Exact and the same on every run; slow, since every instruction that
 * counts is patched. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "counters/cupti.h"

typedef struct sass_source {
    smp_count_source base;
    cupti_target target;
    uint64_t id[CUPTI_SASS_METRICS];
    bool known[CUPTI_SASS_METRICS];
    CUpti_SassMetrics_Config config[CUPTI_SASS_METRICS];
    size_t config_count;
    bool configured, enabled, reloaded;
    cupti_lines *lines;
} sass_source;

static void let_go(void *owner)
{
    sass_source *sass = owner;
    const cupti_api *api = sass->target.api;
    if (sass->enabled) {
        CUpti_SassMetricsDisable_Params disable = {.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
                                                   .ctx = sass->target.handles.context};
        (void)api->cuptiSassMetricsDisable(&disable);
    }
    if (sass->configured) {
        CUpti_SassMetricsUnsetConfig_Params unset = {.structSize = CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE,
                                                     .deviceIndex = (uint32_t)sass->base.device->info.index};
        (void)api->cuptiSassMetricsUnsetConfig(&unset);
    }
    sass->enabled = sass->configured = false;
}

static smp_code configure(sass_source *sass, smp_error *err)
{
    smp_code code = SMP_OK;
    cupti_claim(sass, let_go);
    if (sass->configured)
        return SMP_OK;
    CUpti_SassMetricsSetConfig_Params set = {.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE,
                                             .numOfMetricConfig = sass->config_count,
                                             .pConfigs = sass->config,
                                             .deviceIndex = (uint32_t)sass->base.device->info.index};
    CUPTI_TRY(sass->target.api, cuptiSassMetricsSetConfig, (&set));
    sass->configured = true;
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

static smp_code add_record(sass_source *sass, const fetched *got, size_t index, smp_counts *counts, smp_error *err)
{
    const CUpti_SassMetrics_Data *record = &got->records[index];
    uint64_t sum[CUPTI_SASS_METRICS] = {0};
    for (size_t i = 0; i < got->values; i++)
        for (int m = 0; m < CUPTI_SASS_METRICS; m++)
            if (sass->known[m] && record->pInstanceValues[i].metricId == sass->id[m])
                sum[m] += record->pInstanceValues[i].value;
    smp_shared_count count = {0, sum[CUPTI_SASS_WAVEFRONTS], sum[CUPTI_SASS_IDEAL]};
    int op = SMP_SHARED_LOAD;
    for (int k = 0; k < SMP_SHARED_OPS; k++)
        if (sum[CUPTI_SASS_INSTRUCTIONS + k] > count.instructions) {
            count.instructions = sum[CUPTI_SASS_INSTRUCTIONS + k];
            op = k;
        }
    if (!count.instructions && !count.wavefronts)
        return SMP_OK; /* never executed */
    const char *kernel = got->names[index];
    char where[96];
    if (sass->base.want_sites)
        cupti_line_of(&sass->target, &sass->lines, kernel, record->pcOffset, where, sizeof where);
    return smp_counts_add(counts, kernel, sass->base.want_sites ? where : NULL, (smp_shared_op)op, &count, err);
}

/* Fetches what the launches since Enable did; count 0: no instruction was watched. Memory is the caller's to free. */
static smp_code fetch(sass_source *sass, fetched *got, smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = sass->target.api;
    CUpti_SassMetricsGetDataProperties_Params have = {
        .structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE, .ctx = sass->target.handles.context};
    CUPTI_TRY(api, cuptiSassMetricsGetDataProperties, (&have));
    size_t count = have.numOfPatchedInstructionRecords;
    /* CUPTI documents a value for each instance "of each metric"; whichever way it counts, this is enough. */
    size_t values = have.numOfInstances * sass->config_count;
    if (!count || !values)
        return SMP_OK;
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
fail:
    return code;
}

/* One pass of the work. *some: an instruction on shared memory was watched. */
static smp_code one_pass(sass_source *sass, smp_count_work *work, void *context, smp_counts *counts, bool *some,
                         smp_error *err)
{
    const cupti_api *api = sass->target.api;
    smp_device *device = sass->base.device;
    fetched got = {.count = 0};
    CUpti_SassMetricsEnable_Params enable = {.structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE,
                                             .ctx = sass->target.handles.context,
                                             .enableLazyPatching = 1};
    CUpti_SassMetricsDisable_Params disable = {.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
                                               .ctx = sass->target.handles.context};
    smp_code code = device->ops->sync(device, err);
    if (code)
        return code;
    CUPTI_TRY(api, cuptiSassMetricsEnable, (&enable));
    sass->enabled = true;
    code = work(context, err);
    if (!code)
        code = device->ops->sync(device, err);
    if (!code)
        code = fetch(sass, &got, err);
    *some = got.count > 0;
    /* Disabling comes after the data was fetched, and before lines are looked up, which loads modules. */
    sass->enabled = false;
    CUptiResult off = api->cuptiSassMetricsDisable(&disable);
    if (!code && off != CUPTI_SUCCESS)
        code = cupti_fail(api, "cuptiSassMetricsDisable", off, err);
    for (size_t i = 0; !code && i < got.count; i++)
        code = add_record(sass, &got, i, counts, err);
fail:
    smp_free(got.records);
    smp_free(got.names);
    smp_free(got.all);
    return code;
}

static smp_code measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                        smp_error *err)
{
    sass_source *sass = (sass_source *)source;
    bool some = false;
    smp_code code = configure(sass, err);
    if (!code)
        code = one_pass(sass, work, context, counts, &some, err);
    /* Kernels that were loaded before CUPTI may be out of its reach: once, they are loaded anew. Kernels without shared
     * memory have nothing to watch either. */
    if (!code && !some && !sass->reloaded) {
        sass->reloaded = true;
        code = smp_cuda_reload(source->device, err);
        if (!code)
            code = one_pass(sass, work, context, counts, &some, err);
    }
    return code;
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

smp_code smp_count_open_sass(smp_device *device, smp_count_source **out, smp_error *err)
{
    sass_source *sass = smp_alloc(sizeof *sass);
    if (!sass)
        return smp_fail_memory(err, "a source of counts", sizeof *sass);
    sass->base = (smp_count_source){.device = device, .measure = measure, .close = close_source};
    smp_code code = cupti_target_open(device, CUPTI_PROFILER_SASS_METRICS, &sass->target, err);
    if (code)
        goto fail;
    const cupti_api *api = sass->target.api;
    for (int m = 0; m < CUPTI_SASS_METRICS; m++) {
        CUpti_SassMetrics_GetProperties_Params get = {.structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
                                                      .pChipName = sass->target.chip,
                                                      .pMetricName = cupti_sass_names[m]};
        if (m < CUPTI_SASS_INSTRUCTIONS)
            CUPTI_TRY(api, cuptiSassMetricsGetProperties, (&get));
        else if (api->cuptiSassMetricsGetProperties(&get) != CUPTI_SUCCESS)
            continue; /* asynchronous copies came with Ampere */
        sass->known[m] = true;
        sass->id[m] = get.metric.metricId;
        sass->config[sass->config_count++] = (CUpti_SassMetrics_Config){
            .metricId = get.metric.metricId, .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    }
    code = configure(sass, err);
    if (code)
        goto fail;
    *out = &sass->base;
    return SMP_OK;
fail:
    cupti_claim(NULL, NULL);
    cupti_target_close(&sass->target);
    smp_free(sass);
    return code;
}
