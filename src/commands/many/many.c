/* Shared by batch and measure: see many.h. */
#include "commands/many/many.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/order.h"
#include "base/paths.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "io/files/tar.h"
#include "report/report.h"
#include "report/text.h"

const smp_option smp_many_options[] = {
    {"recursive", 'r', SMP_O_FLAG, offsetof(smp_many_settings, recursive),
     .help = "folders in folders too; links to folders are not followed"},
    {"files-from", 0, SMP_O_STRING, offsetof(smp_many_settings, list), .argument = "FILE",
     .help = "read the names of inputs from a file, one a line (or ended by null bytes, as find -print0 does); - is "
             "standard input; the command line names none then"},
    {"include", 0, SMP_O_LIST, offsetof(smp_many_settings, include), .argument = "GLOB",
     .help = "only files whose name fits, as in '*.jpg', in upper or lower case; with a slash: whose path under the "
             "folder given fits; may be repeated"},
    {"exclude", 0, SMP_O_LIST, offsetof(smp_many_settings, exclude), .argument = "GLOB",
     .help = "no files, and no folders, whose name fits; may be repeated"},
    {"jobs", 'j', SMP_O_INT, offsetof(smp_many_settings, jobs), .fallback = "0", .argument = "N", .min = 0, .max = 1024,
     .help = "files at once; 0: chosen by processors and devices"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ --files-from */

smp_code smp_many_open(smp_many_settings *settings, smp_error *err)
{
    if (!settings->list)
        return SMP_OK;
    bool standard = !strcmp(settings->list, "-");
    if (standard && settings->pipe && !strcmp(settings->pipe, "-"))
        return smp_fail(err, SMP_E_USAGE, "the pipeline and the list cannot both come from standard input");
    FILE *file = standard ? stdin : fopen(settings->list, "re");
    size_t length = 0;
    smp_code code = file ? smp_read_stream(file, SIZE_MAX / 2, &settings->listed, &length, err)
                         : smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno));
    if (file && !standard)
        fclose(file);
    char *text = settings->listed;
    const char end = !code && memchr(text, '\0', length) ? '\0' : '\n';
    for (size_t at = 0; !code && at < length;) {
        char *stop = memchr(text + at, end, length - at);
        size_t next = stop ? (size_t)(stop - text) + 1 : length;
        if (stop)
            *stop = '\0';
        if (end == '\n' && stop > text + at && stop[-1] == '\r') /* lists made on Windows */
            stop[-1] = '\0';
        smp_strings *inputs = &settings->inputs;
        if (!text[at]) { /* an empty line names nothing */
            at = next;
            continue;
        }
        SMP_NEED(smp_grow(&inputs->items, &inputs->capacity, inputs->count + 1, sizeof *inputs->items),
                 "the list of files", inputs->count, err);
        inputs->items[inputs->count++] = text + at;
        at = next;
    }
    if (!code && !settings->inputs.count)
        code = smp_fail(err, SMP_E_READ, "the list names no files");
    else if (code == SMP_E_READ && !standard && smp_is_folder(settings->list))
        smp_hint(err, "a list is a text with a name a line; folders stand on the command line");
    else if (code == SMP_E_READ && !file)
        smp_hint(err, "check the spelling of the path");
    return code ? smp_at(err, "%s", standard ? "standard input" : settings->list) : SMP_OK;
}

void smp_many_close(smp_many_settings *settings)
{
    smp_free(settings->listed);
    settings->listed = NULL;
}

/* ------------------------------------------------------------------------------------------------ files */

/* The kind of file that the pipeline is for: as declared, or what the first stage that works on one kind alone, with
 * the input or what others made of it, says. None: both. */
static smp_kind wanted_kind(const smp_program *program)
{
    for (size_t i = 0; program->kind == SMP_KIND_NONE && i < program->node_count; i++) {
        const smp_node *node = &program->nodes[i];
        int from = node->input;
        while (from >= 0 && smp_stage_gives(program->nodes[from].stage) == SMP_KIND_NONE)
            from = program->nodes[from].input;
        if (from == SMP_NODE_INPUT && (node->stage->domain == SMP_IMAGE || node->stage->domain == SMP_AUDIO))
            return node->stage->domain;
    }
    return program->kind;
}

