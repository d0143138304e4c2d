/* Opens writers, counts rows, adds the file's name to every message. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/audio/chapters.h"
#include "io/audio/tags.h"
#include "io/decoder/worker.h"
#include "io/format.h"

static void free_writer(smp_writer *writer)
{
    if (!writer)
        return;
    if (writer->state && writer->by->write_close)
        writer->by->write_close(writer);
    else
        smp_free(writer->state);
    smp_output_abort(writer->output);
    smp_free_all(writer->name, writer);
}

/* The picture whose rows the writer gets. */
static const smp_shape *rows_shape(const smp_writer *writer)
{
    return writer->options.coded.scan.width ? &writer->options.coded.scan : &writer->shape;
}

/* Metadata for which the format has no place. */
static void tell_left_out(smp_writer *writer, const smp_meta *meta)
{
    const char *format = writer->format->name;
    char what[150] = "";
    const double dpi = meta->density_is_aspect ? 0 : round(meta->x_density * 0.0254);
    const bool says_dpi = dpi > 0 && dpi != 72 && dpi != 96; /* which programs write of their own accord */
    const smp_file_format *f = writer->format;
    const bool says = f->says_cicp ? f->says_cicp(meta->cicp) : f->gamma && !f->bare;
    if (meta->has_cicp && !says && (f->bare || !meta->icc.size)) {
        smp_blob made;
        const smp_blob profile = smp_meta_profile(meta, &writer->shape, &made);
        smp_note(&writer->notes,
                 "the colours are of primaries %d and transfer %d (cICP), which %s %s cannot say: they will be taken "
                 "for sRGB%s",
                 meta->cicp[0], meta->cicp[1], smp_article(format), format,
                 profile.size ? "; `profile srgb` as the first stage converts them" : "");
        smp_free(made.data);
    }
    const bool bare = writer->format->bare && writer->shape.kind == SMP_IMAGE; /* sounds tell by themselves */
    const struct {
        bool lost;
        const char *name;
    } parts[] = {
        {bare && meta->icc.size, "the ICC profile"},
        {bare && meta->exif.size, "EXIF"},
        {!writer->format->iptc && meta->iptc.size, "IPTC records"},
        {bare && !writer->format->texts && meta->text_count, "texts"},
        {!writer->format->dpi && says_dpi && (bare || !smp_exif_says_resolution(&meta->exif)), "the resolution"},
        {writer->format->shapes && meta->coding.rate[0], "how long each picture is shown"}, /* pages */
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].lost)
            snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s", what[0] ? ", " : "", parts[i].name);
    if (what[0])
        smp_note(&writer->notes, "left out, since the format %s has no place for it: %s", format, what);
    if (writer->shape.kind == SMP_AUDIO && writer->format->kind != SMP_AUDIO) /* others tell by themselves */
        smp_sound_note_lost(writer, meta, NULL, false);
}

/* The usual extension of the first format that takes it. */
static const char *extension_of(const smp_write_option *option, int value)
{
    const smp_file_format *format;
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        if (smp_write_taken(format->name, option, value))
            return format->extensions[0];
    return "";
}

/* An option that makes another file than the format has is refused; others that do nothing are the caller's to tell. */
static smp_code check_values(const smp_writer *writer, smp_error *err)
{
    const smp_write_values *values = &writer->options.values;
    for (size_t i = 0; i < values->count; i++) {
        const smp_write_option *option = values->items[i].option;
        const int value = values->items[i].value;
        char takers[80];
        if (!smp_write_must(option, value) || smp_write_taken(writer->format->name, option, value))
            continue;
        smp_write_takers(option, value, takers, sizeof takers);
        smp_fail(err, SMP_E_USAGE, "--%s %s is for %s, and this is %s %s", option->name, option->choices[value], takers,
                 smp_article(writer->format->name), writer->format->name);
        return smp_hint(err, "write a .%s, or leave --%s out", extension_of(option, value), option->name);
    }
    return SMP_OK;
}

/* A writer without a file, for samples as the file holds them. */
static smp_code make_writer(const char *path, const smp_shape *shape, const smp_meta *meta, smp_writer *writer,
                            smp_error *err)
{
    const smp_write_options *options = &writer->options;
    smp_shape possible;
    SMP_TRY(smp_writer_shape_as(path, options->format, shape, &possible, err));
    if (possible.format != shape->format || possible.channels != shape->channels || possible.alpha != shape->alpha)
        return smp_fail(err, SMP_E_PROCESS, "the samples were not converted to what the file holds");
    writer->shape = *shape;
    if (meta)
        writer->coding = meta->coding;
    if (shape->kind == SMP_AUDIO && smp_asked_sound_type(options)) {
        smp_coding_begin(&writer->coding, SMP_CODING_SOUND);
        writer->coding.sound.type = smp_asked_sound_type(options);
    }
    return smp_find_writer(path, options->format, shape->kind, &writer->format, &writer->extension, err);
}

