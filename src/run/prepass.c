/* First passes over an input: see prepass.h. */
#include "run/prepass.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/files/source.h"
#include "run/run.h"

bool smp_program_has_prepass(const smp_program *program)
{
    for (size_t i = 0; i < program->node_count; i++)
        if (program->nodes[i].prepass)
            return true;
    return false;
}

smp_code smp_prepasses_take(smp_prepasses *prepasses, const smp_plan *plan, smp_run_report *report, smp_error *err)
{
    const size_t want = prepasses->count + 1;
    smp_measurements *measurements = NULL;
    for (size_t i = 0; i < report->step_count; i++)
        if (report->steps[i].node == plan->prepass && report->steps[i].measurements.found)
            measurements = &report->steps[i].measurements;
    if (!measurements)
        return smp_fail(err, SMP_E_PROCESS, "a stage that looks at its input found nothing");
    SMP_NEED(smp_grow(&prepasses->found, &prepasses->capacity, want, sizeof *prepasses->found) &&
                 smp_grow(&prepasses->reports, &prepasses->report_capacity, want, sizeof *prepasses->reports),
             "what was found", want * sizeof *prepasses->reports, err);
    prepasses->found[prepasses->count] = (smp_seen){plan->prepass, measurements->found, measurements->found_size};
    prepasses->reports[prepasses->count++] = *report;
    measurements->found = NULL;
    *report = (smp_run_report){.input = NULL};
    return SMP_OK;
}

smp_code smp_prepasses_report(smp_prepasses *prepasses, smp_run_report *report, smp_error *err)
{
    size_t capacity = report->step_count;
    for (size_t i = 0; i < prepasses->count; i++) {
        smp_run_report *from = &prepasses->reports[i];
        const size_t want = report->step_count + from->step_count;
        SMP_NEED(smp_grow(&report->steps, &capacity, want, sizeof *report->steps), "the report",
                 want * sizeof *report->steps, err);
        memcpy(report->steps + report->step_count, from->steps, from->step_count * sizeof *from->steps);
        report->step_count = want;
        from->step_count = 0;
        report->read_seconds += from->read_seconds;
        report->device_seconds += from->device_seconds;
        report->upload_seconds += from->upload_seconds;
        report->download_seconds += from->download_seconds;
    }
    return SMP_OK;
}

void smp_prepasses_free(smp_prepasses *prepasses)
{
    for (size_t i = 0; i < prepasses->count; i++) {
        smp_free(prepasses->found[i].data);
        smp_run_report_free(&prepasses->reports[i]);
    }
    smp_free_all(prepasses->found, prepasses->reports);
    *prepasses = (smp_prepasses){.found = NULL};
}

void smp_plans_free(smp_plans *plans)
{
    for (size_t i = 0; i < plans->count; i++)
        smp_plan_free(plans->list[i]);
    smp_free(plans->list);
    *plans = (smp_plans){.list = NULL};
}

/* Takes the plan over, or frees it. */
static smp_code keep_plan(smp_plans *plans, smp_plan *plan, smp_error *err)
{
    if (plans && smp_grow(&plans->list, &plans->capacity, plans->count + 1, sizeof *plans->list)) {
        plans->list[plans->count++] = plan;
        return SMP_OK;
    }
    smp_plan_free(plan);
    return plans ? smp_fail_memory(err, "plans", (plans->count + 1) * sizeof *plans->list) : SMP_OK;
}

smp_code smp_plan_memory(smp_plan_request *request, smp_diags *diags, smp_device *device, const smp_view *in,
                         smp_plans *plans, smp_plan **out, smp_error *err)
{
    smp_prepasses prepasses = {.count = 0};
    smp_code code = smp_plan_make(request, diags, out, err);
    while (!code && (*out)->prepass >= 0) {
        smp_run_report report = {.input = NULL};
        code = smp_run_memory(*out, device, NULL, 0, in, in, &report, err);
        code = code ? code : smp_prepasses_take(&prepasses, *out, &report, err);
        smp_run_report_free(&report);
        smp_error *why = code ? NULL : err;
        const smp_code kept = keep_plan(plans, *out, why);
        code = code ? code : kept;
        *out = NULL;
        request->found = prepasses.found;
        request->found_count = prepasses.count;
        code = code ? code : smp_plan_make(request, diags, out, err);
    }
    smp_prepasses_free(&prepasses);
    request->found = NULL;
    request->found_count = 0;
    return code;
}

static smp_code copy_pipe(int file, uint64_t most, smp_error *err)
{
    static char buffer[1 << 16]; /* one run reads standard input */
    char text[128];
    for (uint64_t all = 0;;) {
        const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return smp_fail(err, SMP_E_READ, "cannot read: %s", smp_os_error(errno, text, sizeof text));
        if (got == 0)
            return SMP_OK;
        all += (uint64_t)got;
        if (most && all > most) {
            smp_fail(err, SMP_E_LIMIT, "the input is larger than the limit of %llu bytes", (unsigned long long)most);
            return smp_hint(err, "raise the limit with --max-file");
        }
        SMP_TRY(smp_spool_put(file, NULL, buffer, (size_t)got, err));
    }
}

smp_code smp_prepass_keep_stdin(const smp_limits *limits, int64_t *start, smp_error *err)
{
    struct stat status;
    *start = 0;
    if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &status) != 0)
        return SMP_OK; /* the reader says what is wrong */
    if (S_ISREG(status.st_mode)) {
        *start = lseek(STDIN_FILENO, 0, SEEK_CUR);
        return SMP_OK;
    }
    const int file = smp_spool_file();
    if (file < 0)
        return smp_fail(err, SMP_E_READ, "the input is read twice, and no folder takes a file to keep it in"),
               smp_hint(err, "set TMPDIR to a folder with room, or give the input as a file");
    smp_code code = copy_pipe(file, limits->max_file, err);
    if (!code && dup2(file, STDIN_FILENO) < 0)
        code = smp_fail(err, SMP_E_READ, "the input cannot be read again");
    close(file);
    return code ? code : smp_prepass_rewind(0, err);
}

smp_code smp_prepass_rewind(int64_t start, smp_error *err)
{
    return lseek(STDIN_FILENO, (off_t)start, SEEK_SET) < 0
               ? smp_fail(err, SMP_E_READ, "the input cannot be read a second time")
               : SMP_OK;
}
