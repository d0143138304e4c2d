/* smempipe batch: many files through a pipeline. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "batch/outputs.h"
#include "batch/todo.h"
#include "cli/outputs.h"
#include "cli/shard.h"
#include "cli/shipped.h"
#include "cli/write_options.h"
#include "report/report.h"
#include "report/text.h"

static const char *const on_error_words[] = {"continue", "stop", NULL};
static const char *const pages_words[] = {"one", "all", NULL};
enum { ON_ERROR_STOP = 1, PAGES_ALL = 1 };

const smp_option smp_batch_options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(smp_batch_settings, folder), .argument = "OUT_DIR",
     .help = "the folder to write to; made when it is not there. Folders in the input become folders in it"},
    {"name", 0, SMP_O_STRING, offsetof(smp_batch_settings, pattern), .fallback = SMP_BATCH_NAMES, .argument = "PATTERN",
     .help = "names of the outputs: {stem} is the input's name without extension; {ext} its extension (png where that "
             "cannot be written), {name} both, {from} the input's own whatever is written; '{stem}.jpg' writes JPEGs"},
    {"to", 0, SMP_O_STRING, offsetof(smp_batch_settings, to), .argument = "EXT",
     .help = "the format of the outputs, by its extension: png, jpg, npy, flac; the inputs' own unless said"},
    {"resume", 0, SMP_O_FLAG, offsetof(smp_batch_settings, resume),
     .help = "go on where a run was interrupted or killed, with what is new or changed; a journal in the output folder "
             "knows what is done"},
    {"redo-changed", 0, SMP_O_FLAG, offsetof(smp_batch_settings, redo_changed),
     .help = "with --resume: redo outputs that were changed since a batch wrote them; without it they are named and "
             "left as they are"},
    {"skip-existing", 0, SMP_O_FLAG, offsetof(smp_batch_settings, skip_existing),
     .help = "keep outputs that are there, whatever made them"},
    {"on-error", 0, SMP_O_CHOICE, offsetof(smp_batch_settings, on_error), .fallback = "continue", .argument = "HOW",
     .choices = on_error_words, .help = "after a file failed: continue with the others, or stop"},
    {"pages", 0, SMP_O_CHOICE, offsetof(smp_batch_settings, pages), .fallback = "one", .argument = "WHICH",
     .choices = pages_words,
     .help = "of files that hold several pages (TIFF): one, the first or that of --page; all: each to an output of its "
             "own, with its number behind the name, as in scan-1.png, scan-2.png"},
    {"dry-run", 'n', SMP_O_FLAG, offsetof(smp_batch_settings, dry_run),
     .help = "read headers, check outputs, list what would be done, write nothing; damage behind the headers shows in "
             "a run alone"},
    {"report", 0, SMP_O_STRING, offsetof(smp_batch_settings, report), .argument = "FILE.jsonl",
     .help = "write one JSON object a file; its status, error, size, milliseconds of every part, what was measured; - "
             "is standard output"},
    {"shard", 0, SMP_O_STRING, offsetof(smp_batch_settings, shard), .argument = "K/N",
     .help = "do the K-th of N parts of the files, chosen by their names; for several machines that share a folder"},
#define WRITE(field) offsetof(smp_batch_settings, write.field)
#include "cli/write_option_list.def"
#undef WRITE
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(smp_batch_settings, many.pipe), .unless = "stage", .refuse = smp_shipped_refuse,
     .help = "the pipeline: a file, or the name of one that 'smempipe pipelines' lists"},
    {"DIR|FILE", offsetof(smp_batch_settings, many.inputs), .many = true, .unless = "files-from",
     .help = "folders and files to read"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ settings */

static smp_code check_report(const smp_batch_settings *settings, smp_error *err)
{
    struct stat status;
    if (!settings->report || !strcmp(settings->report, "-") || settings->resume ||
        settings->many.plan.base.common.force || stat(settings->report, &status) != 0 || !S_ISREG(status.st_mode))
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "the file exists already");
    smp_hint(err, "replace it with --force, add to it with --resume, or give another name");
    return smp_at(err, "%s", settings->report);
}

