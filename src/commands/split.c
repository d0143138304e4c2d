/* smempipe split: a sound to a file for each part between silences. Two passes, both by strips: the first finds the
 * silences, the second copies samples. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/paths.h"
#include "batch/outputs.h"
#include "commands/outputs.h"
#include "io/files/output.h"
#include "report/text.h"
#include "run/prepass.h"

typedef struct split_settings {
    smp_plan_settings plan;
    const char *in, *folder, *pattern, *to;
    double below, min, keep, every;
    smp_write_settings write;
} split_settings;

#define PART_NAMES "{stem}-{part}.{ext}"

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(split_settings, folder), .argument = "DIR",
     .help = "the folder to write to, which is made; or names with {part} in them, as 'parts/{stem}-{part}.flac'"},
    {"name", 0, SMP_O_STRING, offsetof(split_settings, pattern), .fallback = PART_NAMES, .argument = "PATTERN",
     .help = "names of the parts: {part} is the part's number, {stem} the input's name without extension, {ext} its "
             "extension"},
    {"to", 0, SMP_O_STRING, offsetof(split_settings, to), .argument = "EXT",
     .help = "the format of the parts, by its extension: wav, flac, opus; the input's own unless said"},
    {"below", 0, SMP_O_NUMBER, offsetof(split_settings, below), .fallback = "-50", .argument = "DBFS", .min = -200,
     .max = 0, .help = "every channel stays below this level, in dBFS, where it is silent"},
    {"min", 0, SMP_O_NUMBER, offsetof(split_settings, min), .fallback = "0.5", .argument = "SECONDS", .max = 1e6,
     .help = "the shortest silence that parts are split at"},
    {"keep", 0, SMP_O_NUMBER, offsetof(split_settings, keep), .fallback = "0.1", .argument = "SECONDS", .max = 1e6,
     .help = "silence that is left before and after each part, at most half of what there is"},
    {"every", 0, SMP_O_NUMBER, offsetof(split_settings, every), .fallback = "0", .argument = "SECONDS", .max = 1e9,
     .help = "parts of this length, whatever is silent; the last one may be shorter"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN", offsetof(split_settings, in), .help = "the sound to read; - is standard input"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ names */

/* -o with names in it is folder and pattern at once. */
static smp_code divide_folder(split_settings *s, char **folder, smp_error *err)
{
    const char *last = smp_base_name(s->folder);
    const smp_kind file = smp_writer_kind(last);
    if (file != SMP_KIND_NONE && !strstr(last, "{part}"))
        return smp_fail(err, SMP_E_USAGE, "'%.200s' is the name of one file, and there are many parts", s->folder),
               smp_hint(err, "write -o DIR, or put {part} into the name, as in '{stem}-{part}%.20s'",
                        strrchr(last, '.'));
    if (!strchr(last, '{')) {
        *folder = smp_strdup(s->folder);
    } else if (strcmp(s->pattern, PART_NAMES) != 0) {
        smp_fail(err, SMP_E_USAGE, "names are given twice, by -o and by --name");
        return smp_hint(err, "write -o DIR, or leave --name out");
    } else {
        s->pattern = last;
        *folder = smp_folder_part(s->folder);
    }
    return *folder ? SMP_OK : smp_fail_memory(err, "a path", strlen(s->folder));
}

/* The path of part `number` of `count`; null: no memory. */
static char *part_path(const split_settings *s, const char *folder, int64_t number, int64_t count)
{
    const char *last = strcmp(s->in, "-") ? smp_base_name(s->in) : "part", *dot = strrchr(last, '.');
    const bool writable = dot && dot > last && smp_writer_kind(last) == SMP_AUDIO;
    char part[32];
    int digits = 2;
    for (int64_t most = 99; most < count && digits < 18; most = 10 * most + 9)
        digits++;
    snprintf(part, sizeof part, "%0*lld", digits, (long long)number);
    smp_namer namer = {.folder = folder, .pattern = s->pattern, .part = part};
    namer.ext = s->to ? s->to + (s->to[0] == '.') : writable ? dot + 1 : "wav";
    const char *path = smp_namer_output(&namer, last);
    char *own = path ? smp_strdup(path) : NULL;
    smp_namer_free(&namer);
    return own;
}

