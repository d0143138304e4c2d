/* A stand-in for libcupti.so, for cupti_sources.c: gives fixed counts, and refuses what comes out of order, as the
 * real one does on a GPU. FAKE_CUPTI says what goes wrong: "rights" (the user may not count), "unsupported" (the
 * device), "start" (refused only when counting begins). FAKE_CUPTI_COUNTS names a file of counts to give in place of
 * the fixed ones: a kernel, the place of an instruction, and five metrics a line. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

enum { RECORDS = 4, PASSES = 2, LAB_RECORDS = 50 };

static struct {
    bool initialised, sass_set, sass_on, range_on, range_set, started, pushed, decoded;
    int pass, flushes;
    size_t metrics;
    uint64_t metric[5];
    bool sass_was_set;
} now;

static char function[128];

static bool goes_wrong(const char *what)
{
    const char *mode = getenv("FAKE_CUPTI");
    return mode && !strcmp(mode, what);
}

#define WANT(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return CUPTI_ERROR_INVALID_OPERATION;                                                                      \
    } while (0)

/* A function whose parameters must have the size that they are said to have. */
#define FAKE(function, params)                                                                                         \
    static CUptiResult function##_sized(params *p);                                                                    \
    CUptiResult function(params *p)                                                                                    \
    {                                                                                                                  \
        return p->structSize == params##_STRUCT_SIZE && !p->pPriv ? function##_sized(p)                                \
                                                                  : CUPTI_ERROR_INVALID_PARAMETER;                     \
    }                                                                                                                  \
    static CUptiResult function##_sized(__attribute__((unused)) params *p)

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
            : result == CUPTI_ERROR_INVALID_OPERATION     ? "CUPTI_ERROR_INVALID_OPERATION"
                                                          : "CUPTI_ERROR";
    return CUPTI_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ the device */

FAKE(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params)
{
    now.initialised = true;
    return CUPTI_SUCCESS;
}