static smp_code check_settings(const smp_batch_settings *settings, smp_error *err)
{
    if (!settings->folder || !settings->folder[0]) {
        smp_fail(err, SMP_E_USAGE, "the folder to write to is missing");
        return smp_hint(err, "write -o OUT_DIR");
    }
    if (!strcmp(settings->folder, "-"))
        return smp_fail(err, SMP_E_USAGE, "many files cannot go to standard output");
    if (settings->redo_changed && !settings->resume) {
        smp_fail(err, SMP_E_USAGE, "--redo-changed needs the journal of an earlier run");
        return smp_hint(err, "write --resume --redo-changed; --force makes all outputs again");
    }
    if (settings->pages == PAGES_ALL && settings->many.plan.base.common.limits.page)
        return smp_fail(err, SMP_E_USAGE, "--pages all and --page exclude each other");
    smp_code code = settings->to ? smp_cli_check_extension("to", settings->to, err) : SMP_OK;
    if (!code)
        code = smp_cli_check_variant(&settings->many.plan, err);
    return code ? code : check_report(settings, err);
}

/* All that decides what outputs look like. */
static smp_hash work_hash(const smp_batch_settings *settings, const smp_program *program, const smp_diags *diags)
{
    smp_hash hash = smp_many_work(&settings->many, program, diags);
    const smp_write_settings *write = &settings->write;
    const int64_t page = settings->many.plan.base.common.limits.page;
    const int64_t numbers[] = {settings->many.plan.base.common.limits.fast_decode,
                               write->strip,
                               write->png_level,
                               write->quality,
                               write->jpeg_quality,
                               write->lossless,
                               write->jpeg_sampling,
                               write->jpeg_progressive,
                               write->tiff_compression,
                               write->samples,
                               write->layout,
                               write->png_bits,
                               write->png_palette,
                               page};
    smp_hash_add(&hash, numbers, sizeof numbers);
    if (settings->many.plan.base.common.raw)
        smp_hash_text(&hash, settings->many.plan.base.common.raw);
    return hash;
}

/* ------------------------------------------------------------------------------------------------ the run */

typedef struct batch_run {
    const smp_batch_settings *settings;
    smp_todo todo;
    smp_progress progress;
    smp_failures failures;
    smp_remarks remarks;
    FILE *report;
    bool told;         /* that it is being stopped */
    smp_error journal; /* the first that could not be noted */
    double began;
} batch_run;

static smp_code begin(void *context, size_t index, smp_error *err)
{
    batch_run *b = context;
    return smp_todo_begin(&b->todo, index, err);
}

static void finished(void *context, size_t index, smp_run_report *report, const smp_error *err)
{
    batch_run *b = context;
    if (report->status)
        smp_failures_add(&b->failures, report->input, err);
    else
        smp_remarks_add(&b->remarks, report);
    if (!report->status && !b->journal.code)
        smp_todo_done(&b->todo, index, &b->journal);
    if (b->report) {
        smp_report_line(b->report, report, report->status ? "failed" : "done", err);
        fflush(b->report);
    }
}

/* The report may be none of the files of the work, whatever --force and --resume say. */
static smp_code check_report_beside(const batch_run *b, const smp_program *program, const smp_diags *diags,
                                    smp_error *err)
{
    const char *path = b->settings->report;
    const smp_found_list *found = &b->todo.found;
    struct stat status;
    bool there = stat(path, &status) == 0;
    smp_code code = smp_cli_refuse_report(path, b->settings->many.pipe, err);
    for (size_t i = 0; !code && i < diags->source_count; i++)
        if (diags->sources[i].included)
            code = smp_cli_refuse_report(path, diags->sources[i].name, err);
    for (size_t i = 0; !code && i < program->file_count; i++)
        code = smp_cli_refuse_report(path, program->files[i].path, err);
    for (size_t i = 0; !code && i < found->count; i++) {
        const smp_found *file = &found->items[i];
        if (there && file->regular && file->inode == status.st_ino && file->device == status.st_dev)
            code = smp_cli_refuse_report(path, file->path, err);
        if (!code)
            code = smp_cli_refuse_report(path, b->todo.items[i].output, err);
        for (size_t k = 0; !code && k < program->save_count; k++) {
            char *saved = NULL;
            code = smp_saved_path(b->todo.items[i].output, program->saves[k].path, &saved, err);
            if (!code)
                code = smp_cli_refuse_report(path, saved, err);
            smp_free(saved);
        }
    }
    return code;
}

