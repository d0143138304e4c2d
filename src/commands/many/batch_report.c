/* batch --report and --html: one JSON object a file; a page. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "commands/outputs.h"
#include "report/report.h"

static const char shard_mark[] = "{shard}";

/* Shards that write at once have a report each: {shard} in its name stands for K-N, which else comes before the
 * extension. From smp_alloc, null without memory. */
static char *report_path(const smp_batch_job *job)
{
    const char *path = job->settings->report, *at = strstr(path, shard_mark);
    const smp_todo_request *r = job->todo.request;
    if (r->shards <= 0 || !strcmp(path, "-"))
        return smp_strdup(path);
    char shard[64];
    snprintf(shard, sizeof shard, "%" PRId64 "-%" PRId64, r->shard, r->shards);
    if (at)
        return smp_asprintf("%.*s%s%s", (int)(at - path), path, shard, at + strlen(shard_mark));
    const char *dot = strrchr(smp_base_name(path), '.');
    const size_t stem = dot ? (size_t)(dot - path) : strlen(path);
    return smp_asprintf("%.*s.%s%s", (int)stem, path, shard, path + stem);
}

typedef struct report_name {
    const char *path, *last; /* last: of its real path */
} report_name;

static smp_code check_target(void *context, const char *target, smp_error *err)
{
    const report_name *report = context;
    if (strcmp(report->last, smp_base_name(target)) != 0) /* then it is another file; inodes find links */
        return SMP_OK;
    return smp_cli_refuse_report(report->path, target, err);
}

/* Inputs that are the report are found by their inodes, outputs, which may not be there yet, by their names. */
static smp_code check_files(const smp_batch_job *job, const char *path, const smp_program *program, smp_error *err)
{
    smp_todo *todo = (smp_todo *)(uintptr_t)&job->todo;
    const smp_found_list *found = &todo->found;
    struct stat status;
    const bool there = stat(path, &status) == 0;
    smp_code code = SMP_OK;
    for (size_t i = 0; there && !code && i < found->count; i++) {
        const smp_found *file = smp_found_at(found, i);
        if (file->regular && file->inode == status.st_ino && file->device == (uint32_t)status.st_dev)
            code = smp_cli_refuse_report(path, file->path, err);
    }
    char *real = smp_real_path(path), *top = smp_real_path(todo->request->folder);
    if (!real || !top)
        code = smp_fail_memory(err, "a path", strlen(path));
    if (!code && (smp_path_within(real, top) || todo->link_count)) {
        report_name report = {path, smp_base_name(real)};
        smp_work_unit *unit;
        while (!code && !(code = smp_todo_next(todo, &unit, err)) && unit) {
            for (size_t i = 0; !code && i < unit->count; i++)
                code = smp_each_target(unit->items[i].output, program, check_target, &report, err);
            smp_work_unit_free(unit);
        }
        smp_todo_rewind(todo);
    }
    smp_free_all(real, top);
    return code;
}

/* Refuses a file of the work as the report's path. */
static smp_code check_path(const smp_batch_job *job, const char *path, const smp_program *program,
                           const smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *s = job->settings;
    SMP_TRY(smp_cli_refuse_report(path, s->many.pipe, err));
    for (size_t i = 0; i < diags->source_count; i++)
        if (diags->sources[i].included)
            SMP_TRY(smp_cli_refuse_report(path, diags->sources[i].name, err));
    for (size_t i = 0; i < program->file_count; i++)
        SMP_TRY(smp_cli_refuse_report(path, program->files[i].path, err));
    if (s->work_list)
        SMP_TRY(smp_cli_refuse_report(path, s->work_list, err));
    return SMP_OK;
}

static smp_code fail_exists(const char *path, const char *how, smp_error *err)
{
    if (smp_is_folder(path)) {
        smp_fail(err, SMP_E_WRITE, "is a folder");
        smp_hint(err, "add a file name: %.200s/NAME", path);
    } else {
        smp_fail(err, SMP_E_WRITE, "the file exists already");
        smp_hint(err, "replace it with --force, %sor give another name", how);
    }
    return smp_at(err, "%s", path);
}

/* The folder of a report is there, or is the folder of the outputs, which the batch makes. */
static smp_code check_folder(const smp_batch_job *job, const char *path, smp_error *err)
{
    const int length = (int)(smp_base_name(path) - path);
    char *folder = smp_asprintf("%.*s", length, path);
    SMP_NEED(folder, "a path", (uint64_t)length, err);
    smp_code code = SMP_OK;
    if (length && access(folder, F_OK) != 0 && errno == ENOENT) {
        char *real = smp_real_path(path), *top = smp_real_path(job->todo.request->folder);
        if (!real || !top)
            code = smp_fail_memory(err, "a path", strlen(path));
        else if (!smp_path_within(real, top)) {
            smp_fail(err, SMP_E_WRITE, "the folder %s does not exist", folder);
            smp_hint(err, "make it first: mkdir -p '%s'", folder);
            code = smp_at(err, "%s", path);
        }
        smp_free_all(real, top);
    }
    smp_free(folder);
    return code;
}

