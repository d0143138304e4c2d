/* convert and batch --in-place: each file takes the place of itself. It is written beside, read back, and renamed: at
 * any time there is the old file or the new one, whole. io/files/in_place.h says what the new one keeps of the old. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/paths.h"
#include "commands/outputs.h"
#include "io/files/in_place.h"
#include "report/text.h"

typedef struct place { /* a file found */
    char *real;        /* its path with links resolved */
    const smp_found *file;
} place;

typedef struct work {
    const smp_batch_settings *settings;
    smp_in_place how;
    smp_write_values values;
    smp_found_list found;
    place *places; /* sorted by real */
    smp_batch_file *files;
    size_t count, meanwhile; /* meanwhile: that another run of this command did */
    size_t before, twice, backups, linked, coded_again;
    smp_failures failures;
    smp_remarks remarks;
    smp_progress progress;
    bool told;
} work;

/* ------------------------------------------------------------------------------------------------ the check */

/* Reads all of what was written. */
static smp_code check(void *context, const char *target, int fd, smp_error *err)
{
    enum { ROWS = 16 };
    const work *w = context;
    smp_read_options how = w->settings->many.plan.base.common.read;
    smp_reader *reader = NULL;
    smp_error why = {.code = SMP_OK};
    how.page = 0;
    bool broken = smp_reader_open_file(fd, target, &how, &reader, &why) != SMP_OK;
    const smp_shape *shape = broken ? NULL : &smp_reader_media(reader)->shape;
    const int64_t stride = broken ? 1 : shape->width * shape->channels * smp_sample_size((int)shape->format);
    void *rows = smp_alloc_raw((size_t)stride * ROWS);
    smp_code code = rows ? SMP_OK : smp_fail_memory(err, "rows", (uint64_t)stride * ROWS);
    for (int64_t y = 0; !code && !broken && y < shape->height; y += ROWS)
        broken = smp_reader_rows(reader, rows, stride, smp_min_i64(ROWS, shape->height - y), &why) != SMP_OK;
    if (!code && broken)
        code = smp_fail(err, SMP_E_WRITE, "what was written cannot be read, and is dropped: %.300s", why.message);
    smp_free(rows);
    smp_reader_close(reader);
    return code;
}

/* Before a file is opened. */
static smp_code begin(void *context, const smp_batch_file *file, smp_error *err)
{
    const work *w = context;
    struct stat now;
    char backup[PATH_MAX];
    const char *dot = strrchr(smp_base_name(file->output), '.');
    if (stat(file->output, &now) != 0 || S_ISDIR(now.st_mode)) /* who opens it says why */
        return SMP_OK;
    if (!S_ISREG(now.st_mode))
        return smp_fail(err, SMP_E_WRITE, "is no file that another could take the place of");
    if (!(now.st_mode & 0222) || access(file->output, W_OK) != 0)
        return smp_fail(err, SMP_E_WRITE, "is read-only, and is left as it is"), smp_hint(err, "chmod u+w allows it");
    if (dot && smp_writer_kind(file->output) != SMP_KIND_NONE)
        return smp_in_place_backup_name(&w->how, file->output, &now, backup, err);
    if (smp_writer_extension(dot ? dot + 1 : "", NULL, err)) /* says which can be written */
        err->code = SMP_E_WRITE;
    return smp_hint(err, "write -o DIR --to EXT for another format; it is left as it is");
}

/* ------------------------------------------------------------------------------------------------ the files */

static int by_real(const void *a, const void *b)
{
    return strcmp(((const place *)a)->real, ((const place *)b)->real);
}

/* Whether it is what --backup keeps of a file that is there: its name with the suffix behind it. */
static bool is_backup(const char *real, const char *suffix)
{
    struct stat kept;
    char of[PATH_MAX];
    if (!suffix || !smp_ends_with(real, suffix))
        return false;
    const int length = snprintf(of, sizeof of, "%.*s", (int)(strlen(real) - strlen(suffix)), real);
    return length < (int)sizeof of && lstat(of, &kept) == 0 && !S_ISDIR(kept.st_mode);
}

