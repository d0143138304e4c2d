/* smempipe concat: sounds one after the other in one file, or pictures as its pages. Headers of sounds are read first,
 * so that nothing is written where two do not fit; then each goes through the stages, if there are any, and its rows
 * into the one output. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "cli/mistakes.h"
#include "commands/outputs.h"
#include "io/files/output.h"

typedef struct concat_settings {
    smp_many_settings many;
    const char *out;
    double gap;
    smp_option_stages stages;
    bool staged;   /* there are stages */
    bool pictures; /* the output holds them */
    smp_write_settings write;
} concat_settings;

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(concat_settings, out), .argument = "OUT",
     .help = "the sound to write, its name says the format; - is standard output; or, of pictures, a .pdf, .tif, .gif, "
             ".webp, "
             ".apng or .ico"},
    {"gap", 0, SMP_O_NUMBER, offsetof(concat_settings, gap), .fallback = "0", .argument = "SECONDS", .max = 1e6,
     .help = "silence between two sounds"},
    {"stage", 'e', SMP_O_LIST, offsetof(concat_settings, many.plan.base.stages), .argument = "STAGE",
     .help = "a stage that each sound or picture goes through before; may be repeated"},
    {"rate", 0, SMP_O_STRING, offsetof(concat_settings, stages.rate), .argument = "HZ",
     .help = "frames a second that all are brought to, as 16000, 16kHz or 44.1kHz (the stage resample)"},
    {"channels", 0, SMP_O_STRING, offsetof(concat_settings, stages.channels), .argument = "N",
     .help = "channels that all are brought to: 1 or mono, 2 or stereo (the stage remix)"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN", offsetof(concat_settings, many.inputs), .many = true, .unless = "files-from",
     .help = "sounds or pictures in this order, and those of folders in the order of their names"},
    {0},
};

typedef struct joined {
    const concat_settings *settings;
    smp_found_list found;
    const char **inputs; /* ends with null */
    smp_shape shape;     /* of all together */
    int64_t gap;         /* frames */
    int bits, type;      /* of the widest samples */
    smp_cli_job job;
    smp_writer *writer;
    float *silence;
    smp_notes notes; /* about the output */
} joined;

enum { BLOCK = 1 << 12 /* frames */ };

/* ------------------------------------------------------------------------------------------------ headers */

static smp_code fail_unlike(const joined *j, const smp_shape *own, const char *path, smp_error *err)
{
    const smp_shape *first = &j->shape;
    if (own->rate != first->rate) {
        smp_fail(err, SMP_E_USAGE, "its rate is %.10g Hz, and that of %.100s is %.10g Hz", own->rate, j->inputs[0],
                 first->rate);
        smp_hint(err, "--rate %.10g brings all to one rate", fmax(own->rate, first->rate));
    } else {
        smp_fail(err, SMP_E_USAGE, "it has %d channel%s, and %.100s has %d", own->channels,
                 own->channels == 1 ? "" : "s", j->inputs[0], first->channels);
        if (first->channels <= 2)
            smp_hint(err, "--channels %d brings all to one number", first->channels);
        else
            smp_hint(err, "--channels 2 makes all stereo");
    }
    return smp_at(err, "%s", path);
}

static smp_run_request request_for(const joined *j, const char *path)
{
    smp_run_request request = j->job.request;
    request.input = path;
    request.output = j->settings->out;
    request.write.sound.fit_rate = true;
    return request;
}

/* What becomes of a sound: *shape is the plan's. */
static smp_code plan_one(const joined *j, const char *path, smp_plan **plan, const smp_shape **shape, smp_error *err)
{
    const smp_run_request request = request_for(j, path);
    SMP_TRY(smp_plan_file(&request, plan, err));
    *shape = &(*plan)->sinks[0].shape;
    return SMP_OK;
}