smp_find_options smp_many_walk(const smp_many_settings *settings, const smp_program *program)
{
    return (smp_find_options){.recursive = settings->recursive,
                              .include = settings->include.items,
                              .include_count = settings->include.count,
                              .exclude = settings->exclude.items,
                              .exclude_count = settings->exclude.count,
                              .kind = wanted_kind(program)};
}

smp_code smp_many_beside_list(const smp_many_settings *settings, const char *other, smp_error *err)
{
    const char *wrong = settings->inputs.count    ? "files on the command line"
                        : settings->list          ? "--files-from"
                        : settings->recursive     ? "--recursive"
                        : settings->include.count ? "--include"
                        : settings->exclude.count ? "--exclude"
                                                  : other;
    if (!wrong)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--list and %s exclude each other", wrong);
    return smp_hint(err, "the list says which files; smempipe list makes another");
}

smp_code smp_many_check(const smp_many_settings *settings, smp_kind wanted, size_t files, smp_left_out *left_out,
                        smp_error *err)
{
    if (left_out->special && !settings->plan.base.common.quiet)
        fprintf(stderr, "smempipe: %zu passed over that %s a pipe, a socket or a device\n", left_out->special,
                left_out->special == 1 ? "is" : "are each");
    if (files)
        return SMP_OK;
    smp_fail(err, SMP_E_READ, "there is no file to work on in %.200s%s", settings->inputs.items[0],
             settings->inputs.count > 1 ? " and the others" : "");
    smp_kind kind = SMP_KIND_NONE;
    for (size_t i = 0; !kind && i < left_out->other_count; i++)
        kind = smp_name_kind(left_out->others[i].extension);
    if (left_out->files && kind != SMP_KIND_NONE && wanted != SMP_KIND_NONE && !(kind & wanted)) { /* it is read */
        char *others = smp_left_out_text(left_out);
        smp_hint(err, "this is for %s, and %zu file%s there %s something else by name: %.160s",
                 kind == SMP_AUDIO ? "pictures" : "sound", left_out->files, left_out->files == 1 ? "" : "s",
                 left_out->files == 1 ? "is" : "are", others ? others : "?");
        smp_free(others);
        return SMP_E_READ;
    }
    if (left_out->files) {
        char *others = smp_left_out_text(left_out);
        smp_hint(err, "%zu file%s there %s passed over by name (%.160s); --include '*' tries all", left_out->files,
                 left_out->files == 1 ? "" : "s", left_out->files == 1 ? "was" : "were", others ? others : "?");
        smp_free(others);
        return SMP_E_READ;
    }
    if (left_out->folders)
        return smp_hint(err, "it has folders: --recursive goes into them");
    if (settings->include.count || settings->exclude.count)
        return smp_hint(err, "--include and --exclude leave none");
    return SMP_E_READ;
}

void smp_many_others(const smp_common *common, uint64_t count, const char *text)
{
    const bool which = text && text[0];
    if (count && !common->quiet)
        smp_text_line(stderr, "smempipe: %llu file%s passed over by %s%s%s%s", (unsigned long long)count,
                      count == 1 ? "" : "s", count == 1 ? "its name" : "their names", which ? " (" : "",
                      which ? text : "", which ? ")" : "");
}

smp_code smp_many_find(const smp_many_settings *settings, const smp_find_options *walk, smp_found_list *found,
                       const char ***paths, smp_error *err)
{
    SMP_TRY(smp_walk(settings->inputs.items, settings->inputs.count, walk, found, err));
    SMP_TRY(smp_many_check(settings, walk->kind, found->count, &found->left_out, err));
    if (paths)
        SMP_NEED(*paths = smp_alloc_array(found->count + 1, sizeof **paths), "the list of files", found->count, err);
    for (size_t i = 0; paths && i < found->count; i++)
        (*paths)[i] = smp_found_at(found, i)->path;
    return SMP_OK;
}