static smp_code check_page(const smp_batch_job *job, const smp_program *program, const smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *s = job->settings;
    struct stat status;
    if (!s->html)
        return SMP_OK;
    if (!strcmp(s->html, "-"))
        return smp_fail(err, SMP_E_USAGE, "--html takes a file's name");
    SMP_TRY(check_path(job, s->html, program, diags, err));
    SMP_TRY(check_folder(job, s->html, err));
    if (!s->many.plan.base.common.force && stat(s->html, &status) == 0)
        return fail_exists(s->html, "", err);
    return s->work_list ? SMP_OK : check_files(job, s->html, program, err);
}

smp_code smp_batch_report_check(const smp_batch_job *job, const smp_program *program, const smp_diags *diags,
                                smp_error *err)
{
    const smp_batch_settings *s = job->settings;
    struct stat status;
    smp_code code = check_page(job, program, diags, err);
    if (code || !s->report)
        return code;
    if (strstr(s->report, shard_mark) && job->todo.request->shards <= 0)
        return smp_fail(err, SMP_E_USAGE, "--report %.200s: this run is not a shard", s->report),
               smp_hint(err, "%s",
                        s->claim ? "with --claim let the scheduler's number tell tasks apart, as in "
                                   "run-$SLURM_ARRAY_TASK_ID.jsonl"
                                 : "{shard} in a name is for --shard K/N");
    char *path = report_path(job);
    SMP_NEED(path, "a path", strlen(s->report), err);
    code = check_path(job, path, program, diags, err);
    code = code ? code : check_folder(job, path, err);
    if (!code && strcmp(path, "-") != 0 && !s->resume && !s->many.plan.base.common.force && stat(path, &status) == 0 &&
        S_ISREG(status.st_mode))
        code = fail_exists(path, "add to it with --resume, ", err);
    if (!code && strcmp(path, "-") != 0 && !s->work_list)
        code = check_files(job, path, program, err);
    smp_free(path);
    return code;
}

static smp_code fail_open(const char *path, const char *what, int number, smp_error *err)
{
    smp_fail(err, SMP_E_WRITE, "cannot write the %s: %s", what, strerror(smp_is_folder(path) ? EISDIR : number));
    smp_hint(err, "give a file in a folder that you may write to");
    return smp_at(err, "%s", path);
}

smp_code smp_batch_report_open(smp_batch_job *job, smp_error *err)
{
    const smp_batch_settings *s = job->settings;
    if (s->html && !(job->html = fopen(s->html, s->many.plan.base.common.force ? "we" : "wxe")))
        return fail_open(s->html, "page", errno, err);
    if (!s->report)
        return SMP_OK;
    char *path = report_path(job);
    SMP_NEED(path, "a path", strlen(s->report), err);
    if (!strcmp(path, "-"))
        job->report = stdout;
    else
        job->report = fopen(path, s->resume ? "ae" : s->many.plan.base.common.force ? "we" : "wxe");
    if (!job->report)
        (void)fail_open(path, "report", errno, err);
    smp_free(path);
    return job->report ? SMP_OK : SMP_E_WRITE;
}

/* number: of what failed before; 0: nothing is known of it. */
static smp_code close_file(FILE *file, const char *path, int number, smp_error *err)
{
    const bool failed = ferror(file) != 0;
    errno = EIO;
    if (fclose(file) == 0 && !failed)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "cannot write: %s", strerror(number ? number : errno));
    return smp_at(err, "%s", path);
}

smp_code smp_batch_report_close(smp_batch_job *job, const smp_program *program, smp_error *err)
{
    smp_code code = SMP_OK;
    if (job->html) {
        const smp_batch_settings *s = job->settings;
        const smp_todo_count *count = &job->todo.count;
        job->page.skipped = count->done + count->kept + count->left;
        const smp_page_work work = {s->many.pipe, program, s->folder, smp_now() - job->began};
        smp_batch_page_write(job->html, &job->page, &work, &s->many.plan.base.common.read);
        code = close_file(job->html, job->settings->html, 0, err);
    }
    smp_batch_page_free(&job->page);
    if (job->report && job->report != stdout) {
        const smp_code closed = close_file(job->report, job->settings->report, job->report_failed, err);
        code = code ? code : closed;
    }
    return code;
}

void smp_batch_report_skipped(smp_batch_job *job, const smp_work_unit *unit)
{
    for (size_t i = 0; i < unit->count; i++) {
        const smp_todo_item *item = &unit->items[i];
        smp_run_report none = {.input = item->file->path, .output = item->output, .input_bytes = item->file->size};
        const bool lacks = item->state == SMP_TODO_LACKS,
                   skipped = item->state != SMP_TODO_DO && item->state != SMP_TODO_CHANGED;
        if (lacks) {
            smp_note(&none.output_notes, "samples were left out when it was made");
            smp_remarks_add(&job->remarks, &none);
        }
        if (job->report && skipped)
            smp_report_line(job->report, &none, "skipped", NULL);
        if (item->state != SMP_TODO_CHANGED)
            continue;
        smp_error changed = {.code = SMP_OK};
        none.status = smp_fail(&changed, SMP_E_WRITE, "was changed after it was made, and left as it is");
        smp_hint(&changed, "--redo-changed makes it again, --skip-existing keeps it");
        smp_at(&changed, "%s", item->output);
        snprintf(none.error, sizeof none.error, "%s", changed.message);
        smp_failures_add(&job->failures, item->file->path, &changed);
        if (job->html)
            smp_batch_page_add(&job->page, &none, &changed);
        if (job->report)
            smp_report_line(job->report, &none, "failed", &changed);
    }
}
