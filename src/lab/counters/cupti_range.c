/* The hw source: CUPTI's range profiler reads hardware counters over the work, which runs once for each pass. The
 * hardware also counts arbitration with global traffic as conflicts: hw minus sass is that arbitration. */
#include <math.h>

#include "base/alloc.h"
#include "lab/counters/cupti.h"

enum { MAX_PASSES = 16 }; /* far more than the metrics need */
static const char range_name[] = "work";

typedef struct range_source {
    smp_count_source base;
    cupti_target target;
    cupti_config config;
    CUpti_RangeProfiler_Object *profiler; /* null: not enabled */
    uint8_t *data;
    size_t data_size;
    bool refused; /* the user may not count */
} range_source;

static void let_go(void *owner)
{
    range_source *range = owner;
    if (range->profiler) {
        CUpti_RangeProfiler_Disable_Params disable = {.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
                                                      .pRangeProfilerObject = range->profiler};
        (void)range->target.api->cuptiRangeProfilerDisable(&disable);
    }
    range->profiler = NULL;
}

static smp_code enable(range_source *range, smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = range->target.api;
    cupti_claim(range, let_go);
    if (range->profiler)
        return SMP_OK;
    CUpti_RangeProfiler_Enable_Params on = {.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
                                            .ctx = range->target.handles.context};
    CUPTI_TRY(api, cuptiRangeProfilerEnable, (&on));
    range->profiler = on.pRangeProfilerObject;
    if (!range->data) {
        CUpti_RangeProfiler_GetCounterDataSize_Params size = {
            .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
            .pRangeProfilerObject = range->profiler,
            .pMetricNames = (const char **)(uintptr_t)cupti_range_names,
            .numMetrics = CUPTI_RANGE_METRICS,
            .maxNumOfRanges = 1,
            .maxNumRangeTreeNodes = 1};
        CUPTI_TRY(api, cuptiRangeProfilerGetCounterDataSize, (&size));
        range->data = smp_alloc(size.counterDataSize);
        SMP_NEED(range->data, "counter data", size.counterDataSize, err);
        range->data_size = size.counterDataSize;
    }
fail:
    return code;
}

/* Counts begin at zero. */
static smp_code prepare(range_source *range, smp_error *err)
{
    const cupti_api *api = range->target.api;
    smp_code code = enable(range, err);
    if (code)
        return code;
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params clear = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = range->profiler,
        .counterDataSize = range->data_size,
        .pCounterData = range->data};
    CUpti_RangeProfiler_SetConfig_Params set = {.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
                                                .pRangeProfilerObject = range->profiler,
                                                .configSize = range->config.image_size,
                                                .pConfig = range->config.image,
                                                .counterDataImageSize = range->data_size,
                                                .pCounterDataImage = range->data,
                                                .range = CUPTI_UserRange,
                                                .replayMode = CUPTI_UserReplay,
                                                .maxRangesPerPass = 1,
                                                .numNestingLevels = 1,
                                                .minNestingLevel = 1,
                                                .passIndex = 0,
                                                .targetNestingLevel = 1};
    CUPTI_TRY(api, cuptiRangeProfilerCounterDataImageInitialize, (&clear));
    CUPTI_TRY(api, cuptiRangeProfilerSetConfig, (&set));
fail:
    return code;
}

/* Runs the work once inside a range. *done: no pass is left. */
static smp_code one_pass(range_source *range, smp_count_work *work, void *context, bool *done, smp_error *err)
{
    const cupti_api *api = range->target.api;
    smp_device *device = range->base.device;
    bool started = false, pushed = false;
    CUpti_RangeProfiler_Start_Params start = {.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = range->profiler};
    CUpti_RangeProfiler_PushRange_Params push = {.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
                                                 .pRangeProfilerObject = range->profiler,
                                                 .pRangeName = range_name};
    CUpti_RangeProfiler_PopRange_Params pop = {.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
                                               .pRangeProfilerObject = range->profiler};
    CUpti_RangeProfiler_Stop_Params stop = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                            .pRangeProfilerObject = range->profiler};
    *done = true;
    smp_code code = device->ops->sync(device, err);
    if (code)
        return code;
    CUptiResult began = api->cuptiRangeProfilerStart(&start);
    range->refused = began == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    if (began != CUPTI_SUCCESS)
        return cupti_fail(api, "cuptiRangeProfilerStart", began, err);
    started = true;
    CUPTI_TRY(api, cuptiRangeProfilerPushRange, (&push));
    pushed = true;
    code = work(context, err);
    if (!code)
        code = device->ops->sync(device, err); /* all launches must end inside the range, on every stream */
fail:
    if (pushed) {
        CUptiResult result = api->cuptiRangeProfilerPopRange(&pop);
        if (!code && result != CUPTI_SUCCESS)
            code = cupti_fail(api, "cuptiRangeProfilerPopRange", result, err);
    }
    if (started) {
        CUptiResult result = api->cuptiRangeProfilerStop(&stop);
        if (!code && result != CUPTI_SUCCESS)
            code = cupti_fail(api, "cuptiRangeProfilerStop", result, err);
        *done = stop.isAllPassSubmitted;
    }
    return code;
}