/* ------------------------------------------------------------------------------------------------ parts */

typedef struct part {
    int64_t from, to; /* frames */
    char *path;
} part;

typedef struct parts {
    part *items;
    size_t count, capacity;
} parts;

static void parts_free(parts *p)
{
    for (size_t i = 0; i < p->count; i++)
        smp_free(p->items[i].path);
    smp_free(p->items);
}

static const smp_measurement *list_named(const smp_run_report *report, const char *name)
{
    for (size_t i = 0; i < report->step_count; i++)
        for (size_t k = 0; k < report->steps[i].measurements.count; k++)
            if (!strcmp(report->steps[i].measurements.items[k].name, name) &&
                report->steps[i].measurements.items[k].list)
                return &report->steps[i].measurements.items[k];
    return NULL;
}

/* Finds the parts between the silences that a run reported, with what is kept of them. */
static smp_code find_parts(const split_settings *s, const smp_run_report *report, parts *found, smp_error *err)
{
    const smp_measurement *start = list_named(report, "start"), *end = list_named(report, "end");
    const double rate = report->shape.rate;
    const int64_t length = report->shape.height, keep = (int64_t)fmin(floor(s->keep * rate + 0.5), 1e15);
    int64_t from = 0, kept_before = 0;
    for (size_t i = 0; i <= (start ? start->list_len : 0); i++) {
        const bool last = !start || i == start->list_len;
        const int64_t silent = last ? length : (int64_t)llround(start->list[i] * rate),
                      loud = last ? length : (int64_t)llround(end->list[i] * rate);
        const bool ends = loud == length; /* silence at the end is no boundary between two parts */
        const int64_t kept = smp_min_i64(keep, ends ? loud - silent : (loud - silent) / 2);
        if (silent > from) {
            SMP_NEED(smp_grow(&found->items, &found->capacity, found->count + 1, sizeof *found->items), "the parts",
                     found->count * sizeof *found->items, err);
            found->items[found->count++] = (part){from - kept_before, silent + kept, NULL};
        }
        kept_before = smp_min_i64(keep, silent ? (loud - silent) / 2 : loud);
        from = loud;
    }
    if (found->count)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "there is no part: all of it stays below %.6g dBFS", s->below);
    smp_hint(err, "--below takes a lower level");
    return smp_at(err, "%s", strcmp(s->in, "-") ? s->in : "standard input");
}

/* Parts of one length. */
static smp_code cut_parts(const split_settings *s, const smp_shape *shape, parts *found, smp_error *err)
{
    enum { MOST = 1000000 };
    const int64_t each = (int64_t)fmin(floor(s->every * shape->rate + 0.5), 1e15);
    if (each < 1 || (shape->height - 1) / each >= MOST)
        return smp_fail(err, SMP_E_USAGE, "--every %.6g makes %s parts", s->every, each < 1 ? "empty" : "too many");
    for (int64_t from = 0; from < shape->height; from += each) {
        SMP_NEED(smp_grow(&found->items, &found->capacity, found->count + 1, sizeof *found->items), "the parts",
                 found->count * sizeof *found->items, err);
        found->items[found->count++] = (part){from, smp_min_i64(from + each, shape->height), NULL};
    }
    return SMP_OK;
}