static void tick(void *context, const smp_batch_count *count)
{
    batch_run *b = context;
    const smp_common *common = &b->settings->many.plan.base.common;
    size_t ended = count->done + count->failed;
    double share =
        count->bytes ? (double)count->bytes_done / (double)count->bytes : (double)ended / (double)count->files;
    if (smp_cli_stopped && !b->told) {
        smp_progress_end(&b->progress);
        if (count->in_flight && !common->quiet)
            fprintf(stderr, "smempipe: finishing the %zu file%s in flight; Ctrl-C again stops at once\n",
                    count->in_flight, count->in_flight == 1 ? "" : "s");
        b->told = true;
    } else if (!b->told)
        smp_progress_files(&b->progress, ended, count->failed, count->files, share);
}

static smp_code open_report(batch_run *b, smp_error *err)
{
    const smp_batch_settings *s = b->settings;
    if (!s->report)
        return SMP_OK;
    if (!strcmp(s->report, "-"))
        b->report = stdout;
    else
        b->report = fopen(s->report, s->resume ? "ae" : s->many.plan.base.common.force ? "we" : "wxe");
    if (b->report)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "cannot write the report: %s", strerror(errno));
    return smp_at(err, "%s", s->report);
}

static smp_code close_report(batch_run *b, smp_error *err)
{
    if (!b->report || b->report == stdout)
        return SMP_OK;
    bool failed = ferror(b->report) != 0;
    if (fclose(b->report) == 0 && !failed)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "cannot write the report: %s", strerror(errno));
    return smp_at(err, "%s", b->settings->report);
}

/* Files that need nothing have a line too, so that the report is complete; outputs that were changed since they were
 * made are failures. */
static void report_skipped(batch_run *b)
{
    for (size_t i = 0; i < b->todo.found.count; i++) {
        const smp_todo_item *item = &b->todo.items[i];
        smp_run_report none = {.input = item->file->path, .output = item->output, .input_bytes = item->file->size};
        if (b->report && (item->state == SMP_TODO_KEPT || item->state == SMP_TODO_DONE))
            smp_report_line(b->report, &none, "skipped", NULL);
        if (item->state != SMP_TODO_CHANGED)
            continue;
        smp_error changed = {.code = SMP_OK};
        none.status = smp_fail(&changed, SMP_E_WRITE, "was changed after it was made, and left as it is");
        smp_hint(&changed, "--redo-changed makes it again, --skip-existing keeps it");
        smp_at(&changed, "%s", item->output);
        snprintf(none.error, sizeof none.error, "%s", changed.message);
        smp_failures_add(&b->failures, item->file->path, &changed);
        if (b->report)
            smp_report_line(b->report, &none, "failed", &changed);
    }
}

/* Everything that can be known of a file without decoding it: its header, the plan for it, the names of its outputs. */
static smp_code try_file(const smp_todo_item *item, int64_t page, smp_run_request *request, smp_error *err)
{
    const smp_program *program = request->program;
    smp_plan *plan = NULL;
    request->input = item->file->path;
    request->limits.page = item->file->page ? item->file->page : page;
    request->output = item->output;
    smp_code code = smp_plan_file(request, &plan, err);
    smp_plan_free(plan);
    if (!code)
        code = smp_target_check(item->output, err);
    for (size_t k = 0; !code && k < program->save_count; k++) {
        char *saved = NULL;
        code = smp_saved_path(item->output, program->saves[k].path, &saved, err);
        if (!code)
            code = smp_target_check(saved, err);
        smp_free(saved);
    }
    return code;
}