/* The files, each once, in the order of their paths; and which of them this work did before. */
static smp_code list_files(work *w, smp_error *err)
{
    const smp_batch_settings *s = w->settings;
    const size_t all = w->found.count;
    struct stat now;
    size_t used = 0;
    w->places = smp_alloc_array(all, sizeof *w->places);
    w->files = smp_alloc_array(all, sizeof *w->files);
    SMP_NEED(w->places && w->files, "the list of files", all * sizeof *w->files, err);
    for (size_t i = 0; i < all; i++) {
        const smp_found *file = smp_found_at(&w->found, i);
        char *real = smp_real_path(file->path);
        SMP_NEED(real, "a path", PATH_MAX, err);
        w->places[i] = (place){real, file};
    }
    qsort(w->places, all, sizeof *w->places, by_real);
    for (size_t i = 0; i < all; i++) {
        const place *p = &w->places[i];
        if (i && !strcmp(p->real, w->places[i - 1].real))
            w->twice++;
        else if (is_backup(p->real, w->how.backup) || /* or of another run */
                 (smp_name_kind(p->real) == SMP_KIND_NONE && is_backup(p->real, strrchr(p->real, '.'))))
            w->backups++;
        else if (!s->many.plan.base.common.force && smp_in_place_done(p->real, w->how.work))
            w->before++;
        else {
            w->linked += stat(p->real, &now) == 0 && now.st_nlink > 1;
            w->files[used++] = (smp_batch_file){.input = p->file->path,
                                                .output = p->real,
                                                .bytes = p->file->size,
                                                .replace = true,
                                                .index = smp_hash_name(p->file->name)};
        }
    }
    w->count = used;
    return SMP_OK;
}

/* What writers that were killed left in the files' folders. */
static void sweep(const work *w)
{
    char last[PATH_MAX] = "", folder[PATH_MAX];
    for (size_t i = 0; i < w->count; i++) {
        const char *path = w->files[i].output;
        snprintf(folder, sizeof folder, "%.*s", (int)(smp_base_name(path) - path), path);
        if (strcmp(folder, last) != 0)
            (void)smp_output_sweep(folder);
        memcpy(last, folder, sizeof last);
    }
}

/* ------------------------------------------------------------------------------------------------ the run */

/* Whether a format loses a little each time: it has a quality or a bitrate. */
static bool loses(const work *w, const char *path)
{
    const char *format = smp_writer_format(path, NULL);
    return format &&
           (smp_write_taken(format, &smp_write_quality, 1) || smp_write_taken(format, &smp_write_bitrate, 1)) &&
           !(smp_write_taken(format, &smp_write_lossless, 1) && smp_write_value(&w->values, &smp_write_lossless));
}

static void finished(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    work *w = context;
    smp_error told = *err;
    if (!strcmp(told.where, file->output)) /* the input by its real name */
        told.where[0] = '\0';
    if (report->status && !w->how.again && smp_in_place_done(file->output, w->how.work))
        w->meanwhile++;
    else if (report->status)
        smp_failures_add(&w->failures, report->input, &told);
    else
        smp_remarks_add(&w->remarks, report);
    w->coded_again += !report->status && !report->copied && loses(w, file->output);
}

static void tick(void *context, const smp_batch_count *count)
{
    work *w = context;
    if (smp_cli_stopped && !w->told) {
        smp_progress_end(&w->progress);
        if (count->in_flight && !w->settings->many.plan.base.common.quiet)
            fprintf(stderr, "smempipe: finishing the %zu file%s in flight; Ctrl-C again stops at once\n",
                    count->in_flight, count->in_flight == 1 ? "" : "s");
        w->told = true;
    } else if (!w->told)
        smp_progress_files(&w->progress, count);
}