/* Tags that were asked for, and for which a picture's format has no place; a sound's writer tells by itself. */
static void tell_untaken(smp_writer *writer, const smp_meta_change *change)
{
    char key[SMP_TAG_KEY];
    const bool picture = writer->shape.kind == SMP_IMAGE;
    for (size_t i = 0; picture && !writer->format->texts && !writer->format->bare && i < change->tag_count; i++)
        if (smp_meta_change_key(change->tags[i], key)[0] && !smp_chapter_is(key))
            smp_note(&writer->notes, "left out, since the format %s has no place for it: the tag %s",
                     writer->format->name, key);
    for (size_t i = 0; picture && i < change->tag_count; i++)
        if (!strcasecmp(change->tags[i], SMP_CHAPTERS_KEY "="))
            smp_note(&writer->notes, "left out, since a picture has none: the chapters");
    for (size_t i = 0; writer->format == &smp_format_jpeg && i < change->tag_count; i++)
        if (smp_meta_change_key(change->tags[i], key)[0] && strcasecmp(key, "comment"))
            smp_note(&writer->notes, "tags of a JPEG are comments in it, as 'Title: Rain', and no title to other "
                                     "programs");
    if (picture && change->cover.size)
        smp_note(&writer->notes, "left out, since a picture has none: the cover");
    for (size_t i = 0; !picture && i < change->tag_count; i++) {
        const char *end, *start = smp_meta_change_key(change->tags[i], key);
        const bool time = smp_chapter_is(key) && !strcasestr(key, "NAME");
        if (!time || smp_chapter_time(start, &end) * writer->shape.rate < (double)writer->shape.height)
            continue;
        smp_note(&writer->notes, "chapters begin behind its end, the first of them at %.30s", start);
        break;
    }
}

smp_code smp_writer_begin(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const smp_file_format *format = writer->by;
    const size_t state = format->write_state;
    if (state && !writer->state && !(writer->state = smp_alloc(state)))
        return smp_fail_memory(err, writer->format->name, state);
    const smp_code code = writer->begun ? format->write_next(writer, meta, err) : format->write_open(writer, meta, err);
    writer->begun = true;
    writer->next_row = writer->options.coded.picture ? rows_shape(writer)->height : 0;
    return code;
}

/* The same with the tags changed. */
static smp_code open_changed(smp_writer *writer, const smp_meta *meta, const smp_meta_change *change, smp_error *err)
{
    smp_meta changed = {.srgb_intent = -1};
    smp_code code = (!meta || smp_meta_copy(&changed, meta)) && smp_meta_edit(&changed, change)
                        ? SMP_OK
                        : smp_fail_memory(err, "tags", change->cover.size);
    const size_t most = writer->format->text_most;
    const char *keys = writer->format->text_keys;
    for (size_t i = 0; !code && i < change->tag_count; i++) {
        char key[SMP_TAG_KEY];
        const char *value = smp_meta_change_key(change->tags[i], key);
        const bool place = most && (!keys || strcasestr(keys, smp_tag_any_key(key)));
        if (place || !value[0]) /* else what was said stays, for want of a place for the new */
            smp_meta_drop_said(&changed, key, &writer->notes);
        if (most && strlen(change->tags[i]) > most)
            code = smp_fail(err, SMP_E_WRITE, "the tag %s is longer than the %zu bytes that %s %s holds", key, most,
                            smp_article(writer->format->name), writer->format->name);
    }
    if (!code) {
        if (change->untag && !writer->format->bare)
            smp_meta_tell_kept(&changed, &writer->notes);
        tell_left_out(writer, &changed);
        tell_untaken(writer, change);
        code = smp_writer_begin(writer, &changed, err);
    }
    smp_meta_free(&changed);
    return code;
}

static smp_code open_file(smp_writer *writer, const char *path, const smp_meta *meta, smp_error *err)
{
    const smp_write_options *options = &writer->options;
    if (!writer->begun)
        SMP_TRY(smp_output_open_as(path, &options->output, &writer->output, err));
    SMP_TRY(check_values(writer, err));
    if (options->coded.scan.width && writer->format != &smp_format_jpeg)
        return smp_fail(err, SMP_E_PROCESS, "a scan is for a JPEG, and this is %s", writer->format->name);
    if (options->strip)
        meta = NULL;
    if (meta && !options->change)
        tell_left_out(writer, meta);
    writer->by = writer->format->confined && smp_worker_runs() ? &smp_writer_elsewhere : writer->format;
    return options->change ? open_changed(writer, meta, options->change, err) : smp_writer_begin(writer, meta, err);
}

