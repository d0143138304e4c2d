/* A batch as it runs: units of files go to the threads of batch/batch.h, and what became of them is noted. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/team.h"
#include "cli/write_options.h"
#include "commands/outputs.h"
#include "report/report.h"
#include "report/text.h"

static smp_code begin(void *context, const smp_batch_file *file, smp_error *err)
{
    smp_batch_job *b = context;
    return smp_todo_begin(&b->todo, file, err);
}

static void finished(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    smp_batch_job *b = context;
    pthread_mutex_lock(&b->lock);
    if (report->status)
        smp_failures_add(&b->failures, report->input, err);
    else
        smp_remarks_add(&b->remarks, report);
    b->left_out += report->left_out;
    if (!b->journal.code)
        smp_todo_done(&b->todo, file,
                      report->status     ? SMP_TODO_DO
                      : report->left_out ? SMP_TODO_LACKS
                                         : SMP_TODO_DONE,
                      &b->journal);
    if (b->html)
        smp_batch_page_add(&b->page, report, err);
    if (b->report) {
        smp_report_line(b->report, report, report->status ? "failed" : "done", err);
        if (fflush(b->report) != 0 && !b->report_failed)
            b->report_failed = errno;
    }
    pthread_mutex_unlock(&b->lock);
}

static void ended(void *context, const smp_batch_file *file)
{
    smp_batch_job *b = context;
    smp_error err = {.code = SMP_OK};
    if (!smp_todo_ended(&b->todo, file, &err))
        return;
    pthread_mutex_lock(&b->lock);
    if (!b->journal.code)
        b->journal = err;
    pthread_mutex_unlock(&b->lock);
}

/* The files of the next unit in which there is something to do. */
static smp_code more(void *context, const smp_batch_file **files, size_t *count, smp_error *err)
{
    smp_batch_job *b = context;
    smp_work_unit *unit;
    smp_code code;
    *count = 0;
    while (!(code = smp_todo_next(&b->todo, &unit, err)) && unit) {
        pthread_mutex_lock(&b->lock);
        smp_batch_report_skipped(b, unit);
        pthread_mutex_unlock(&b->lock);
        if (unit->to_do) {
            *files = unit->files;
            *count = unit->to_do;
            return SMP_OK;
        }
        smp_work_unit_free(unit);
    }
    return code;
}

static void tick(void *context, const smp_batch_count *count)
{
    smp_batch_job *b = context;
    const smp_common *common = &b->settings->many.plan.base.common;
    smp_todo_tick(&b->todo);
    if (smp_cli_stopped && !b->told) {
        smp_progress_end(&b->progress);
        if (count->in_flight && !common->quiet)
            fprintf(stderr, "smempipe: finishing the %zu file%s in flight; Ctrl-C again stops at once\n",
                    count->in_flight, count->in_flight == 1 ? "" : "s");
        b->told = true;
        b->stopped = smp_now();
    } else if (!b->told)
        smp_progress_files(&b->progress, count);
    if (b->told && b->grace > 0 && count->in_flight && smp_now() - b->stopped >= b->grace) {
        if (!common->quiet)
            fprintf(stderr, "smempipe: the grace is over: dropped the %zu file%s in flight; --resume does the rest\n",
                    count->in_flight, count->in_flight == 1 ? "" : "s");
        smp_todo_leave(&b->todo);
        raise(smp_cli_stopped); /* as a second signal */
    }
}

static void put_count(size_t count, const char *what, const char *gap)
{
    if (count)
        fprintf(stderr, "%s%zu %s", gap, count, what);
}