static void show_summary(const work *w, const smp_batch_count *count, double seconds)
{
    const struct {
        size_t count;
        const char *what;
    } parts[] = {{count->failed - w->meanwhile, "failed, and as they were"},
                 {w->count - count->done - count->failed, "not begun"},
                 {w->before + w->meanwhile, "as this command left them before (--force does them again)"},
                 {w->twice, "listed twice"},
                 {w->backups, w->backups == 1 ? "backup passed over" : "backups passed over"},
                 {w->found.left_out.files, "passed over by their names"}};
    fprintf(stderr, "smempipe: %zu file%s done", count->done, count->done == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].count)
            fprintf(stderr, ", %zu %s", parts[i].count, parts[i].what);
    fprintf(stderr, "; %.2f s\n", seconds);
}

static void show_losses(const work *w)
{
    const smp_common *common = &w->settings->many.plan.base.common;
    if (w->coded_again)
        smp_cli_warning(common,
                        "%zu file%s of a format that loses a little each time it is written, as JPEG and MP3 do; "
                        "--backup .orig keeps what was there",
                        w->coded_again, w->coded_again == 1 ? " is" : "s are");
    if (w->linked)
        smp_cli_warning(common, "%zu file%s other names (hard links), which keep what was there", w->linked,
                        w->linked == 1 ? " has" : "s have");
    if (w->how.unmarked)
        smp_cli_warning(common, "this file system keeps no marks: the same command would do these files once more");
}

static smp_code do_files(work *w, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *s = w->settings;
    const smp_common *common = &s->many.plan.base.common;
    const double began = smp_now();
    smp_batch_request request = smp_many_request(&s->many, program, diags);
    smp_batch_count count = {0};
    request.files = w->files;
    request.count = w->count;
    request.begin = begin;
    request.finished = finished;
    request.tick = tick;
    request.context = w;
    request.stop_on_error = s->on_error == SMP_ON_ERROR_STOP;
    smp_cli_write_options(&s->write, &request.write);
    request.write.output.in_place = &w->how;
    w->values = request.write.values;
    sweep(w);
    smp_cli_confine_in_place(&s->many, program, &w->found, w->files, w->count);
    smp_cli_stop_gently();
    smp_progress_begin(&w->progress, common, "in place");
    smp_code code = smp_batch_run(&request, &count, NULL, 0, err);
    smp_progress_end(&w->progress);
    smp_remarks_show(&w->remarks, common);
    smp_failures_show(&w->failures, common, w->count);
    show_losses(w);
    if (!common->quiet)
        show_summary(w, &count, smp_now() - began);
    if (code == SMP_E_INTERRUPTED || code == SMP_E_TERMINATED)
        return smp_hint(err, "the same command does the rest"), code;
    return code || count.done + w->meanwhile == w->count ? code : SMP_E_PROCESS;
}

static smp_code list_only(work *w, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_common *common = &w->settings->many.plan.base.common;
    smp_trial trial;
    SMP_TRY(smp_trial_open(&trial, w->settings, program, diags, w->count, err));
    trial.request.write.output.in_place = &w->how;
    for (size_t i = 0; i < w->count; i++) {
        const smp_batch_file *file = &w->files[i];
        smp_error wrong = {.code = SMP_OK};
        if (begin(w, file, &wrong) || smp_trial_file(&trial, file, &wrong))
            smp_failures_add(&w->failures, file->input, &wrong);
        smp_text_line(stdout, "%s would be %s", file->output, wrong.code ? "left as it is" : "replaced");
    }
    const size_t count = w->count - w->failures.count;
    smp_text_line(stdout, "%zu file%s would be replaced, %zu done before", count, count == 1 ? "" : "s", w->before);
    smp_trial_close(&trial, common);
    smp_failures_show(&w->failures, common, w->count);
    return w->failures.count ? SMP_E_PROCESS : SMP_OK;
}