/* --dry-run: what would become of every file; files that would fail are named as after a run. */
static smp_code show_plan(batch_run *b, const smp_program *program, smp_diags *diags, smp_error *err)
{
    static const char *const states[] = {[SMP_TODO_DO] = "",
                                         [SMP_TODO_DONE] = "  (done before)",
                                         [SMP_TODO_KEPT] = "  (kept: exists)",
                                         [SMP_TODO_CHANGED] = "  (changed since it was made: left)",
                                         [SMP_TODO_OTHERS] = "  (another shard's)"};
    const smp_common *common = &b->settings->many.plan.base.common;
    smp_device_request cpu = {.spec = "cpu", .threads = 1};
    smp_device *device;
    smp_code code = smp_device_open(&cpu, &device, NULL, 0, err);
    if (code)
        return code;
    smp_run_request request = {.program = program, .diags = diags, .limits = common->limits, .device = device};
    for (size_t i = 0; i < b->todo.found.count; i++) {
        const smp_todo_item *item = &b->todo.items[i];
        smp_error wrong = {.code = SMP_OK};
        smp_text_clean(stdout, item->file->path);
        fputs(" -> ", stdout);
        smp_text_clean(stdout, item->output);
        fputs(states[item->state], stdout);
        if (item->state == SMP_TODO_DO && try_file(item, common->limits.page, &request, &wrong)) {
            smp_failures_add(&b->failures, item->file->path, &wrong);
            fputs("  (fails)", stdout);
        } else if (item->state == SMP_TODO_DO && item->replace)
            fputs("  (replaced)", stdout);
        fputc('\n', stdout);
    }
    smp_device_close(device);
    report_skipped(b);
    smp_failures_show(&b->failures, common, b->todo.to_do + b->todo.changed);
    return b->failures.count ? SMP_E_PROCESS : SMP_OK;
}

static void put_count(size_t count, const char *what, const char *gap)
{
    if (count)
        fprintf(stderr, "%s%zu %s", gap, count, what);
}

static void show_summary(batch_run *b, const smp_batch_count *count)
{
    smp_todo *todo = &b->todo;
    const smp_common *common = &b->settings->many.plan.base.common;
    double past = smp_now() - b->began;
    smp_remarks_show(&b->remarks, common);
    smp_failures_show(&b->failures, common, count->files + todo->changed);
    if (common->quiet)
        return;
    fprintf(stderr, "smempipe: %zu file%s done", count->done, count->done == 1 ? "" : "s");
    put_count(count->failed, "failed", ", ");
    put_count(count->files - count->done - count->failed, "not begun", ", ");
    put_count(todo->done, "done before", ", ");
    put_count(todo->kept, "kept as they were", ", ");
    put_count(todo->changed, "changed since and left", ", ");
    put_count(todo->others, "of other shards", ", ");
    put_count(todo->found.left_out, "passed over by their names", ", ");
    char *others = todo->found.left_out ? smp_found_others_text(&todo->found) : NULL;
    if (others) {
        fputs(" (", stderr);
        smp_text_clean(stderr, others);
        fputc(')', stderr);
    }
    smp_free(others);
    fprintf(stderr, "; %.2f s", past);
    if (count->done && past > 0)
        fprintf(stderr, ", %.4g files/s", (double)count->done / past);
    fputc('\n', stderr);
}

static smp_code do_all(batch_run *b, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *s = b->settings;
    const smp_common *common = &s->many.plan.base.common;
    smp_batch_request request = smp_many_request(&s->many, program, diags);
    smp_batch_count count = {0};
    smp_error report_error = {.code = SMP_OK};
    char note[400];
    size_t swept = 0;
    request.files = b->todo.files;
    request.count = b->todo.to_do;
    request.stop_on_error = s->on_error == ON_ERROR_STOP;
    request.begin = begin;
    request.finished = finished;
    request.tick = tick;
    request.context = b;
    smp_cli_write_options(&s->write, &request.write);
    request.write.lazy_folder = true;
    smp_cli_stop_gently(); /* before the folder is made: whoever sees it may stop the run */
    smp_code code = smp_todo_start(&b->todo, &swept, err);
    if (!code && b->todo.lockless)
        smp_cli_warning(common, "%s: this file system has no locks; take care that no other batch writes to it",
                        s->folder);
    if (!code)
        code = open_report(b, err);
    if (code)
        return code;
    smp_cli_confine_batch(s, program, &b->todo);
    report_skipped(b);
    smp_progress_begin(&b->progress, common, "batch");
    code = smp_batch_run(&request, &count, note, sizeof note, err);
    smp_todo_end(&b->todo);
    smp_progress_end(&b->progress);
    smp_code reported = close_report(b, &report_error);
    if (common->verbose && !common->quiet && note[0])
        fprintf(stderr, "smempipe: %s\n", note);
    if (swept && common->verbose && !common->quiet)
        fprintf(stderr, "smempipe: removed %zu unfinished file%s of a run that was killed\n", swept,
                swept == 1 ? "" : "s");
    bool stopped = code == SMP_E_INTERRUPTED || code == SMP_E_TERMINATED;
    if (code && !stopped)
        return code;
    show_summary(b, &count);
    if (stopped)
        return smp_hint(err, "the same command with --resume does the rest"), code;
    if (b->journal.code || reported) {
        *err = b->journal.code ? b->journal : report_error;
        return err->code;
    }
    return count.failed || b->todo.changed ? SMP_E_PROCESS : SMP_OK;
}

