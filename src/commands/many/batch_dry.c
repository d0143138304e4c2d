/* batch --dry-run: what would become of every file, and what would fail. */
#include "base/alloc.h"
#include "commands/outputs.h"
#include "io/files/tar.h"
#include "report/text.h"

static smp_code try_target(void *, const char *path, smp_error *err)
{
    return smp_target_check(path, err);
}

/* Everything that can be known of a file without decoding it: its header, the plan for it, the names of its outputs. */
static smp_code try_file(const smp_todo_item *item, int64_t page, smp_run_request *request, smp_error *err)
{
    const smp_program *program = request->program;
    smp_plan *plan = NULL;
    request->input = item->file->path;
    request->read.page = item->file->page ? item->file->page : page;
    request->output = item->output;
    request->draw.index = smp_hash_name(item->file->name);
    smp_code code = smp_is_tar(request->input) ? SMP_OK : smp_plan_file(request, &plan, err);
    smp_plan_free(plan);
    return code ? code : smp_each_target(item->output, program, try_target, NULL, err);
}

typedef struct trial { /* which files are tried: some, evenly spread */
    size_t seen, tried, wanted, all;
} trial;

static bool is_next(trial *t)
{
    const bool next =
        !t->wanted || t->wanted >= t->all || (double)t->tried * (double)t->all <= (double)t->seen * (double)t->wanted;
    t->seen++;
    t->tried += next;
    return next;
}

static void show(smp_batch_job *job, const smp_work_unit *unit, trial *t, smp_run_request *request)
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
        if (item->state == SMP_TODO_DO && is_next(t) &&
            try_file(item, job->settings->many.plan.base.common.read.page, request, &wrong)) {
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
    smp_device_request cpu = {.spec = "cpu", .threads = 1};
    smp_device *device;
    smp_work_unit *unit;
    SMP_TRY(smp_device_open(&cpu, &device, NULL, 0, err));
    smp_code code = SMP_OK;
    smp_run_request request = {.program = program,
                               .diags = diags,
                               .read = common->read,
                               .fast_decode = common->fast_decode,
                               .gpu_jpeg = common->gpu_jpeg,
                               .device = device,
                               .draw = smp_cli_draw(&s->many.plan.base)};
    trial t = {.wanted = (size_t)s->headers, .all = todo->count.expected};
    while (!(code = smp_todo_next(todo, &unit, err)) && unit) {
        show(job, unit, &t, &request);
        smp_work_unit_free(unit);
    }
    smp_device_close(device);
    if (code)
        return code;
    if (s->claim && !todo->count.files && !todo->left_out.files && !common->quiet)
        fprintf(stderr, "smempipe: nothing is left to take: all pieces are done or taken\n");
    if (todo->count.others && !common->quiet)
        fprintf(stderr, "smempipe: %zu files are other shards'\n", todo->count.others);
    smp_left_out *left_out = &todo->left_out;
    char *others = left_out->files && !common->quiet ? smp_left_out_text(left_out) : NULL;
    if (others) {
        fprintf(stderr, "smempipe: %zu file%s passed over by %s (", left_out->files, left_out->files == 1 ? "" : "s",
                left_out->files == 1 ? "its name" : "their names");
        smp_text_clean(stderr, others);
        fputs(")\n", stderr);
    }
    smp_free(others);
    if (t.tried < t.seen && !common->quiet)
        fprintf(stderr, "smempipe: read the headers of %zu of %zu files; --headers 0 reads all\n", t.tried, t.seen);
    smp_failures_show(&job->failures, common, todo->count.to_do + todo->count.changed);
    return job->failures.count ? SMP_E_PROCESS : SMP_OK;
}