static void show_summary(smp_batch_job *b, const smp_batch_count *count)
{
    smp_todo *todo = &b->todo;
    const smp_todo_count *sum = &todo->count;
    smp_left_out *left_out = &todo->left_out;
    double past = smp_now() - b->began;
    fprintf(stderr, "smempipe: %zu file%s done", count->done, count->done == 1 ? "" : "s");
    put_count(count->failed, "failed", ", ");
    put_count(sum->to_do - count->done - count->failed, "not begun", ", ");
    put_count(sum->done, "done before", ", ");
    put_count(sum->kept, "kept as they were", ", ");
    put_count(sum->left, "level already", ", ");
    put_count(sum->changed, "changed since and left", ", ");
    put_count(sum->others, "of other shards", ", ");
    put_count(left_out->files, "passed over by their names", ", ");
    char *others = left_out->other_count ? smp_left_out_text(left_out) : NULL; /* of ranks, as far as rank 0 met them */
    if (others) {
        fputs(" (", stderr);
        smp_text_clean(stderr, others);
        fputc(')', stderr);
    }
    smp_free(others);
    if (todo->list) {
        fprintf(stderr, "; %zu of %zu pieces", sum->pieces, smp_work_list_pieces(todo->list));
        put_count(sum->sum.done, "done in all", ", ");
        put_count(sum->sum.failed, "with files that failed", ", ");
        put_count(sum->sum.left + sum->sum.held, "not done and not free", ", ");
        put_count(b->settings->resume ? sum->sum.passed : 0, "done before and not looked at", ", ");
    }
    fprintf(stderr, "; %.2f s", past);
    if (count->done && past > 0)
        fprintf(stderr, ", %.4g files/s", (double)count->done / past);
    fputc('\n', stderr);
}

static smp_batch_request make_request(smp_batch_job *b, const smp_program *program, smp_diags *diags)
{
    const smp_batch_settings *s = b->settings;
    smp_batch_request request = smp_many_request(&s->many, program, diags);
    request.more = more;
    request.expected = b->todo.count.expected;
    request.expected_bytes = b->todo.count.bytes;
    if (smp_cli_team) { /* as far as rank 0 knows, all do about as much */
        request.expected /= (size_t)smp_cli_team->size;
        request.expected_bytes /= (uint64_t)smp_cli_team->size;
    }
    request.stop_on_error = s->on_error == SMP_ON_ERROR_STOP;
    request.shards = (smp_shard_options){
        .kind = b->todo.request->walk.kind, .extension = b->todo.request->extension, .strict = request.stop_on_error};
    request.begin = begin;
    request.finished = finished;
    request.ended = ended;
    request.tick = tick;
    request.context = b;
    smp_cli_write_options(&s->write, &request.write);
    request.write.output.lazy_folder = true;
    request.write.output.lazy_sync = b->todo.request->sync_pieces;
    return request;
}

static smp_code start(smp_batch_job *b, const smp_program *program, smp_error *err)
{
    const smp_batch_settings *s = b->settings;
    smp_cli_stop_gently(); /* before the folder is made: whoever sees it may stop the run */
    SMP_TRY(smp_todo_start(&b->todo, err));
    if (b->todo.lockless)
        smp_cli_warning(&s->many.plan.base.common,
                        "%s: this file system has no locks; take care that no other batch writes to it", s->folder);
    SMP_TRY(smp_batch_report_open(b, err));
    if (smp_cli_team)
        SMP_TRY(smp_cli_team->agree(SMP_OK));
    smp_cli_confine_batch(s, program, &b->todo);
    return SMP_OK;
}

/* The sums of all ranks, on rank 0; what it and the others end with. Another rank tells itself what kept it from going
 * on. */
static smp_code join_ranks(smp_batch_job *b, smp_batch_count *count, smp_code code, smp_error *err)
{
    smp_todo_count *sum = &b->todo.count;
    size_t *const summed[] = {&count->done, &count->failed,          &sum->to_do,  &sum->done,
                              &sum->kept,   &sum->changed,           &sum->pieces, &sum->undone,
                              &sum->lost,   &b->todo.left_out.files, &sum->lacks,  &b->left_out};
    enum { SUMMED = sizeof summed / sizeof summed[0] };
    _Static_assert((int)SUMMED <= (int)SMP_TEAM_NUMBERS, "a rank sends no more");
    uint64_t numbers[SUMMED];
    const smp_code own = code;
    for (int i = 0; i < SUMMED; i++)
        numbers[i] = *summed[i];
    if (smp_cli_team->rank && code && code != SMP_E_INTERRUPTED && code != SMP_E_TERMINATED)
        smp_cli_error(&b->settings->many.plan.base.common, err);
    code = smp_cli_team->finish(numbers, SUMMED, code);
    if (smp_cli_team->rank) /* rank 0 says how all ends */
        return SMP_OK;
    if (code && !own)
        err->code = code;
    for (int i = 0; i < SUMMED; i++)
        *summed[i] = (size_t)numbers[i];
    smp_todo_count_pieces(&b->todo);
    return code;
}