static smp_code name_parts(const split_settings *s, const char *folder, parts *found, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < found->count; i++) {
        char *path = found->items[i].path = part_path(s, folder, (int64_t)i + 1, (int64_t)found->count);
        SMP_NEED(path, "a path", 100, err);
        code = smp_target_check(path, err);
        if (!code && !s->plan.base.common.force && access(path, F_OK) == 0) {
            smp_fail(err, SMP_E_WRITE, "the file exists already");
            smp_hint(err, "nothing was written; replace it with --force, or give another folder");
            code = smp_at(err, "%s", path);
        }
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ copying */

enum { BLOCK = 1 << 15 /* frames */ };

static smp_code skip(smp_reader *reader, float *block, int64_t stride, int64_t frames, smp_error *err)
{
    for (int64_t n; frames > 0; frames -= n) {
        n = smp_min_i64(frames, BLOCK);
        SMP_TRY(smp_reader_rows(reader, block, stride, n, err));
    }
    return SMP_OK;
}

/* The input again, for a part's coded frames, where its file may hold them. *out stays null: it gets samples. */
static smp_code open_coded(const split_settings *s, const part *p, const smp_media *media,
                           const smp_write_options *write, smp_reader **out, smp_error *err)
{
    smp_read_options read = s->plan.base.common.read;
    read.want = (smp_read_want){.coded = true, .from = p->from, .part = p->to - p->from};
    if (!strcmp(s->in, "-") || !media->cuts || !smp_writer_keeps_coded(p->path, write, media, false))
        return SMP_OK;
    const smp_code code = smp_reader_open(s->in, &read, out, err);
    if (code == SMP_E_MEMORY || code == SMP_E_LIMIT) {
        *err = (smp_error){.code = SMP_OK};
        smp_cli_warning(&s->plan.base.common, "%s: what is coded cannot be copied for want of memory: it is coded anew",
                        p->path);
        return SMP_OK;
    }
    SMP_TRY(code);
    if (smp_reader_media(*out)->coded.size)
        return SMP_OK;
    smp_cli_notes(&s->plan.base.common, p->path, true, smp_reader_notes(*out));
    smp_reader_close(*out);
    *out = NULL;
    return SMP_OK;
}

/* *at: the reader's next frame. */
static smp_code write_part(const split_settings *s, smp_reader *reader, const smp_meta *meta, int64_t *at,
                           const part *p, float *block, int64_t stride, smp_error *err)
{
    const smp_media *media = smp_reader_media(reader);
    const char *const inputs[] = {s->in, NULL};
    smp_write_options write = {0};
    smp_writer *writer = NULL;
    smp_reader *coded = NULL;
    smp_shape shape = media->shape, held;
    shape.height = p->to - p->from;
    smp_cli_write_options(&s->write, &write);
    write.output.force = s->plan.base.common.force;
    write.output.inputs = inputs;
    smp_code code = open_coded(s, p, media, &write, &coded, err);
    write.coded.picture = coded ? &smp_reader_media(coded)->coded : NULL;
    code = code || coded ? code : skip(reader, block, stride, p->from - *at, err);
    code = code ? code : smp_writer_shape(p->path, &shape, &held, err);
    code = code ? code : smp_writer_open(p->path, &held, meta, &write, &writer, err);
    for (int64_t left = coded ? 0 : shape.height, n; !code && left > 0; left -= n) {
        n = smp_min_i64(left, BLOCK);
        code = smp_reader_rows(reader, block, stride, n, err);
        code = code ? code : smp_writer_rows(writer, block, stride, n, err);
    }
    *at = coded ? *at : p->to;
    smp_reader_close(coded);
    if (code) {
        smp_writer_abort(writer);
        return code;
    }
    return smp_cli_commit(&s->plan.base.common, p->path, writer, err);
}

/* Tags are read from a reader of their own; chapters of the whole are not its parts'. */
static smp_code read_meta(const split_settings *s, int64_t start, smp_meta *meta, smp_error *err)
{
    smp_reader *reader = NULL;
    smp_code code = smp_reader_open(s->in, &s->plan.base.common.read, &reader, err);
    if (!code && !smp_meta_copy(meta, &smp_reader_media(reader)->meta))
        code = smp_fail_memory(err, "tags", 100);
    smp_reader_close(reader);
    if (smp_meta_drop_times(meta) && !s->write.strip)
        smp_cli_warning(&s->plan.base.common, "%s: what its tags say about times (chapters) is left out of its parts",
                        !strcmp(s->in, "-") ? "standard input" : s->in);
    return !code && start >= 0 ? smp_prepass_rewind(start, err) : code;
}

/* Parts may overlap by what is kept of a silence; no sample belongs to two, since at most half of one is kept. */
static smp_code write_parts(const split_settings *s, const parts *found, const smp_meta *meta, smp_error *err)
{
    smp_reader *reader = NULL;
    float *block = NULL;
    int64_t at = 0;
    smp_code code = smp_reader_open(s->in, &s->plan.base.common.read, &reader, err);
    const smp_shape shape = code ? (smp_shape){.channels = 1} : smp_reader_media(reader)->shape;
    const int64_t stride = shape.channels * (int64_t)sizeof(float);
    if (!code && !(block = smp_alloc_array(BLOCK, (size_t)stride)))
        code = smp_fail_memory(err, "samples", (uint64_t)(BLOCK * stride));
    for (size_t i = 0; !code && i < found->count; i++) {
        const part *p = &found->items[i];
        code = write_part(s, reader, meta, &at, p, block, stride, err);
        if (!code && !s->plan.base.common.quiet)
            smp_text_line(stdout, "%s  %.3f .. %.3f s", p->path, (double)p->from / shape.rate,
                          (double)p->to / shape.rate);
        if (code && i)
            smp_hint(err, "%zu of %zu parts were written", i, found->count);
    }
    smp_free(block);
    smp_reader_close(reader);
    return code;
}

/* ------------------------------------------------------------------------------------------------ resampling */

/* Fits rows to the rate that a format needs. */
typedef struct fitting {
    const split_settings *s;
    const parts *found;
    const smp_meta *meta;
    double rate; /* of the frames that parts are counted in */
    size_t next; /* the part that is being written */
    smp_writer *writer;
} fitting;

static smp_code end_part(fitting *f, smp_error *err)
{
    const smp_common *common = &f->s->plan.base.common;
    const part *p = &f->found->items[f->next];
    smp_writer *writer = f->writer;
    f->writer = NULL;
    const smp_code code = smp_cli_commit(common, p->path, writer, err);
    f->next += !code;
    if (!code && !common->quiet)
        smp_text_line(stdout, "%s  %.3f .. %.3f s", p->path, (double)p->from / f->rate, (double)p->to / f->rate);
    return code;
}

static smp_code take_rows(void *context, const char *, const smp_shape *shape, int64_t y, int64_t rows,
                          const void *from, int64_t stride, smp_error *err)
{
    fitting *f = context;
    const double ratio = shape->rate / f->rate;
    while (f->next < f->found->count) {
        const part *p = &f->found->items[f->next];
        const int64_t begin = smp_min_i64(shape->height - 1, llround((double)p->from * ratio)),
                      end = smp_max_i64(begin + 1, smp_min_i64(shape->height, llround((double)p->to * ratio))),
                      first = smp_max_i64(begin, y), last = smp_min_i64(end, y + rows);
        if (first >= last)
            break;
        if (!f->writer) {
            const char *const inputs[] = {f->s->in, NULL};
            smp_write_options write = {0};
            smp_shape held = *shape;
            held.height = end - begin;
            smp_cli_write_options(&f->s->write, &write);
            write.output.force = f->s->plan.base.common.force;
            write.output.inputs = inputs;
            SMP_TRY(smp_writer_open(p->path, &held, f->meta, &write, &f->writer, err));
        }
        SMP_TRY(smp_writer_rows(f->writer, (const char *)from + (first - y) * stride, stride, last - first, err));
        if (last < end)
            break;
        SMP_TRY(end_part(f, err));
    }
    return SMP_OK;
}

/* The input is resampled as a whole and cut then, so that parts fit together. */
static smp_code write_fitting(const split_settings *s, const smp_run_request *found_by, const parts *found, double rate,
                              const smp_meta *meta, smp_error *err)
{
    smp_run_report report = {.input = NULL};
    smp_run_request request = *found_by;
    fitting f = {.s = s, .found = found, .meta = meta, .rate = rate};
    request.output = found->items[0].path;
    request.write.taker = &(smp_row_taker){take_rows, &f};
    request.write.sound.fit_rate = true;
    smp_code code = smp_run_file(&request, &report, err);
    if (!code)
        smp_cli_notes(&s->plan.base.common, found->items[0].path, true, &report.output_notes);
    smp_writer_abort(f.writer);
    smp_run_report_free(&report);
    if (code && f.next)
        smp_hint(err, "%zu of %zu parts were written", f.next, found->count);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the command */

static smp_code find_and_write(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    split_settings *s = given;
    smp_run_report report = {.input = NULL};
    smp_cli_job job;
    parts found = {.items = NULL};
    smp_meta meta = {.srgb_intent = -1};
    char *folder = NULL;
    int64_t start = -1;
    smp_code code = divide_folder(s, &folder, err);
    code = code ? code : smp_part_pattern_check(s->pattern, err);
    if (!code && !strcmp(s->in, "-"))
        code = smp_prepass_keep_stdin(&s->plan.base.common.read.limits, &start, err);
    if (code) {
        smp_free(folder);
        return code;
    }
    code = smp_cli_job_open(&s->plan, program, diags, s->in, &job, err);
    code = code ? code : smp_run_file(&job.request, &report, err);
    if (!code)
        smp_cli_notes(&s->plan.base.common, s->in, false, &report.input_notes);
    if (!code && s->every > 0)
        code = cut_parts(s, &report.shape, &found, err);
    else if (!code)
        code = find_parts(s, &report, &found, err);
    code = code ? code : name_parts(s, folder, &found, err);
    if (!code)
        smp_cli_idle_options(&s->plan.base.common, &s->write, found.items[0].path, NULL, NULL);
    code = code ? code : smp_make_folders(found.items[0].path, err);
    if (!code && start >= 0)
        code = smp_prepass_rewind(start, err);
    if (!code) {
        smp_cli_confine_folder(&s->plan.base.common, program, s->in, folder);
        smp_shape fit = report.shape;
        code = read_meta(s, start, &meta, err);
        if (!code)
            code = smp_writer_fits_rate(found.items[0].path, NULL, &fit)
                       ? write_fitting(s, &job.request, &found, report.shape.rate, &meta, err)
                       : write_parts(s, &found, &meta, err);
    }
    smp_cli_job_close(&job);
    smp_meta_free(&meta);
    parts_free(&found);
    smp_free(folder);
    smp_run_report_free(&report);
    return code;
}

static smp_code split(void *given, smp_error *err)
{
    split_settings *s = given;
    smp_pipeline_settings *base = &s->plan.base;
    smp_code code = smp_cli_check_stdin(s->in, err);
    if (!code && s->to)
        code = smp_cli_check_extension("to", s->to, err);
    if (!code && !s->folder) {
        smp_fail(err, SMP_E_USAGE, "the folder of the parts is missing");
        code = smp_hint(err, "write smempipe split %.200s -o DIR", s->in);
    }
    if (code)
        return code;
    char *text = smp_asprintf("silence %.17gdBFS min=%.17gs", s->below, s->min);
    if (!text || !smp_grow(&base->stages.items, &base->stages.capacity, 1, sizeof *base->stages.items)) {
        smp_free(text);
        return smp_fail_memory(err, "a stage", 100);
    }
    base->stages.items[base->stages.count++] = text;
    code = smp_cli_with_program(base, NULL, find_and_write, s, err);
    smp_free(base->stages.items);
    base->stages = (smp_strings){0};
    smp_free(text);
    return code;
}

const smp_command smp_command_split = {
    .name = "split",
    .help = "a sound to a file for each part between silences, or of equal length",
    .about = "Splits where every channel stays below --below for at least --min seconds, and leaves --keep seconds of "
             "silence at both sides of a part; with --every 60 parts are a minute each. Samples stay as they are, and "
             "so do the coded frames of an MP3 or Opus that becomes MP3s or Opus. Prints the parts and their times. "
             "The sound is read twice, in little memory, and one whose frames stay once more for each part; nothing "
             "is written when it is damaged or a part exists already.",
    .settings_size = sizeof(split_settings),
    .one_input = true,
    .without = SMP_O_PICTURES,
    .groups = {{"options", options}, SMP_WRITE_GROUP(split_settings, write), SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe split talk.flac -o parts/", "parts/talk-01.flac, parts/talk-02.flac, ..."},
                 {"smempipe split tape.wav --min 2 --below -45 -o 'songs/{part}.flac'",
                  "a file for each song, split at silences of two seconds"},
                 {"smempipe split call.mp3 -o pieces/ --every 30 --to wav", "pieces of half a minute"}},
    .run = split,
};