smp_code smp_many_fail_list(const char *list, size_t left_out, smp_error *err)
{
    smp_fail(err, SMP_E_READ, "there is no file to work on in the list");
    if (left_out)
        smp_hint(err, "the pipeline is not for the %zu file%s in it, by %s", left_out, left_out == 1 ? "" : "s",
                 left_out == 1 ? "its name" : "their names");
    else
        smp_hint(err, "smempipe list DIR -r -o FILE makes another; -r goes into folders");
    return smp_at(err, "%s", list);
}

smp_code smp_many_operands(const smp_program *program, smp_diags *diags, smp_error *err)
{
    for (size_t i = 0; i < program->file_count; i++) {
        const smp_operand_file *file = &program->files[i];
        if (access(file->path, R_OK) == 0)
            continue;
        smp_fail(err, SMP_E_READ, "cannot read '%.200s': %s", file->path, strerror(errno));
        smp_diag *diag = smp_diags_add(diags, SMP_ERROR, file->span, "%s", err->message);
        if (file->setting)
            smp_diag_fix(diags, diag, "give --set %s=FILE", file->setting);
        return SMP_E_READ;
    }
    return SMP_OK;
}

smp_batch_request smp_many_request(const smp_many_settings *settings, const smp_program *program, smp_diags *diags)
{
    const smp_common *common = &settings->plan.base.common;
    smp_batch_request request = {
        .program = program,
        .diags = diags,
        .read = common->read,
        .fast_decode = common->fast_decode,
        .gpu_jpeg = common->gpu_jpeg,
        .device = common->device,
        .isa = smp_cli_isa(&settings->plan),
        .draw = smp_cli_draw(&settings->plan.base),
        .variant = settings->plan.variant,
        .threads = (int)common->threads,
        .jobs = (int)settings->jobs,
        .strip_rows = settings->plan.strip_rows,
        .plain_storage = settings->plan.plain_storage,
        .no_fuse = settings->plan.no_fuse,
        .stop = &smp_cli_stopped,
    };
    request.write.output.force = common->force;
    return request;
}

smp_hash smp_many_work(const smp_many_settings *settings, const smp_program *program, const smp_diags *diags,
                       bool any_version)
{
    smp_hash hash = smp_hash_start();
    const smp_strings *set = &settings->plan.base.settings;
    if (!any_version)
        smp_hash_text(&hash, SMP_VERSION);
    for (size_t i = 0; i < diags->source_count; i++)
        smp_hash_text(&hash, diags->sources[i].text);
    for (size_t i = 0; i < set->count; i++)
        smp_hash_text(&hash, set->items[i]);
    const smp_draw draw = smp_cli_draw(&settings->plan.base);
    if (program->draws)
        smp_hash_add(&hash, &draw, sizeof draw);
    for (size_t i = 0; i < program->file_count; i++) { /* pictures that it names, as they are now */
        struct stat status;
        smp_hash_text(&hash, program->files[i].path);
        if (stat(program->files[i].path, &status) == 0) {
            smp_hash_add(&hash, &status.st_size, sizeof status.st_size);
            smp_hash_add(&hash, &status.st_mtim.tv_sec, sizeof status.st_mtim.tv_sec);
            smp_hash_add(&hash, &status.st_mtim.tv_nsec, sizeof status.st_mtim.tv_nsec);
        }
    }
    return hash;
}

smp_hash smp_many_list(const smp_found_list *found)
{
    smp_hash hash = smp_hash_start();
    for (size_t i = 0; i < found->count; i++) {
        const smp_found *file = smp_found_at(found, i);
        smp_hash_text(&hash, file->path);
        smp_hash_text(&hash, file->name);
        smp_hash_add(&hash, &file->size, sizeof file->size);
    }
    return hash;
}

/* ------------------------------------------------------------------------------------------------ failures */

enum { MOST_KEPT = 1000, MOST_HINTS = 3 }; /* lines; a report has all. Hints that differ */

/* "*.txt", of a file whose name says that it is neither picture nor sound; null where there is no such extension. */
static char *pattern_of(const char *input)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *name = smp_base_name(input), *dot = strrchr(name, '.');
    if (!dot || dot == name || !dot[1] || smp_is_tar(name) || dot[1 + strspn(dot + 1, plain)] ||
        smp_name_kind(name) != SMP_KIND_NONE)
        return NULL;
    return smp_asprintf("*%s", dot);
}

