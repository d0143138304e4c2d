/* The names of the metrics, and their configuration. Uses CUPTI's host half, which needs neither GPU nor driver. */
#include "base/alloc.h"
#include "lab/counters/cupti.h"

const char *const cupti_sass_names[CUPTI_SASS_METRICS] = {
    [CUPTI_SASS_WAVEFRONTS] = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    [CUPTI_SASS_IDEAL] = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
    [CUPTI_SASS_INSTRUCTIONS] = "smsp__sass_inst_executed_op_shared",
    [CUPTI_SASS_LOADS] = "smsp__sass_inst_executed_op_shared_ld",
    [CUPTI_SASS_STORES] = "smsp__sass_inst_executed_op_shared_st",
    [CUPTI_SASS_ASYNC] = "smsp__sass_inst_executed_op_ldgsts",
};

#define RANGE(op, suffix)                                                                                              \
    [(op)*CUPTI_RANGE_EACH + CUPTI_RANGE_INSTRUCTIONS] = "smsp__inst_executed_op_shared_" suffix ".sum",               \
                             [(op)*CUPTI_RANGE_EACH + CUPTI_RANGE_WAVEFRONTS] =                                        \
                                 "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" suffix ".sum",                       \
                             [(op)*CUPTI_RANGE_EACH + CUPTI_RANGE_CONFLICTS] =                                         \
                                 "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" suffix ".sum"
const char *const cupti_range_names[CUPTI_RANGE_METRICS] = {
    RANGE(SMP_SHARED_LOAD, "ld"),
    RANGE(SMP_SHARED_STORE, "st"),
    RANGE(SMP_SHARED_ATOMIC, "atom"),
};

smp_code cupti_config_open(const cupti_api *api, const char *chip, const uint8_t *availability,
                           const char *const *names, size_t count, cupti_config *config, smp_error *err)
{
    *config = (cupti_config){0};
    smp_code code = SMP_OK;
    CUpti_Profiler_Host_Initialize_Params initialize = {.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
                                                        .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
                                                        .pChipName = chip,
                                                        .pCounterAvailabilityImage = availability};
    CUPTI_TRY(api, cuptiProfilerHostInitialize, (&initialize));
    config->host = initialize.pHostObject;
    CUpti_Profiler_Host_ConfigAddMetrics_Params add = {.structSize =
                                                           CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
                                                       .pHostObject = config->host,
                                                       .ppMetricNames = (const char **)(uintptr_t)names,
                                                       .numMetrics = count};
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE, .pHostObject = config->host};
    CUPTI_TRY(api, cuptiProfilerHostConfigAddMetrics, (&add));
    CUPTI_TRY(api, cuptiProfilerHostGetConfigImageSize, (&size));
    config->image_size = size.configImageSize;
    config->image = smp_alloc(config->image_size);
    if (!config->image) {
        code = smp_fail_memory(err, "a profiler's configuration", config->image_size);
        goto fail;
    }
    CUpti_Profiler_Host_GetConfigImage_Params get = {.structSize =
                                                         CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
                                                     .pHostObject = config->host,
                                                     .configImageSize = config->image_size,
                                                     .pConfigImage = config->image};
    CUpti_Profiler_Host_GetNumOfPasses_Params passes = {.structSize =
                                                            CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
                                                        .configImageSize = config->image_size,
                                                        .pConfigImage = config->image};
    CUPTI_TRY(api, cuptiProfilerHostGetConfigImage, (&get));
    CUPTI_TRY(api, cuptiProfilerHostGetNumOfPasses, (&passes));
    config->passes = passes.numOfPasses;
    return SMP_OK;
fail:
    cupti_config_close(api, config);
    return code;
}

void cupti_config_close(const cupti_api *api, cupti_config *config)
{
    if (config->host) {
        CUpti_Profiler_Host_Deinitialize_Params end = {
            .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE, .pHostObject = config->host};
        (void)api->cuptiProfilerHostDeinitialize(&end);
    }
    smp_free(config->image);
    *config = (cupti_config){0};
}
