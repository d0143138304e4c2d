/* Tuning a pipeline on a file: see tune.h. */
#include "exec/tune.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "exec/compare_file.h"
#include "exec/tune_work.h"

static const double step_share = 0.65; /* of the time limit; the rest is for whole runs */

smp_tune_try *smp_tune_try_add(smp_tune_row *row, const char *text, smp_error *err)
{
    if (!smp_grow(&row->tries, &row->try_capacity, row->try_count + 1, sizeof *row->tries)) {
        smp_fail_memory(err, "what was tried", row->try_count * sizeof *row->tries);
        return NULL;
    }
    smp_tune_try *t = &row->tries[row->try_count++];
    *t = (smp_tune_try){.seconds = 0};
    snprintf(t->text, sizeof t->text, "%s", text);
    return t;
}

smp_code smp_tune_progress(smp_tuner *tuner, double seconds)
{
    const smp_run_request *run = tuner->request->run;
    tuner->spent += seconds;
    return run->progress ? run->progress(run->progress_context, (int64_t)(1e3 * tuner->spent),
                                         (int64_t)(1e3 * tuner->request->time_limit))
                         : SMP_OK;
}

/* What is kept of one step or of the whole: what was chosen, or nothing. */
static smp_code keep(const smp_tuner *tuner, smp_tuned *tuned, const char *device, int index, int64_t strip_rows,
                     const smp_tune_row *row, smp_error *err)
{
    const smp_step *step = index > 0 ? &tuner->plan->steps[index] : NULL;
    char *work = step ? smp_tuned_step_key(tuner->plan, step) : smp_tuned_plan_key(tuner->plan);
    if (!work)
        return smp_fail_memory(err, "what was tuned", 256);
    smp_tuned_entry entry = {
        .strip_rows = strip_rows, .before = row->before.median * 1e3, .after = row->after.median * 1e3};
    if (step) {
        entry.stage = step->stage;
        entry.measures = step->job == SMP_JOB_REDUCE && step->stage->reducers;
        entry.tuning = tuner->choices[index];
    }
    smp_code code = smp_tuned_set(tuned, device, work, &entry, err);
    smp_free(work);
    return code;
}

static smp_code keep_all(const smp_tuner *tuner, smp_tuned *tuned, int64_t strip_rows, smp_error *err)
{
    char *device = smp_tuned_device_key(tuner->device);
    smp_code code = device ? SMP_OK : smp_fail_memory(err, "what was tuned", 256);
    for (size_t i = 0; !code && i < tuner->report->count; i++) {
        const smp_tune_row *row = &tuner->report->rows[i];
        if (!row->same_as)
            code = keep(tuner, tuned, device, row->number, row->number ? 0 : strip_rows, row, err);
    }
    smp_free(device);
    return code;
}

static smp_code search(smp_tuner *tuner, const smp_whole_input *input, smp_tuned *tuned, smp_error *err)
{
    const smp_tune_request *request = tuner->request;
    const size_t count = tuner->plan->step_count;
    int64_t strip_rows = 0;
    tuner->strip_rows = smp_strip_rows(tuner->plan, tuner->device, 0);
    tuner->report->strip_rows = tuner->strip_rows;
    tuner->step_budget = request->time_limit * step_share;
    tuner->choices = smp_alloc_array(count, sizeof *tuner->choices);
    tuner->report->rows = smp_alloc_array(count + 1, sizeof *tuner->report->rows);
    if (!tuner->choices || !tuner->report->rows)
        return smp_fail_memory(err, "the search", count * sizeof *tuner->report->rows);
    for (size_t i = 0; i < count; i++)
        tuner->steps_left += tuner->plan->steps[i].job != SMP_JOB_SOURCE;
    smp_compare found;
    smp_compare_request compare = {
        .plan = tuner->plan,
        .device = tuner->device,
        .repeat = request->repeat,
        .time_limit = request->time_limit,
        .hot = tuner->device->host_memory, /* strips that were just decoded lie in the caches of a CPU */
        .times = true,
        .threads = request->threads,
        .limits = &request->run->limits,
        .contest = smp_tune_step,
        .contest_context = tuner,
    };
    smp_code code = smp_compare_plan(&compare, &input->view, &found, err);
    smp_compare_free(&found);
    if (!code)
        code = smp_tune_whole(tuner, &input->view, &strip_rows, err);
    if (!code)
        code = smp_tuned_refresh(tuned, err);
    return code ? code : keep_all(tuner, tuned, strip_rows, err);
}

smp_code smp_tune_file(const smp_tune_request *request, smp_tuned *tuned, smp_tune_report *report, smp_error *err)
{
    smp_run_request run = *request->run;
    smp_whole_input input;
    double start = smp_now();
    *report = (smp_tune_report){.input = run.input, .device = run.device->info};
    run.tuned = NULL; /* what is known already is held against the defaults anew */
    smp_code code = smp_whole_input_open(&run, &input, err);
    smp_tuner tuner = {.request = request, .device = run.device, .plan = input.plan, .report = report};
    if (!code) {
        const smp_shape *shape = &smp_reader_media(input.reader)->shape;
        smp_shape_text(shape, shape->format, report->input_type, sizeof report->input_type);
        code = search(&tuner, &input, tuned, err);
    }
    smp_free(tuner.choices);
    smp_whole_input_close(&input);
    report->wall_seconds = smp_now() - start;
    return code;
}