static smp_code run_program(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *settings = given;
    batch_run b = {.settings = settings, .began = smp_now()};
    smp_todo_request ask = {
        .given = settings->many.inputs.items,
        .given_count = settings->many.inputs.count,
        .walk = smp_many_walk(&settings->many, program),
        .pages = settings->pages == PAGES_ALL ? &settings->many.plan.base.common.limits : NULL,
        .folder = settings->folder,
        .pattern = settings->pattern,
        .extension = settings->to ? settings->to + (settings->to[0] == '.') : NULL,
        .program = program,
        .work = work_hash(settings, program, diags),
        .force = settings->many.plan.base.common.force,
        .resume = settings->resume,
        .redo_changed = settings->redo_changed,
        .skip_existing = settings->skip_existing,
    };
    if (ask.extension && ask.walk.kind == SMP_KIND_NONE) /* the pipeline gives what it gets */
        (void)smp_writer_extension(ask.extension, &ask.walk.kind, NULL);
    smp_code code = smp_cli_shard(settings->shard, &ask.shard, &ask.shards, err);
    if (!code)
        code = smp_todo_make(&ask, &b.todo, err);
    if (!code)
        code = smp_many_check(&settings->many, &b.todo.found, err);
    if (!code && settings->report)
        code = check_report_beside(&b, program, diags, err);
    if (!code && settings->dry_run)
        code = show_plan(&b, program, diags, err);
    else if (!code)
        code = do_all(&b, program, diags, err);
    smp_failures_free(&b.failures);
    smp_remarks_free(&b.remarks);
    smp_todo_free(&b.todo);
    return code;
}

smp_code smp_cli_batch(smp_batch_settings *settings, smp_error *err)
{
    smp_code code = check_settings(settings, err);
    if (!code)
        code = smp_many_open(&settings->many, err);
    if (!code)
        code = smp_cli_with_program(&settings->many.plan.base, settings->many.pipe, run_program, settings, err);
    smp_many_close(&settings->many);
    return code;
}

static smp_code batch(void *settings, smp_error *err)
{
    return smp_cli_batch(settings, err);
}

const smp_command smp_command_batch = {
    .name = "batch",
    .help = "run a pipeline over many files",
    .about =
        "Several files are read, computed and written at once; outputs are the same bytes that run writes. A file that "
        "cannot be read or written is listed at the end, the others are done, and the exit status is 1. In folders, "
        "hidden "
        "files are passed over, and files that are something else by their names (films and notes beside photographs, "
        "formats that are not read, sounds where the pipeline is for pictures), and counted; every other file is "
        "tried, whatever it is called. --include '*' tries all.\n"
        "Before the first byte is written: no two inputs may have one output, no output may be an input or lie in an "
        "input folder, and no output may exist (--resume, --skip-existing and --force say what to do with those that "
        "do).\n"
        "The first Ctrl-C finishes the files in flight; the second stops. After either, or a kill, --resume does the "
        "rest; outputs that were changed since are named and left, or made again with --redo-changed. Files that a "
        "pipeline saves get the output's name in front: cat-edges.png.\n"
        "--device cuda is every GPU of the machine, cuda:0,2 some of them, several files in flight on each. --threads "
        "bounds "
        "the processors that compute in all, --max-memory the memory of all files at once: one that finds too little "
        "waits until it is alone.",
    .settings_size = sizeof(smp_batch_settings),
    .groups = {{"options", smp_batch_options}, SMP_MANY_GROUP, SMP_PIPELINE_GROUP, SMP_COMMON_GROUP, SMP_PLAN_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe batch scan-clean.pipe photos/ -o pages/ --name '{stem}.png'", "every photo as a page"},
                 {"smempipe batch blur.pipe photos/ -r -o out/ --resume --report run.jsonl",
                  "what an interrupted run left, and what each file cost"}},
    .run = batch,
};