/* Pieces whose tasks, on other hosts, have not been heard of. */
static smp_code tell_silent(const smp_batch_job *b, smp_error *err)
{
    const smp_todo_count *sum = &b->todo.count;
    const size_t silent = sum->sum.silent;
    if (sum->pieces) {
        smp_cli_warning(&b->settings->many.plan.base.common,
                        "%zu piece%s held on other hosts that have been silent for a minute; should they be gone, "
                        "--resume --retake 10m takes up what has been silent so long",
                        silent, silent == 1 ? " is" : "s are");
        return SMP_OK;
    }
    smp_fail(err, SMP_E_PROCESS,
             "%zu of %zu pieces %s not done: tasks on other hosts took %s and have been silent for "
             "a minute",
             silent, smp_work_list_pieces(b->todo.list), silent == 1 ? "is" : "are", silent == 1 ? "it" : "them");
    return smp_hint(err, "should they be gone, --resume --retake 10m takes up what has been silent so long");
}

/* Pieces that other tasks failed in or left: nobody works on them. Where this run found nothing else to do, it ends as
 * those did; so it does where their task is gone, and this is the last one. */
static smp_code tell_undone(const smp_batch_job *b, smp_error *err)
{
    const smp_todo_count *sum = &b->todo.count;
    const smp_claims_sum *pieces = &sum->sum;
    const smp_batch_settings *s = b->settings;
    if (!b->todo.list)
        return SMP_OK;
    const size_t all = pieces->failed + pieces->left + pieces->lost, undone = all > sum->undone ? all - sum->undone : 0,
                 alive = pieces->held - pieces->lost, far = pieces->far - pieces->silent;
    if (far && !sum->pieces && s->resume && !s->retake)
        smp_cli_warning(&s->many.plan.base.common,
                        "%zu piece%s held on other hosts; should those be gone, --retake 1h takes up what has been "
                        "silent so long",
                        far, far == 1 ? " is" : "s are");
    const char *again = s->resume ? "the same command" : "the same command with --resume";
    if (!undone)
        return pieces->silent ? tell_silent(b, err) : SMP_OK;
    if (sum->pieces && (alive || !pieces->lost)) {
        smp_cli_warning(&s->many.plan.base.common, "other tasks failed in or left %zu piece%s; %s takes %s up again",
                        undone, undone == 1 ? "" : "s", again, undone == 1 ? "it" : "them");
        return SMP_OK;
    }
    smp_fail(err, SMP_E_PROCESS, "%zu of %zu pieces %s not done: other tasks failed in or left %s", undone,
             smp_work_list_pieces(b->todo.list), undone == 1 ? "is" : "are", undone == 1 ? "it" : "them");
    return smp_hint(err, "%s takes %s up again", again, undone == 1 ? "it" : "them");
}

/* Tells what a run that ends well did not look at, or kept though it would now make something else. */
static void tell_unseen(const smp_batch_job *b)
{
    const smp_todo_count *sum = &b->todo.count;
    const smp_batch_settings *s = b->settings;
    const smp_common *common = &s->many.plan.base.common;
    const bool claims = b->todo.list && s->claim && !common->quiet,
               all_done = !sum->pieces && claims && sum->sum.done == smp_work_list_pieces(b->todo.list);
    if (all_done)
        fprintf(stderr,
                "smempipe: nothing was left to take; outputs of pieces that are done were not looked at: "
                "--resume without --claim does that, and makes again what is gone or whose input was changed\n");
    if (claims && common->force && sum->sum.passed)
        smp_cli_warning(common,
                        "%zu piece%s done by other tasks or earlier runs, and not made again; --force without --claim "
                        "makes all again, and so does --claim --force once " SMP_CLAIMS_NAME
                        " in the output folder is removed",
                        sum->sum.passed, sum->sum.passed == 1 ? " was" : "s were");
    if (sum->lost)
        smp_cli_warning(common, "%zu output%s made again, since the record of %s was cut off or is gone", sum->lost,
                        sum->lost == 1 ? " was" : "s were", sum->lost == 1 ? "it" : "them");
    if (sum->stale)
        smp_cli_warning(common,
                        "%zu output%s kept though the input was changed later; without --skip-existing, --resume makes "
                        "again what it knows of, and --force all",
                        sum->stale, sum->stale == 1 ? " was" : "s were");
}