/* A writer that a book holds, for its next picture. */
static smp_code reopen(smp_writer *writer, const smp_shape *shape, const smp_write_options *options, smp_error *err)
{
    const smp_file_format *format = writer->format;
    if (!format->write_next)
        return smp_fail(err, SMP_E_USAGE, "%s %s holds one picture, and there are several", smp_article(format->name),
                        format->name),
               smp_hint(err, "write a .pdf, a .tif or, for an animation, .gif, .webp or .apng");
    if (!format->shapes && (shape->width != writer->shape.width || shape->height != writer->shape.height)) {
        smp_fail(err, SMP_E_USAGE, "a picture has %lld x %lld pixels, and the first of the animation %lld x %lld",
                 (long long)shape->width, (long long)shape->height, (long long)writer->shape.width,
                 (long long)writer->shape.height);
        return smp_hint(err, "-e 'resize width=%lld height=%lld fit=cover' makes them one size",
                        (long long)writer->shape.width, (long long)writer->shape.height);
    }
    writer->options.coded = options->coded;
    writer->options.change = options->change;
    return SMP_OK;
}

smp_code smp_writer_open(const char *path, const smp_shape *shape, const smp_meta *meta,
                         const smp_write_options *options, smp_writer **out, smp_error *err)
{
    const char *name = smp_display_name(path);
    smp_code code = SMP_OK;
    smp_book *book = options ? options->book : NULL;
    *out = NULL;
    smp_writer *writer = book && book->writer ? book->writer : smp_alloc(sizeof *writer);
    if (book && book->writer) {
        book->writer = NULL;
        code = reopen(writer, shape, options, err);
        code = code ? code : make_writer(path, shape, meta, writer, err);
        code = code ? code : open_file(writer, path, meta, err);
        writer->delay = 0; /* of the picture before */
    } else if (!writer || !(writer->name = smp_strdup(name))) {
        code = smp_fail_memory(err, "a writer", sizeof *writer);
    } else {
        writer->options = options ? *options : (smp_write_options){0};
        if (book) {
            writer->options.output.inputs = book->inputs;
            writer->options.output.seconds = NULL; /* of a picture, which the file outlives */
        }
        code = make_writer(path, shape, meta, writer, err);
        if (!code && !writer->options.taker)
            code = open_file(writer, path, meta, err);
    }
    if (code) {
        smp_at(err, "%s", name);
        free_writer(writer);
        return code;
    }
    writer->options.output.inputs = NULL;
    writer->options.output.beneath = NULL;
    writer->options.coded.picture = NULL;
    writer->options.change = NULL;
    *out = writer;
    return SMP_OK;
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_file_format *format = writer->by;
    if (!format->write_row)
        return format->write_rows(writer, from, stride, rows, err);
    for (int64_t i = 0; i < rows; i++)
        SMP_TRY(format->write_row(writer, writer->next_row + i, (const uint8_t *)from + i * stride, err));
    return SMP_OK;
}

smp_code smp_writer_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    smp_code code = SMP_OK;
    if (writer->broken)
        code = smp_fail(err, SMP_E_WRITE, "an earlier failure stopped the writing of this file");
    else if (rows < 0 || rows > rows_shape(writer)->height - writer->next_row ||
             (rows > 1 && stride < smp_row_bytes(rows_shape(writer))))
        code = smp_fail(err, SMP_E_PROCESS, "rows %lld to %lld of %lld were given", (long long)writer->next_row,
                        (long long)(writer->next_row + rows), (long long)rows_shape(writer)->height);
    else if (rows) {
        const smp_write_options *o = &writer->options;
        const smp_row_taker *taker = o->taker;
        code =
            taker ? taker->take(taker->context, writer->name, &writer->shape, writer->next_row, rows, from, stride, err)
                  : write_rows(writer, from, stride, rows, err);
        writer->next_row += rows;
        if (code == SMP_OK && o->sound.live && writer->output)
            code = smp_output_flush(writer->output, err);
    }
    if (code != SMP_OK) {
        writer->broken = true;
        smp_at(err, "%s", writer->name);
    }
    return code;
}

