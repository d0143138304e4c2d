/* batch --dry-run: what would become of every file, and what would fail. */
#include "base/alloc.h"
#include "commands/outputs.h"
#include "io/files/tar.h"
#include "report/text.h"

static smp_code try_target(void *, const char *path, smp_error *err)
{
    return smp_target_check(path, err);
}

smp_code smp_trial_open(smp_trial *trial, const smp_batch_settings *s, const smp_program *program, smp_diags *diags,
                        size_t files, smp_error *err)
{
    const smp_common *common = &s->many.plan.base.common;
    smp_device_request cpu = {.spec = "cpu", .threads = 1};
    *trial = (smp_trial){.wanted = (size_t)s->headers,
                         .all = files,
                         .request = {.program = program,
                                     .diags = diags,
                                     .read = common->read,
                                     .fast_decode = common->fast_decode,
                                     .gpu_jpeg = common->gpu_jpeg,
                                     .draw = smp_cli_draw(&s->many.plan.base)}};
    return smp_device_open(&cpu, &trial->request.device, NULL, 0, err);
}

smp_code smp_trial_file(smp_trial *trial, const smp_batch_file *file, smp_error *err)
{
    smp_run_request request = trial->request;
    smp_plan *plan = NULL;
    const double seen = (double)trial->seen++;
    if (trial->wanted && (double)trial->tried * (double)trial->all > seen * (double)trial->wanted)
        return SMP_OK;
    trial->tried++;
    request.input = file->input;
    request.output = file->output;
    request.read.page = file->page ? file->page : request.read.page;
    request.draw.index = file->index;
    smp_code code = smp_is_tar(request.input) ? SMP_OK : smp_plan_file(&request, &plan, err);
    smp_plan_free(plan);
    return code ? code : smp_each_target(file->output, request.program, try_target, NULL, err);
}

void smp_trial_close(smp_trial *trial, const smp_common *common)
{
    smp_device_close(trial->request.device);
    if (trial->tried < trial->seen && !common->quiet)
        fprintf(stderr, "smempipe: read the headers of %zu of %zu files; --headers 0 reads all\n", trial->tried,
                trial->seen);
}

static void show(smp_batch_job *job, const smp_work_unit *unit, smp_trial *trial)
{
    static const char *const states[] = {[SMP_TODO_DO] = "",
                                         [SMP_TODO_DONE] = "  (done before)",
                                         [SMP_TODO_LACKS] = "  (done before, but for samples that were left out)",
                                         [SMP_TODO_KEPT] = "  (kept: exists)",
                                         [SMP_TODO_LEFT] = "  (left: level already)",
                                         [SMP_TODO_CHANGED] = "  (changed since it was made: left)"};
    for (size_t i = 0; i < unit->count; i++) {
        const smp_todo_item *item = &unit->items[i];
        smp_error wrong = {.code = SMP_OK};
        smp_text_clean(stdout, item->file->path);
        fputs(" -> ", stdout);
        smp_text_clean(stdout, item->output);
        fputs(states[item->state], stdout);
        const smp_batch_file file = {.input = item->file->path,
                                     .output = item->output,
                                     .page = item->file->page,
                                     .index = smp_hash_name(item->file->name)};
        if (item->state == SMP_TODO_DO && smp_trial_file(trial, &file, &wrong)) {
            smp_failures_add(&job->failures, item->file->path, &wrong);
            fputs("  (fails)", stdout);
        } else if (item->state == SMP_TODO_DO && item->replace)
            fputs("  (replaced)", stdout);
        fputc('\n', stdout);
    }
    smp_batch_report_skipped(job, unit);
}

smp_code smp_batch_dry_run(smp_batch_job *job, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *s = job->settings;
    const smp_common *common = &s->many.plan.base.common;
    smp_todo *todo = &job->todo;
    smp_work_unit *unit;
    smp_trial trial;
    SMP_TRY(smp_trial_open(&trial, s, program, diags, todo->count.expected, err));
    smp_code code = SMP_OK;
    while (!(code = smp_todo_next(todo, &unit, err)) && unit) {
        show(job, unit, &trial);
        smp_work_unit_free(unit);
    }
    smp_trial_close(&trial, common);
    if (code)
        return code;
    if (s->claim && !todo->count.files && !todo->left_out.files && !common->quiet)
        fprintf(stderr, "smempipe: nothing is left to take: all pieces are done or taken\n");
    if (todo->count.others && !common->quiet)
        fprintf(stderr, "smempipe: %zu files are other shards'\n", todo->count.others);
    char *others = smp_left_out_text(&todo->left_out);
    smp_many_others(common, todo->left_out.files, others);
    smp_free(others);
    smp_failures_show(&job->failures, common, todo->count.to_do + todo->count.changed);
    return job->failures.count ? SMP_E_PROCESS : SMP_OK;
}