/* Adds a sound's length to that of all. */
static smp_code add_header(joined *j, const char *path, bool first, smp_error *err)
{
    smp_reader *reader = NULL;
    smp_plan *plan = NULL;
    smp_code code = smp_reader_open(path, &j->settings->many.plan.base.common.read, &reader, err);
    const smp_media *media = code ? NULL : smp_reader_media(reader);
    const smp_shape *own = NULL;
    if (!code && media->shape.kind != SMP_AUDIO) {
        code = smp_fail(err, SMP_E_USAGE, "it is a picture, and %s",
                        strcmp(j->settings->out, "-") ? "the output a sound" : "standard output gets sounds alone");
        smp_hint(err, "-o all.pdf, .tif or .gif takes pictures; the stage join lays two side by side, smempipe montage "
                      "many");
        smp_at(err, "%s", path);
    }
    code = code ? code : plan_one(j, path, &plan, &own, err);
    if (!code && first) {
        j->shape = *own;
        j->gap = (int64_t)floor(j->settings->gap * own->rate + 0.5);
    } else if (!code && (own->rate != j->shape.rate || own->channels != j->shape.channels)) {
        code = fail_unlike(j, own, path, err);
    } else if (!code && (!smp_add_i64(j->shape.height, own->height, &j->shape.height) ||
                         !smp_add_i64(j->shape.height, j->gap, &j->shape.height)))
        code = smp_fail(err, SMP_E_LIMIT, "the sounds together are too long");
    if (!code && (first || media->bits > j->bits)) {
        j->bits = media->bits;
        j->type = smp_coding_sound(&media->meta.coding)->type;
    }
    smp_plan_free(plan);
    smp_reader_close(reader);
    return code;
}

static smp_code check_length(const joined *j, smp_error *err)
{
    const uint64_t most = j->settings->many.plan.base.common.read.limits.max_pixels;
    if ((uint64_t)j->shape.height <= most)
        return SMP_OK;
    smp_fail(err, SMP_E_LIMIT, "the sounds together have %lld frames, more than %llu", (long long)j->shape.height,
             (unsigned long long)most);
    return smp_hint(err, "--max-pixels allows more");
}

/* ------------------------------------------------------------------------------------------------ samples */

static smp_code open_output(joined *j, smp_error *err)
{
    const concat_settings *s = j->settings;
    const smp_common *common = &s->many.plan.base.common;
    smp_write_options write = {0};
    smp_reader *reader = NULL;
    smp_meta meta;
    smp_cli_write_options(&s->write, &write);
    write.output.force = common->force;
    write.output.inputs = j->inputs;
    smp_code code = smp_reader_open(j->inputs[0], &common->read, &reader, err); /* whose tags it gets */
    if (!code) {
        if (!smp_meta_copy(&meta, &smp_reader_media(reader)->meta))
            code = smp_fail_memory(err, "tags", sizeof meta);
    }
    if (!code) {
        smp_coding_begin(&meta.coding, SMP_CODING_SOUND);
        meta.coding.sound.type = j->type;
        const size_t levels = j->found.count > 1 || s->staged ? smp_meta_drop_levels(&meta) : 0;
        if (levels && !write.strip)
            smp_note(&j->notes, "%zu tag%s of the first one's loudness (ReplayGain, R 128) are left out", levels,
                     levels == 1 ? "" : "s");
        const size_t times = j->found.count > 1 || s->staged ? smp_meta_drop_times(&meta) : 0;
        if (times && !write.strip)
            smp_note(&j->notes, "what the first one's tags say about times (chapters) is left out");
        code = smp_writer_open(s->out, &j->shape, &meta, &write, &j->writer, err);
        smp_meta_free(&meta);
    }
    smp_reader_close(reader);
    return code;
}

static smp_code write_silence(joined *j, int64_t frames, smp_error *err)
{
    const int64_t stride = j->shape.channels * (int64_t)sizeof(float);
    for (int64_t n; frames > 0; frames -= n) {
        n = smp_min_i64(frames, BLOCK);
        SMP_TRY(smp_writer_rows(j->writer, j->silence, stride, n, err));
    }
    return SMP_OK;
}

static smp_code take_rows(void *context, const char *, const smp_shape *shape, int64_t, int64_t rows, const void *from,
                          int64_t stride, smp_error *err)
{
    joined *j = context;
    if (shape->rate != j->shape.rate || shape->channels != j->shape.channels)
        return smp_fail(err, SMP_E_DECODE, "it was changed meanwhile");
    return smp_writer_rows(j->writer, from, stride, rows, err);
}

/* first: what is said of the output holds for all. */
static smp_code copy(joined *j, const char *path, bool first, smp_error *err)
{
    const smp_common *common = &j->settings->many.plan.base.common;
    smp_run_report report = {.input = path};
    smp_run_request request = request_for(j, path);
    request.write.taker = &(smp_row_taker){take_rows, j};
    smp_code code = smp_run_file(&request, &report, err);
    if (!code)
        smp_cli_notes(common, path, false, &report.input_notes);
    if (!code && first)
        smp_cli_notes(common, j->settings->out, true, &report.output_notes);
    smp_run_report_free(&report);
    return code;
}