int smp_asked_sound_type(const smp_write_options *options)
{
    static const int types[] = {SMP_SOUND_NONE, SMP_SOUND_U8,  SMP_SOUND_S16,  SMP_SOUND_S24,  SMP_SOUND_S32,
                                SMP_SOUND_F32,  SMP_SOUND_F64, SMP_SOUND_ALAW, SMP_SOUND_ULAW, SMP_SOUND_NONE};
    return types[smp_write_value(&options->values, &smp_write_samples)];
}

smp_code smp_writer_next(smp_writer *writer, smp_error *err)
{
    smp_code code = SMP_OK;
    if (writer->broken)
        code = smp_fail(err, SMP_E_WRITE, "an earlier failure stopped the writing of this file");
    else if (writer->next_row != writer->shape.height || !writer->format->write_next)
        code = smp_fail(err, SMP_E_PROCESS, "another picture was begun that the file cannot hold");
    else
        code = writer->by->write_next(writer, NULL, err);
    writer->next_row = 0;
    if (code != SMP_OK) {
        writer->broken = true;
        smp_at(err, "%s", writer->name);
    }
    return code;
}

void smp_writer_delay(smp_writer *writer, uint32_t delay)
{
    writer->delay = delay;
}

uint32_t smp_writer_shown(const smp_writer *writer)
{
    enum { USUAL = 100000 /* microseconds */ };
    const uint32_t *rate = writer->coding.rate;
    const int said = smp_write_value(&writer->options.values, &smp_write_delay);
    const double by_rate = rate[0] && rate[1] ? 1e6 * rate[1] / rate[0] : USUAL;
    return said ? (uint32_t)said * 1000 : writer->delay ? writer->delay : (uint32_t)fmin(by_rate + 0.5, UINT32_MAX);
}

uint32_t smp_writer_plays(const smp_writer *writer)
{
    const int said = smp_write_value(&writer->options.values, &smp_write_loop);
    return said >= 0 ? (uint32_t)said : writer->coding.plays;
}

uint64_t smp_writer_clipped(const smp_writer *writer)
{
    return writer->clipped;
}

const smp_notes *smp_writer_notes(const smp_writer *writer)
{
    return &writer->notes;
}

smp_code smp_writer_finish(smp_writer *writer, smp_error *err)
{
    smp_code code = SMP_OK;
    if (writer->options.sound.open_end) /* it has come */
        writer->shape.height = writer->next_row;
    writer->options.sound.open_end = false;
    if (writer->broken)
        code = smp_fail(err, SMP_E_WRITE, "an earlier failure stopped the writing of this file");
    else if (!writer->options.coded.scan.width && writer->next_row != rows_shape(writer)->height)
        code = smp_fail(err, SMP_E_PROCESS, "only %lld of %lld rows were written", (long long)writer->next_row,
                        (long long)rows_shape(writer)->height);
    else if (writer->by && writer->by->write_end && !writer->finished && !writer->options.book)
        code = writer->by->write_end(writer, err);
    writer->finished = code == SMP_OK && !writer->options.book;
    writer->broken |= code != SMP_OK;
    if (code != SMP_OK)
        smp_at(err, "%s", writer->name);
    return code;
}

smp_code smp_writers_sync(smp_writer *const *writers, size_t count, smp_error *err)
{
    smp_output **outputs = smp_alloc_array(count, sizeof *outputs);
    smp_code code = outputs ? SMP_OK : smp_fail_memory(err, "outputs", count * sizeof *outputs);
    size_t files = 0;
    for (size_t i = 0; !code && i < count; i++) {
        if (writers[i]->output && !writers[i]->options.book)
            outputs[files++] = writers[i]->output;
        code = smp_writer_finish(writers[i], err);
    }
    if (!code && files)
        code = smp_outputs_sync(outputs, files, err);
    smp_free(outputs);
    return code;
}

smp_code smp_writer_commit(smp_writer *writer, smp_error *err)
{
    smp_code code = smp_writer_finish(writer, err);
    smp_book *book = writer->options.book;
    if (!code && book) {
        writer->notes = (smp_notes){.count = 0}; /* told */
        book->writer = writer;
        return SMP_OK;
    }
    if (code == SMP_OK && writer->output) {
        smp_output *output = writer->output;
        writer->output = NULL;
        code = smp_output_commit(output, err);
    }
    if (code != SMP_OK)
        smp_at(err, "%s", writer->name);
    free_writer(writer);
    return code;
}

smp_writer *smp_book_close(smp_book *book)
{
    smp_writer *writer = book->writer;
    book->writer = NULL;
    if (writer)
        writer->options.book = NULL;
    return writer;
}

void smp_writer_abort(smp_writer *writer)
{
    free_writer(writer);
}

void smp_writer_abort_all(void)
{
    smp_output_abort_all();
}