static smp_code evaluate(range_source *range, double *values, smp_error *err)
{
    smp_code code = SMP_OK;
    const cupti_api *api = range->target.api;
    CUpti_RangeProfiler_DecodeData_Params decode = {.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
                                                    .pRangeProfilerObject = range->profiler};
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {.structSize =
                                                              CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
                                                          .pCounterDataImage = range->data,
                                                          .counterDataImageSize = range->data_size};
    CUpti_Profiler_Host_EvaluateToGpuValues_Params get = {
        .structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
        .pHostObject = range->config.host,
        .pCounterDataImage = range->data,
        .counterDataImageSize = range->data_size,
        .ppMetricNames = (const char **)(uintptr_t)cupti_range_names,
        .numMetrics = CUPTI_RANGE_METRICS,
        .pMetricValues = values};
    CUPTI_TRY(api, cuptiRangeProfilerDecodeData, (&decode));
    CUPTI_TRY(api, cuptiRangeProfilerGetCounterDataInfo, (&info));
    if (info.numTotalRanges != 1 || decode.numOfRangeDropped) {
        code = smp_fail(err, SMP_E_DEVICE, "counters cannot be read: CUPTI gave %zu ranges of 1 and dropped %zu",
                        info.numTotalRanges, decode.numOfRangeDropped);
        goto fail;
    }
    CUPTI_TRY(api, cuptiProfilerHostEvaluateToGpuValues, (&get));
fail:
    return code;
}

static smp_code all_passes(range_source *range, smp_count_work *work, void *context, double *values, smp_error *err)
{
    smp_code code = prepare(range, err);
    bool done = false;
    for (int pass = 0; !code && !done && pass < MAX_PASSES; pass++)
        code = one_pass(range, work, context, &done, err);
    if (!code && !done)
        code = smp_fail(err, SMP_E_DEVICE, "counters cannot be read: CUPTI wants more than %d passes", MAX_PASSES);
    code = code ? code : evaluate(range, values, err);
    return code;
}

static smp_code measure(smp_count_source *source, smp_count_work *work, void *context, smp_counts *counts,
                        smp_error *err)
{
    range_source *range = (range_source *)source;
    double values[CUPTI_RANGE_METRICS];
    smp_code code = all_passes(range, work, context, values, err);
    if (code == SMP_E_DEVICE && !range->refused && cupti_sass_configured()) { /* it does not work beside SASS metrics */
        let_go(range);
        cupti_sass_give_up(range->target.api);
        code = all_passes(range, work, context, values, err);
    }
    for (int op = 0; !code && op < CUPTI_RANGE_OPS; op++) {
        const double *v = values + op * CUPTI_RANGE_EACH;
        uint64_t whole[CUPTI_RANGE_EACH];
        for (int k = 0; k < CUPTI_RANGE_EACH; k++)
            whole[k] = v[k] > 0 && v[k] < 1e18 ? (uint64_t)llround(v[k]) : 0;
        uint64_t wavefronts = whole[CUPTI_RANGE_WAVEFRONTS], conflicts = whole[CUPTI_RANGE_CONFLICTS];
        smp_shared_count count = {whole[CUPTI_RANGE_INSTRUCTIONS], wavefronts,
                                  wavefronts > conflicts ? wavefronts - conflicts : 0};
        smp_counts_add(counts, (smp_shared_op)op, &count);
    }
    if (code)
        let_go(range); /* the next measurement starts from a clean state */
    return code;
}

static void close_source(smp_count_source *source)
{
    range_source *range = (range_source *)source;
    (void)source->device->ops->sync(source->device, NULL);
    let_go(range);
    cupti_claim(NULL, NULL);
    cupti_config_close(range->target.api, &range->config);
    cupti_target_close(&range->target);
    smp_free_all(range->data, range);
}

smp_code smp_count_open_hw(smp_device *device, smp_count_source **out, smp_error *err)
{
    range_source *range = smp_alloc(sizeof *range);
    SMP_NEED(range, "a source of counts", sizeof *range, err);
    range->base = (smp_count_source){.device = device, .measure = measure, .close = close_source};
    smp_code code = cupti_target_open(device, CUPTI_PROFILER_RANGE_PROFILING, &range->target, err);
    if (!code)
        code = cupti_config_open(range->target.api, range->target.chip, range->target.availability, cupti_range_names,
                                 CUPTI_RANGE_METRICS, &range->config, err);
    code = code ? code : enable(range, err);
    if (code == SMP_E_DEVICE && range->config.host && cupti_sass_configured()) {
        let_go(range);
        cupti_sass_give_up(range->target.api);
        code = enable(range, err);
    }
    if (code) {
        cupti_claim(NULL, NULL);
        let_go(range);
        if (range->config.host)
            cupti_config_close(range->target.api, &range->config);
        cupti_target_close(&range->target);
        smp_free_all(range->data, range);
        return code;
    }
    *out = &range->base;
    return SMP_OK;
}