static smp_code copy_all(joined *j, smp_error *err)
{
    const smp_common *common = &j->settings->many.plan.base.common;
    smp_progress progress;
    SMP_NEED(j->silence = smp_alloc_array(BLOCK, (size_t)j->shape.channels * sizeof(float)), "samples", BLOCK, err);
    smp_code code = open_output(j, err);
    smp_progress_begin(&progress, common, "concat");
    for (size_t i = 0; !code && i < j->found.count; i++) {
        if (i)
            code = write_silence(j, j->gap, err);
        code = code ? code : copy(j, j->inputs[i], i == 0, err);
        smp_progress_step(&progress, (int64_t)i + 1, (int64_t)j->found.count);
    }
    smp_progress_end(&progress);
    if (code) {
        smp_writer_abort(j->writer);
        return code;
    }
    smp_cli_notes(common, j->settings->out, true, &j->notes);
    return smp_cli_commit(common, j->settings->out, j->writer, err);
}

/* ------------------------------------------------------------------------------------------------ pictures */

/* Pages, or pictures of an animation; 1: it is one picture, or damaged. */
static int64_t count_pictures(const char *path, const smp_read_options *read)
{
    smp_reader *reader = NULL;
    smp_error err;
    const int64_t count = smp_reader_open(path, read, &reader, &err) ? 1 : smp_reader_media(reader)->pages;
    smp_reader_close(reader);
    return smp_max_i64(count, 1);
}

/* Writes all pages of a file, or pictures of an animation, each through the stages. */
static smp_code bind(joined *j, smp_book *book, const char *path, smp_error *err)
{
    const concat_settings *s = j->settings;
    const smp_common *common = &s->many.plan.base.common;
    smp_read_options read = common->read, moving = common->read;
    moving.frames = true;
    moving.page = 0;
    const bool moves = count_pictures(path, &moving) > 1;
    const int64_t pages = read.page || moves ? 1 : count_pictures(path, &read);
    smp_code code = SMP_OK;
    for (int64_t page = 1; !code && page <= pages; page++) {
        smp_run_report report = {.input = path};
        smp_run_request request = request_for(j, path);
        if (pages > 1)
            request.read.page = page;
        if (moves && !read.page)
            request.read = moving;
        smp_cli_write_options(&s->write, &request.write);
        request.write.output.force = common->force;
        request.write.book = book;
        code = request.read.frames ? smp_run_frames(&request, NULL, NULL, &report, err)
                                   : smp_run_file(&request, &report, err);
        if (!code) {
            smp_cli_notes(common, path, false, &report.input_notes);
            smp_cli_notes(common, path, true, &report.output_notes);
        }
        smp_run_report_free(&report);
    }
    return code;
}