static smp_code fail_lacking(const smp_batch_job *b, smp_error *err)
{
    const size_t before = b->todo.count.lacks;
    if (b->left_out)
        return smp_fail(err, SMP_E_PROCESS, "%zu sample%s left out of tar files, as told above", b->left_out,
                        b->left_out == 1 ? " was" : "s were");
    smp_fail(err, SMP_E_PROCESS, "%zu tar file%s samples that an earlier run left out", before,
             before == 1 ? " lacks" : "s lack");
    return smp_hint(err, "--resume makes them again once their inputs are mended");
}

smp_code smp_batch_do(smp_batch_job *b, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_common *common = &b->settings->many.plan.base.common;
    smp_batch_request request = make_request(b, program, diags);
    smp_batch_count count = {0};
    smp_error report_error = {.code = SMP_OK};
    char note[400] = "";
    SMP_TRY(start(b, program, err));
    pthread_mutex_init(&b->lock, NULL);
    smp_progress_begin(&b->progress, common, "batch");
    smp_code code = more(b, &request.files, &request.count, err); /* without any no device is opened */
    code = code ? code : smp_batch_run(&request, &count, note, sizeof note, err);
    smp_todo_end(&b->todo);
    smp_progress_end(&b->progress);
    pthread_mutex_destroy(&b->lock);
    smp_code reported = smp_batch_report_close(b, program, &report_error);
    if (common->verbose && !common->quiet && note[0])
        fprintf(stderr, "smempipe: %s\n", note);
    if (b->todo.removed && common->verbose && !common->quiet)
        fprintf(stderr, "smempipe: removed %zu unfinished file%s of a run that was killed\n", b->todo.removed,
                b->todo.removed == 1 ? "" : "s");
    if (!code && (b->journal.code || reported)) {
        *err = b->journal.code ? b->journal : report_error;
        code = err->code;
    }
    smp_common heard = *common; /* what a rank says of its own files */
    heard.quiet = smp_cli_team ? smp_cli_team->quiet : common->quiet;
    smp_remarks_show(&b->remarks, &heard);
    if (b->todo.count.gone)
        smp_cli_warning(&heard,
                        "%zu output%s removed as soon as %s made; the same command with --resume makes %s again",
                        b->todo.count.gone, b->todo.count.gone == 1 ? " was" : "s were",
                        b->todo.count.gone == 1 ? "it was" : "they were", b->todo.count.gone == 1 ? "it" : "them");
    smp_failures_show(&b->failures, common, b->todo.count.to_do + b->todo.count.changed);
    if (smp_cli_team) {
        code = join_ranks(b, &count, code, err);
        if (smp_cli_team->rank)
            return code;
    }
    bool stopped = code == SMP_E_INTERRUPTED || code == SMP_E_TERMINATED;
    if (code && !stopped && !count.done)
        return code;
    if (!common->quiet)
        show_summary(b, &count);
    if (stopped)
        return smp_hint(err, "the same command with --resume does the rest"), code;
    tell_unseen(b);
    if (code || count.failed || b->todo.count.changed)
        return code ? code : SMP_E_PROCESS;
    const smp_todo_count *sum = &b->todo.count;
    if (b->left_out || sum->lacks)
        return fail_lacking(b, err);
    if (b->todo.list && b->todo.left_out.files && sum->pieces == smp_work_list_pieces(b->todo.list) &&
        !(sum->to_do + sum->done + sum->kept)) /* as of a folder in which there is none */
        return smp_many_fail_list(b->settings->work_list, b->todo.left_out.files, err);
    return tell_undone(b, err);
}