/* Whether a name is that of a table of results, which people give as an output. */
static bool is_result(const char *name)
{
    static const char *const ends[] = {".csv", ".json", ".jsonl", ".txt", ".html"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (smp_ends_with(name, ends[i]))
            return true;
    return false;
}

void smp_failures_add(smp_failures *failures, const char *input, const smp_error *err)
{
    failures->count++;
    if (!failures->pattern && err->code == SMP_E_DECODE)
        failures->pattern = pattern_of(input);
    if (failures->kept == MOST_KEPT ||
        !smp_grow(&failures->lines, &failures->capacity, failures->kept + 1, sizeof *failures->lines))
        return;
    bool cut = strlen(err->where) == sizeof err->where - 1; /* a long path has its beginning there */
    bool elsewhere =
        err->where[0] && strcmp(err->where, input) != 0 && !(cut && !strncmp(input, err->where, sizeof err->where - 1));
    smp_error told = *err;
    if (err->code == SMP_E_READ && is_result(input) && access(input, F_OK) != 0)
        smp_hint(&told, "results go to standard output: put > %.100s behind the command", input);
    char *line = smp_asprintf("%s: %s%s%s%c%s", input, elsewhere ? err->where : "", elsewhere ? ": " : "", err->message,
                              '\0', told.hint);
    if (line)
        failures->lines[failures->kept++] = line;
}

/* In the order of names, whatever ended first. */
void smp_failures_show(smp_failures *failures, const smp_common *common, size_t files)
{
    if (!failures->count)
        return;
    if (failures->kept)
        qsort(failures->lines, failures->kept, sizeof *failures->lines, smp_by_text);
    smp_paint paint = smp_paint_for(smp_cli_color(common, STDERR_FILENO));
    fprintf(stderr, "%ssmempipe: %s%serror:%s %zu of %zu file%s failed:\n", paint.bold, paint.off, paint.red, paint.off,
            failures->count, files, files == 1 ? "" : "s");
    const char *hints[MOST_HINTS];
    size_t hinted = 0;
    for (size_t i = 0; i < failures->kept; i++) {
        const char *hint = failures->lines[i] + strlen(failures->lines[i]) + 1;
        bool told = !hint[0] || hinted == MOST_HINTS;
        for (size_t k = 0; k < hinted && !told; k++)
            told = !strcmp(hints[k], hint);
        if (!told)
            hints[hinted++] = hint;
        fputs("  ", stderr);
        smp_text_clean(stderr, failures->lines[i]);
        fputc('\n', stderr);
    }
    for (size_t i = 0; i < hinted; i++) {
        fputs("  = hint: ", stderr);
        smp_text_clean(stderr, hints[i]);
        fputc('\n', stderr);
    }
    if (failures->count > failures->kept)
        fprintf(stderr, "  and %zu more: a report (--report FILE) names all\n", failures->count - failures->kept);
    if (failures->pattern)
        smp_text_line(stderr, "  = hint: --exclude '%s' passes such files over", failures->pattern);
}

void smp_failures_free(smp_failures *failures)
{
    for (size_t i = 0; i < failures->kept; i++)
        smp_free(failures->lines[i]);
    smp_free_all(failures->lines, failures->pattern);
    *failures = (smp_failures){0};
}

/* ------------------------------------------------------------------------------------------------ notes */

static void add_remarks(smp_remarks *remarks, const char *path, bool written, const smp_notes *notes)
{
    if (path && !strcmp(path, "-"))
        path = written ? "standard output" : "standard input";
    remarks->count += (size_t)(notes->count + notes->more);
    for (int i = 0; path && i < notes->count; i++) {
        if (remarks->kept == MOST_KEPT ||
            !smp_grow(&remarks->lines, &remarks->capacity, remarks->kept + 1, sizeof *remarks->lines))
            return;
        char *line = smp_asprintf("%s: %s", path, notes->items[i]);
        if (line)
            remarks->lines[remarks->kept++] = line;
    }
}

void smp_remarks_add(smp_remarks *remarks, const smp_run_report *report)
{
    add_remarks(remarks, report->input, false, &report->input_notes);
    add_remarks(remarks, report->output, true, &report->output_notes);
    const char *about = report->output ? report->output : report->input;
    for (size_t i = 0; i < report->step_count; i++) {
        smp_notes notes = {0};
        if (report->steps[i].measurements.warning[0])
            smp_note(&notes, "%s", report->steps[i].measurements.warning);
        if (report->output && smp_report_clips_much(report, &report->steps[i])) {
            char text[400];
            smp_report_clipping_text(report, &report->steps[i], text, sizeof text);
            smp_note(&notes, "%s", text);
        }
        add_remarks(remarks, about, report->output != NULL, &notes);
    }
}

static size_t number_at(const char *text)
{
    return strspn(text, "0123456789.");
}

/* Whether two lines say the same of two files, but for numbers. */
static bool are_alike(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t x = number_at(a), y = number_at(b);
        a += x;
        b += y;
        if (*a != *b || (x > 0) != (y > 0))
            return false;
        a += *a != 0;
        b += *b != 0;
    }
    return *a == *b;
}

