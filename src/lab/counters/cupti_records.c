/* Reads counts of SASS metrics for each instruction, as CUPTI gives them. */
#include "lab/counters/cupti.h"

#include "base/alloc.h"

smp_code cupti_records_open(const cupti_api *api, CUcontext context, size_t metrics, cupti_records *r, smp_error *err)
{
    smp_code code = SMP_OK;
    CUpti_SassMetricsGetDataProperties_Params have = {
        .structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE, .ctx = context};
    *r = (cupti_records){.items = NULL};
    CUPTI_TRY(api, cuptiSassMetricsGetDataProperties, (&have));
    const size_t count = have.numOfPatchedInstructionRecords;
    r->instances = have.numOfInstances;
    r->values = have.numOfInstances * metrics; /* enough however CUPTI counts instances */
    if (!count || !r->values)
        return SMP_OK;
    r->items = smp_alloc_array(count, sizeof *r->items);
    r->room = smp_alloc_array(count * r->values, sizeof *r->room);
    if (!r->items || !r->room) {
        code = smp_fail_memory(err, "counted instructions", count * r->values * sizeof *r->room);
        goto fail;
    }
    for (size_t i = 0; i < count * r->values; i++)
        r->room[i].metricId = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        r->items[i].structSize = sizeof *r->items;
        r->items[i].pInstanceValues = r->room + i * r->values;
    }
    CUpti_SassMetricsFlushData_Params flush = {.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
                                               .ctx = context,
                                               .numOfPatchedInstructionRecords = count,
                                               .numOfInstances = r->instances,
                                               .pMetricsData = r->items};
    CUPTI_TRY(api, cuptiSassMetricsFlushData, (&flush));
    r->count = count;
    return SMP_OK;
fail:
    cupti_records_close(r);
    return code;
}

void cupti_records_close(cupti_records *r)
{
    smp_free_all(r->items, r->room);
    *r = (cupti_records){.items = NULL};
}