FAKE(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params)
{
    WANT(now.initialised);
    p->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported_Params)
{
    bool no = goes_wrong("unsupported");
    p->isSupported = no ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    p->architecture = p->sli = p->confidentialCompute = p->cmp = p->wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    p->vGpu = no ? CUPTI_PROFILER_CONFIGURATION_DISABLED : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params)
{
    if (goes_wrong("rights"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    p->counterAvailabilityImageSize = 32;
    return CUPTI_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ the host half */

FAKE(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params)
{
    p->numChips = 0;
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params)
{
    p->pHostObject = (CUpti_Profiler_Host_Object *)&now;
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params)
{
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)
{
    for (size_t i = 0; i < p->numMetrics; i++)
        WANT(strstr(p->ppMetricNames[i], ".sum"));
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params)
{
    p->configImageSize = 100;
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)
{
    memset(p->pConfigImage, 1, p->configImageSize);
    return CUPTI_SUCCESS;
}

FAKE(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params)
{
    p->numOfPasses = PASSES;
    return CUPTI_SUCCESS;
}

/* The i-th metric is 1000 (i + 1). */
FAKE(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
{
    WANT(now.decoded);
    for (size_t i = 0; i < p->numMetrics; i++)
        p->pMetricValues[i] = 1000. * (double)(i + 1);
    return CUPTI_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ ranges */

FAKE(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params)
{
    WANT(now.initialised && !now.range_on && !now.sass_on && p->ctx);
    if (goes_wrong("beside") && now.sass_set)
        return CUPTI_ERROR_INVALID_OPERATION;
    now.range_on = true;
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&now;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params)
{
    WANT(now.range_on);
    now.range_on = now.range_set = now.started = now.pushed = now.decoded = false;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params)
{
    WANT(now.range_on && p->maxNumRangeTreeNodes >= p->maxNumOfRanges && p->maxNumOfRanges);
    p->counterDataSize = 200;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
{
    WANT(now.range_on && p->counterDataSize == 200 && p->pCounterData);
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params)
{
    WANT(now.range_on && !now.started && p->pConfig && p->configSize == 100 && p->counterDataImageSize == 200);
    WANT(p->range == CUPTI_UserRange && p->replayMode == CUPTI_UserReplay && p->numNestingLevels == 1);
    now.range_set = true;
    now.decoded = false;
    now.pass = 0;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params)
{
    WANT(now.range_set && !now.started);
    if (goes_wrong("start"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    now.started = true;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params)
{
    WANT(now.started && !now.pushed && p->pRangeName);
    now.pushed = true;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params)
{
    WANT(now.pushed);
    now.pushed = false;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params)
{
    WANT(now.started && !now.pushed);
    now.started = false;
    p->isAllPassSubmitted = ++now.pass >= PASSES;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params)
{
    WANT(!now.started && now.pass == PASSES);
    now.decoded = true;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params)
{
    p->numTotalRanges = now.decoded;
    return CUPTI_SUCCESS;
}

FAKE(cuptiRangeProfilerCounterDataGetRangeInfo, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params)
{
    p->rangeName = "work";
    return CUPTI_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ SASS metrics */

CUptiResult cuptiSassMetricsGetNumOfMetrics(CUpti_SassMetrics_GetNumOfMetrics_Params *p)
{
    p->numOfMetrics = 0;
    return CUPTI_SUCCESS;
}

FAKE(cuptiSassMetricsGetMetrics, CUpti_SassMetrics_GetMetrics_Params)
{
    return CUPTI_SUCCESS;
}

/* The metrics of programs in the lab. */
static CUptiResult property_of_the_lab(CUpti_SassMetrics_GetProperties_Params *p)
{
    static const char *const names[] = {"smsp__sass_inst_executed", "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
                                        "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
                                        "smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal"};
    for (uint64_t i = 0; i < 5; i++)
        if (!strcmp(p->pMetricName, names[i])) {
            p->metric.metricId = i + 1;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_METRIC_NAME;
}

/* Identities: wavefronts 1, ideal 2, instructions 3, loads 4, stores 5; a chip without asynchronous copies. */
FAKE(cuptiSassMetricsGetProperties, CUpti_SassMetrics_GetProperties_Params)
{
    static const char *const ends[] = {"wavefronts_mem_shared", "_ideal", "_op_shared", "_shared_ld", "_shared_st"};
    if (getenv("FAKE_CUPTI_COUNTS"))
        return property_of_the_lab(p);
    for (uint64_t i = 0; i < 5; i++) {
        size_t n = strlen(p->pMetricName), k = strlen(ends[i]);
        if (n >= k && !strcmp(p->pMetricName + n - k, ends[i])) {
            p->metric.metricId = i + 1;
            return CUPTI_SUCCESS;
        }
    }
    return CUPTI_ERROR_INVALID_METRIC_NAME;
}

FAKE(cuptiSassMetricsSetConfig, CUpti_SassMetricsSetConfig_Params)
{
    WANT(now.initialised && !now.range_on && p->numOfMetricConfig == 5);
    if (now.sass_was_set) /* as CUPTI 13.0 on an H100 */
        return CUPTI_ERROR_OUT_OF_MEMORY;
    now.sass_was_set = true;
    now.metrics = p->numOfMetricConfig;
    for (size_t i = 0; i < now.metrics; i++)
        now.metric[i] = p->pConfigs[i].metricId;
    now.sass_set = true;
    return CUPTI_SUCCESS;
}

FAKE(cuptiSassMetricsUnsetConfig, CUpti_SassMetricsUnsetConfig_Params)
{
    WANT(now.sass_set && !now.sass_on);
    now.sass_set = false;
    return CUPTI_SUCCESS;
}

FAKE(cuptiSassMetricsEnable, CUpti_SassMetricsEnable_Params)
{
    WANT(now.sass_set && !now.sass_on && p->ctx);
    if (goes_wrong("start"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    now.sass_on = true;
    setenv("FAKE_CUPTI_ON", "1", 1);
    now.flushes = 0;
    return CUPTI_SUCCESS;
}

FAKE(cuptiSassMetricsDisable, CUpti_SassMetricsDisable_Params)
{
    WANT(now.sass_on);
    now.sass_on = false;
    unsetenv("FAKE_CUPTI_ON");
    memset(function, 0, sizeof function); /* names are borrowed only until here */
    return CUPTI_SUCCESS;
}

FAKE(cuptiSassMetricsGetDataProperties, CUpti_SassMetricsGetDataProperties_Params)
{
    WANT(now.sass_on);
    p->numOfPatchedInstructionRecords = getenv("FAKE_CUPTI_COUNTS") ? LAB_RECORDS : RECORDS * now.metrics;
    p->numOfInstances = 1;
    return CUPTI_SUCCESS;
}

/* A record is one metric of one instruction; those that the file lacks are of nothing. */
static CUptiResult records_of_the_lab(CUpti_SassMetricsFlushData_Params *p)
{
    static char names[LAB_RECORDS][128];
    unsigned long long value[5];
    unsigned pc = 0;
    static bool given; /* a second flush finds nothing new */
    FILE *from = fopen(getenv("FAKE_CUPTI_COUNTS"), "r");
    WANT(from && now.sass_on && p->numOfPatchedInstructionRecords == LAB_RECORDS);
    bool more = !given;
    given = true;
    for (size_t k = 0; k < LAB_RECORDS; k++) {
        CUpti_SassMetrics_Data *record = &p->pMetricsData[k];
        if (k % 5 == 0)
            more = more && fscanf(from, "%127s %u %llu %llu %llu %llu %llu", names[k], &pc, &value[0], &value[1],
                                  &value[2], &value[3], &value[4]) == 7;
        record->functionName = more ? names[k / 5 * 5] : "nothing";
        record->pcOffset = pc;
        record->pInstanceValues[0] =
            (CUpti_SassMetrics_InstanceValue){.metricId = now.metric[k % 5], .value = more ? value[k % 5] : 0};
    }
    fclose(from);
    return CUPTI_SUCCESS;
}

/* A load of 3 wavefronts for 1, a store without conflicts, an atomic, and an instruction that was never executed. */
FAKE(cuptiSassMetricsFlushData, CUpti_SassMetricsFlushData_Params)
{
    static const uint64_t values[RECORDS][5] = {
        {192, 64, 64, 64, 0}, {10, 10, 10, 0, 10}, {7, 6, 5, 0, 0}, {0, 0, 0, 0, 0}};
    if (getenv("FAKE_CUPTI_COUNTS"))
        return records_of_the_lab(p);
    WANT(now.sass_on && p->numOfPatchedInstructionRecords == RECORDS * now.metrics && p->numOfInstances == 1);
    bool fresh = !now.flushes++;                         /* a second flush finds nothing new */
    for (size_t k = 0; k < RECORDS * now.metrics; k++) { /* a record is one metric of one instruction */
        size_t r = k / now.metrics, m = k % now.metrics;
        CUpti_SassMetrics_Data *record = &p->pMetricsData[k];
        if (record->structSize != sizeof *record)
            return CUPTI_ERROR_INVALID_PARAMETER;
        record->functionName = strcpy(function, "some_kernel_f32_f32");
        record->pcOffset = (uint32_t)(16 * r + 16);
        record->pInstanceValues[0] = (CUpti_SassMetrics_InstanceValue){
            .metricId = now.metric[m], .value = fresh ? values[r][now.metric[m] - 1] : 0};
    }
    return CUPTI_SUCCESS;
}