static smp_code run_program(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *s = given;
    work w = {.settings = s,
              .how.backup = s->backup,
              .how.again = s->many.plan.base.common.force,
              .how.check = check,
              .how.context = &w};
    const smp_hash hash = smp_batch_work(s, program, diags, true);
    const smp_find_options walk = smp_many_walk(&s->many, program);
    snprintf(w.how.work, sizeof w.how.work, "%016" PRIx64 "%016" PRIx64, hash.a, hash.b);
    smp_code code = smp_many_operands(program, diags, err);
    if (!code && program->save_count)
        code = smp_fail(err, SMP_E_USAGE, "the pipeline saves files, which --in-place would put beside the inputs");
    code = code ? code : smp_many_find(&s->many, &walk, &w.found, NULL, err);
    code = code ? code : list_files(&w, err);
    if (!code && s->dry_run)
        code = list_only(&w, program, diags, err);
    else if (!code)
        code = do_files(&w, program, diags, err);
    for (size_t i = 0; w.places && i < w.found.count; i++)
        smp_free(w.places[i].real);
    smp_free_all(w.places, w.files);
    smp_failures_free(&w.failures);
    smp_remarks_free(&w.remarks);
    smp_found_free(&w.found);
    return code;
}

/* ------------------------------------------------------------------------------------------------ settings */

static smp_code check_settings(const smp_batch_settings *s, smp_error *err)
{
    const struct {
        bool given;
        const char *name, *why;
    } all[] = {
        {s->folder != NULL, "-o", "the files are replaced where they lie"},
        {s->to != NULL, "--to", "a file keeps its format"},
        {strcmp(s->pattern, SMP_BATCH_NAMES) != 0, "--name", "a file keeps its name"},
        {s->resume, "--resume", "the same command does what is left, since files that are done are marked"},
        {s->skip_existing, "--skip-existing", "all of them exist"},
        {s->redo_changed, "--redo-changed", "files that were changed since are done again"},
        {s->pages != 0, "--pages", "a page would replace all of them"},
        {s->many.plan.base.common.read.page != 0, "--page", "a page would replace all of them"},
        {s->many.plan.base.common.raw != NULL, "--raw", "the file would get a header"},
        {s->report != NULL, "--report", "batch -o DIR --report tells what became of each"},
        {s->html != NULL, "--html", "batch -o DIR --html shows what became of each"},
        {s->shard || s->work_list || s->claim, "--shard and --list", "they are for outputs in a folder"},
        {s->album || s->skip_level, "--album and --skip-level", "write -o DIR"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].given)
            return smp_fail(err, SMP_E_USAGE, "--in-place and %s exclude each other", all[i].name),
                   smp_hint(err, "%s", all[i].why);
    if (!s->backup || (s->backup[0] && !strchr(s->backup, '/') && smp_name_kind(s->backup) == SMP_KIND_NONE))
        return SMP_OK;
    if (!s->backup[0] || strchr(s->backup, '/'))
        smp_fail(err, SMP_E_USAGE, "'%.60s' is nothing to put behind a name", s->backup);
    else
        smp_fail(err, SMP_E_USAGE, "--backup %.60s: another run would take the backups for files to work on",
                 s->backup);
    return smp_hint(err, "write --backup .orig");
}

smp_code smp_cli_in_place(smp_batch_settings *settings, smp_error *err)
{
    smp_code code = check_settings(settings, err);
    code = code ? code : smp_cli_check_variant(&settings->many.plan, err);
    code = code ? code : smp_many_open(&settings->many, err);
    if (!code && settings->many.inputs.count)
        settings->many.plan.base.input = smp_name_kind(settings->many.inputs.items[0]);
    if (!code)
        code = smp_cli_with_program(&settings->many.plan.base, settings->many.pipe, run_program, settings, err);
    smp_many_close(&settings->many);
    return code;
}