/* Returns a line's text behind the file's name. */
static const char *said(const char *line)
{
    const char *at = strstr(line, ": ");
    return at ? at + 2 : line;
}

/* Prints alike lines as one: numbers that differ become "least to most". texts, behind files' names, are moved to their
 * ends. */
static void put_alike(FILE *to, const char **texts, size_t count)
{
    while (*texts[0]) {
        const char *least = texts[0], *most = texts[0];
        if (!number_at(texts[0])) {
            fputc(*texts[0], to);
            for (size_t i = 0; i < count; i++)
                texts[i]++;
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            least = strtod(texts[i], NULL) < strtod(least, NULL) ? texts[i] : least;
            most = strtod(texts[i], NULL) > strtod(most, NULL) ? texts[i] : most;
        }
        fprintf(to, "%.*s", (int)number_at(least), least);
        if (strtod(least, NULL) < strtod(most, NULL))
            fprintf(to, " to %s%.*s", texts[0][-1] == '-' ? "-" : "", (int)number_at(most), most);
        for (size_t i = 0; i < count; i++)
            texts[i] += number_at(texts[i]);
    }
}

static void show_alike(const smp_common *common, const char **texts, size_t count)
{
    char *line = NULL;
    size_t size;
    FILE *to = open_memstream(&line, &size);
    if (to) {
        put_alike(to, texts, count);
        fclose(to);
        smp_cli_warning(common, "%zu more files: %s", count, line);
    }
    free(line);
}

/* In the order of names, whatever ended first. Where many have the same message, the first are named. */
void smp_remarks_show(smp_remarks *remarks, const smp_common *common)
{
    enum { NAMED = 3 };
    bool told[MOST_KEPT] = {false};
    const char *others[MOST_KEPT];
    if (remarks->kept)
        qsort(remarks->lines, remarks->kept, sizeof *remarks->lines, smp_by_text);
    for (size_t i = 0; i < remarks->kept; i++) {
        const char *text = said(remarks->lines[i]);
        size_t alike = 0;
        for (size_t k = i; k < remarks->kept && !told[i]; k++)
            alike += !told[k] && are_alike(text, said(remarks->lines[k]));
        const size_t named = alike <= NAMED + 1 ? alike : NAMED; /* a line about one more is no shorter than its own */
        size_t left = alike;
        for (size_t k = i; left; k++)
            if (!told[k] && are_alike(text, said(remarks->lines[k]))) {
                if (alike - left < named)
                    smp_cli_warning(common, "%s", remarks->lines[k]);
                else
                    others[alike - left - named] = said(remarks->lines[k]);
                told[k] = true;
                left--;
            }
        if (alike > named)
            show_alike(common, others, alike - named);
    }
    if (remarks->count > remarks->kept)
        smp_cli_warning(common, "%zu more notes", remarks->count - remarks->kept);
}

void smp_remarks_free(smp_remarks *remarks)
{
    for (size_t i = 0; i < remarks->kept; i++)
        smp_free(remarks->lines[i]);
    smp_free(remarks->lines);
    *remarks = (smp_remarks){0};
}
