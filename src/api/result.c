/* Measurements of a run: every measurement of every step in one list, and the report as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/alloc.h"
#include "report/report.h"

struct smempipe_result {
    smp_run_report report;
    smempipe_value *values; /* their texts and lists are the report's */
    size_t count;
    char *json; /* from open_memstream */
};

static void list_values(smempipe_result *result)
{
    for (size_t i = 0; i < result->report.step_count; i++) {
        const smp_step_report *step = &result->report.steps[i];
        for (size_t k = 0; k < step->measurements.count; k++) {
            const smp_measurement *from = &step->measurements.items[k];
            result->values[result->count++] = (smempipe_value){
                .stage = step->label,
                .label = step->name[0] ? step->name : NULL,
                .name = from->name,
                .channel = from->channel,
                .line = step->line,
                .value = from->list ? 0 : from->value,
                .list = from->list,
                .count = from->list ? from->list_len : 0,
                .text = from->text[0] ? from->text : NULL,
            };
        }
    }
}

static bool put_json(smempipe_result *result)
{
    size_t length = 0;
    FILE *to = open_memstream(&result->json, &length);
    if (!to)
        return false;
    smp_report_json(to, &result->report, false);
    const bool failed = ferror(to) != 0;
    return fclose(to) == 0 && !failed;
}

smp_code smp_api_result(smp_run_report *report, smempipe_result **out, smp_error *err)
{
    size_t count = 0;
    smempipe_result *made = *out = smp_alloc(sizeof *made);
    for (size_t i = 0; i < report->step_count; i++)
        count += report->steps[i].measurements.count;
    if (made) {
        made->values = smp_alloc_array(count, sizeof *made->values);
        made->report = *report;
        *report = (smp_run_report){.input = NULL};
    }
    if (!made || !made->values || !put_json(made)) {
        smempipe_result_free(made);
        *out = NULL;
        return smp_fail_memory(err, "measurements", count * sizeof *made->values);
    }
    made->report.input = made->report.output = NULL; /* the caller's paths; the JSON has them */
    list_values(made);
    return SMP_OK;
}

size_t smempipe_result_count(const smempipe_result *result)
{
    return result ? result->count : 0;
}

smempipe_code smempipe_result_get(const smempipe_result *result, size_t index, smempipe_value *value)
{
    if (!value)
        return SMEMPIPE_E_ARGUMENT;
    *value = (smempipe_value){.channel = -1};
    if (!result || index >= result->count)
        return SMEMPIPE_E_ARGUMENT;
    *value = result->values[index];
    return SMEMPIPE_OK;
}

const char *smempipe_result_json(const smempipe_result *result)
{
    return result ? result->json : "";
}

void smempipe_result_free(smempipe_result *result)
{
    if (!result)
        return;
    smp_run_report_free(&result->report);
    smp_free(result->values);
    free(result->json);
    smp_free(result);
}