static smp_code bind_all(joined *j, smp_error *err)
{
    const concat_settings *s = j->settings;
    smp_book book = {.inputs = j->inputs};
    smp_progress progress;
    smp_code code = SMP_OK;
    smp_progress_begin(&progress, &s->many.plan.base.common, "concat");
    for (size_t i = 0; !code && i < j->found.count; i++) {
        code = bind(j, &book, j->inputs[i], err);
        if (code && i && !strcmp(err->where, s->out))
            snprintf(err->where, sizeof err->where, "%s, from %s", s->out, j->inputs[i]);
        smp_progress_step(&progress, (int64_t)i + 1, (int64_t)j->found.count);
    }
    smp_progress_end(&progress);
    smp_writer *writer = smp_book_close(&book);
    if (!code)
        return smp_cli_commit(&s->many.plan.base.common, s->out, writer, err);
    smp_writer_abort(writer);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the command */

static smp_code join_files(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    joined j = {.settings = given};
    smp_find_options walk = smp_many_walk(&j.settings->many, program);
    walk.kind = j.settings->pictures ? SMP_IMAGE : SMP_AUDIO; /* whatever the stages are for */
    smp_code code = smp_many_find(&j.settings->many, &walk, &j.found, &j.inputs, err);
    if (!code)
        code = smp_cli_job_open(&j.settings->many.plan, program, j.settings->staged ? diags : NULL, j.inputs[0], &j.job,
                                err);
    for (size_t i = 0; !code && i < j.found.count && !j.settings->pictures; i++)
        code = add_header(&j, j.inputs[i], i == 0, err);
    code = code ? code : check_length(&j, err);
    if (!code && strcmp(j.settings->out, "-") != 0)
        code = smp_make_folders(j.settings->out, err);
    if (!code) {
        smp_cli_confine_many(&j.settings->many, program, &j.found, j.settings->out);
        code = j.settings->pictures ? bind_all(&j, err) : copy_all(&j, err);
    }
    smp_cli_job_close(&j.job);
    smp_free_all(j.silence, j.inputs);
    smp_found_free(&j.found);
    return code;
}

/* Words for sounds, of which pictures know nothing. */
static smp_code check_words(const concat_settings *s, smp_error *err)
{
    const char *word = s->stages.rate ? "--rate" : s->stages.channels ? "--channels" : s->gap > 0 ? "--gap" : NULL;
    return s->pictures && word ? smp_fail(err, SMP_E_USAGE, "%s is of sounds, and %s holds pictures", word, s->out)
                               : SMP_OK;
}

static smp_code concat(void *given, smp_error *err)
{
    concat_settings *s = given;
    smp_pipeline_settings *base = &s->many.plan.base;
    char *texts[SMP_OPTION_STAGES] = {NULL};
    const char *from = NULL;
    if (!s->out) {
        smp_fail(err, SMP_E_USAGE, "the output is missing");
        const char *last = smp_cli_last_as_output(&s->many.inputs);
        return smp_hint(err, "write -o %.200s", last ? last : "all.wav");
    }
    smp_code code = smp_cli_check_stdout(s->out, err);
    smp_cli_idle_options(&base->common, &s->write, s->out, NULL, NULL);
    s->pictures = strcmp(s->out, "-") != 0 && smp_writer_kind(s->out) == SMP_IMAGE;
    code = code ? code : check_words(s, err);
    code = code ? code : smp_many_open(&s->many, err);
    code = code ? code : smp_cli_option_stages(&s->stages, &base->stages, texts, &from, err);
    s->staged = base->stages.count > 0;
    if (!code && !s->staged && !smp_grow(&base->stages.items, &base->stages.capacity, 1, sizeof *base->stages.items))
        code = smp_fail_memory(err, "a stage", 1);
    if (!code) {
        if (!s->staged && !s->pictures) {
            base->stages.items[base->stages.count++] = "gain 0dB"; /* of sounds, so that pictures are passed over */
            base->common.device = "cpu";
        }
        code = smp_cli_with_program(base, NULL, join_files, s, err);
    }
    for (size_t i = 0; i < SMP_OPTION_STAGES; i++)
        smp_free(texts[i]);
    smp_free(base->stages.items);
    base->stages = (smp_strings){0};
    smp_many_close(&s->many);
    return code;
}

const smp_command smp_command_concat = {
    .name = "concat",
    .help = "sounds one after the other in one file; pictures as its pages",
    .about =
        "All must have the same rate and number of channels, or get them by --rate and --channels; samples have as "
        "many bits as the widest. Tags and cover are the first one's. What MP3, OGG and Opus hold is coded again. It "
        "streams: memory does not grow with the sounds. Two sounds in a pipeline: the stage append; at the same time: "
        "the stage mix.\n"
        "Pictures become pages of a PDF or TIFF, or an animation (GIF, WebP, APNG), whose pictures have one size, or "
        "an icon's sizes (ICO); of an input of several pages, or an animation, all of them. A JPEG that no stage "
        "changes goes into a PDF as it is coded.",
    .settings_size = sizeof(concat_settings),
    .without = SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_WRITE_GROUP(concat_settings, write), SMP_MANY_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe concat intro.wav talk.flac outro.mp3 -o episode.flac", "three sounds of one rate"},
                 {"smempipe concat chapters/ -o book.mp3 --gap 2", "a folder's, two seconds of silence between two"},
                 {"smempipe concat *.aiff -o all.wav --rate 16000 --channels 1", "sounds of different rates"},
                 {"smempipe concat scan-*.jpg -o book.pdf --paper a4", "a page each"},
                 {"smempipe concat frame-*.png -o moving.gif --delay 50", "twenty pictures a second"}},
    .run = concat,
};
