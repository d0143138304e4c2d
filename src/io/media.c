/* Opens readers and writers: finds the format, counts rows, adds the file's name to every message. */
#include "io/media.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/format.h"
#include "io/worker.h"

static const smp_file_format *const formats[] = {
#define F(symbol) &symbol,
#include "io/format_list.def"
#undef F
};
enum {
    FORMATS = sizeof formats / sizeof formats[0],
    KNOWN = 300 /* characters of a list of formats; a hint has 320 */
};

/* Formats that users often try and that are not read, so that the message can name them. */
static const struct {
    size_t offset, length;
    const char *magic, *name;
} foreign[] = {
    {0, 4, "GIF8", "a GIF"},
    {8, 4, "WEBP", "a WebP picture"},
    {0, 4, "II*\0", "a TIFF (or a camera's raw file)"},
    {0, 4, "MM\0*", "a TIFF"},
    {4, 8, "ftypheic", "a HEIC"},
    {4, 8, "ftypavif", "an AVIF"},
    {4, 7, "ftypM4A", "an M4A sound"},
    {4, 4, "ftyp", "a video or HEIF"},
    {0, 2, "\xFF\x0A", "a JPEG XL"},
    {4, 8, "JXL \r\n\x87\n", "a JPEG XL"},
    {0, 4, "%PDF", "a PDF"},
    {4, 4, "jP  ", "a JPEG 2000"},
    {0, 4, "PK\3\4", "a zip archive (or .npz)"},
    {0, 4, "\x76\x2F\x31\x01", "an OpenEXR picture"},
    {0, 4, "OggS", "an Ogg file without sound that is known here"},
    {0, 4, "caff", "a CAF sound"},
    {0, 4, ".snd", "an AU sound"},
    {0, 4, "wvpk", "a WavPack sound"},
    {0, 2, "\xFF\xF1", "an AAC sound"},
    {0, 2, "\xFF\xF9", "an AAC sound"},
    {0, 5, "<svg ", "an SVG"},
    {0, 5, "<?xml", "an XML file"},
    {0, 2, "\x1F\x8B", "a gzip file"},
};

/* Whether an earlier format in the list writes files of this extension. */
static bool written_before(int index, const char *extension)
{
    for (int i = 0; i < index; i++)
        for (const char *const *e = formats[i]->extensions; formats[i]->write_shape && *e; e++)
            if (!strcmp(*e, extension))
                return true;
    return false;
}

static void list_formats(bool reading, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < FORMATS; i++) {
        if (reading ? !formats[i]->sniff : !formats[i]->write_shape)
            continue;
        for (const char *const *e = formats[i]->extensions; *e && used < size; e++) {
            if (!reading && written_before(i, *e))
                continue;
            int n = snprintf(text + used, size - used, reading ? "%s%s" : "%s.%s", used ? ", " : "",
                             reading ? formats[i]->name : *e);
            if (n < 0 || reading) {
                used += n < 0 ? 0 : (size_t)n;
                break;
            }
            used += (size_t)n;
        }
    }
}

const smp_file_format *smp_format_at(size_t index)
{
    return index < FORMATS ? formats[index] : NULL;
}

const smp_file_format *smp_format_sniff(const uint8_t *head, size_t size)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->sniff && formats[i]->sniff(head, size < SMP_SNIFF ? size : SMP_SNIFF))
            return formats[i];
    return NULL;
}

/* Size of the ID3v2 tag at the beginning of a file; 0: none. Source: id3.org, "ID3 tag version 2.4.0", section 3.1. */
static uint64_t id3_size(const uint8_t *head, size_t size)
{
    enum { HEADER = 10, FOOTER = 10, HAS_FOOTER = 0x10 };
    if (size < HEADER || memcmp(head, "ID3", 3) != 0 || ((head[6] | head[7] | head[8] | head[9]) & 0x80))
        return 0;
    const uint64_t body = (uint64_t)head[6] << 21 | (uint64_t)head[7] << 14 | (uint64_t)head[8] << 7 | head[9];
    return HEADER + body + (head[5] & HAS_FOOTER ? FOOTER : 0);
}

static const smp_file_format *format_with_id3(void)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->id3)
            return formats[i];
    return NULL;
}

/* ID3 tags may stand in front of a sound. They are skipped, and *id3 is their size, unless the format takes them
 * itself. Null without a failure of the source: the format is not known. */
static smp_code find_format(smp_source *source, const smp_file_format **format, uint64_t *id3, smp_error *err)
{
    enum { MOST_TAGS = 16 };
    const uint8_t *head;
    *id3 = 0;
    *format = NULL;
    for (int i = 0; i <= MOST_TAGS; i++) {
        size_t size = smp_source_peek(source, &head, SMP_SNIFF);
        if (!size || source->failed || source->over_limit)
            return *id3 && !source->failed && !source->over_limit ? SMP_OK : smp_source_ended(source, err);
        *format = smp_format_sniff(head, size);
        if (*format && *id3 && (*format)->kind != SMP_AUDIO)
            *format = NULL;
        const uint64_t tag = *format ? 0 : id3_size(head, size);
        if (!tag)
            break;
        smp_code code = smp_source_spool(source, err); /* so that a format can go back to the tags */
        if (code != SMP_OK)
            return code;
        if (!smp_source_begin(source, tag))
            break;
        *id3 += tag;
    }
    if (*id3 && !*format)
        *format = format_with_id3();
    if (*id3 && *format && (*format)->id3 && !smp_source_begin_earlier(source, *id3))
        return smp_fail(err, SMP_E_READ, "cannot go back to the beginning");
    return SMP_OK;
}

static smp_code fail_unknown(smp_source *source, smp_error *err)
{
    char known[KNOWN];
    const uint8_t *head;
    const size_t size = smp_source_peek(source, &head, SMP_SNIFF);
    list_formats(true, known, sizeof known);
    const char *what = NULL;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0] && !what; i++)
        if (size >= foreign[i].offset + foreign[i].length &&
            memcmp(head + foreign[i].offset, foreign[i].magic, foreign[i].length) == 0)
            what = foreign[i].name;
    if (what)
        smp_fail(err, SMP_E_DECODE, "is %s, which is not supported", what);
    else
        smp_fail(err, SMP_E_DECODE, "is in no known format");
    return smp_hint(err, "formats read (whatever the file is called): %s", known);
}

static const char *display_name(const char *path, bool reading)
{
    return strcmp(path, "-") == 0 ? (reading ? "standard input" : "standard output") : path;
}

static _Thread_local uint64_t checked;

uint64_t smp_checked_bytes(void)
{
    return checked;
}

smp_code smp_check_picture(const smp_limits *limits, int64_t width, int64_t height, uint64_t bytes, smp_error *err)
{
    if (width < 1 || height < 1)
        return smp_fail(err, SMP_E_DECODE, "the picture has no pixels (%lld x %lld)", (long long)width,
                        (long long)height);
    checked = smp_max_u64(checked, bytes);
    int64_t pixels;
    if (!smp_mul_i64(width, height, &pixels) || (limits->max_pixels && (uint64_t)pixels > limits->max_pixels)) {
        smp_fail(err, SMP_E_LIMIT, "the picture has %lld x %lld pixels, more than the limit of %llu", (long long)width,
                 (long long)height, (unsigned long long)limits->max_pixels);
        return smp_hint(err, "raise the limit with --max-pixels");
    }
    if (limits->max_memory && bytes > limits->max_memory) {
        smp_fail(
            err, SMP_E_LIMIT, "reading a picture of %lld x %lld pixels takes %llu bytes, more than the limit of %llu",
            (long long)width, (long long)height, (unsigned long long)bytes, (unsigned long long)limits->max_memory);
        return smp_hint(err, "raise the limit with --max-memory");
    }
    return SMP_OK;
}

smp_code smp_check_size(const smp_source *source, uint64_t least, smp_error *err)
{
    if (source->size == UINT64_MAX || source->size >= least)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE,
             "the file has %llu bytes, but what its header promises takes at least %llu: it is truncated",
             (unsigned long long)source->size, (unsigned long long)least);
    return smp_hint_damaged(err);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Takes over the opened source; closes it on failure. */
smp_code smp_reader_open_source(smp_source *source, const char *name, const smp_limits *limits, smp_reader **out,
                                smp_error *err)
{
    smp_code code;
    smp_reader *reader = smp_alloc(sizeof *reader);
    if (!reader || !(reader->name = smp_strdup(name))) {
        code = smp_fail_memory(err, "a reader", sizeof *reader);
        smp_source_close(source);
        smp_free(reader);
        return code;
    }
    reader->source = *source;
    reader->limits = *limits;
    reader->media.orientation = 1;
    reader->media.meta.srgb_intent = -1;
    checked = 0;

    const smp_file_format *format = &smp_format_raw;
    code = limits->raw.given ? SMP_OK : find_format(&reader->source, &format, &reader->id3, err);
    if (code == SMP_OK && !format)
        code = fail_unknown(&reader->source, err);
    if (code != SMP_OK)
        goto fail;
    if (reader->id3 && !format->id3)
        smp_note(&reader->notes, "the ID3 tag in front of the %s is left out", format->name);
    reader->format = format;
    reader->media.file_format = format->name;
    reader->media.shape.kind = format->kind;
    if (limits->page > 1 && !format->pages) {
        code =
            smp_fail(err, SMP_E_DECODE, "there is no page %lld: a %s holds one", (long long)limits->page, format->name);
        goto fail;
    }
    if (limits->frames && !format->read_next) {
        smp_fail(err, SMP_E_USAGE, "--frames is for inputs of many pictures: a %s holds %s", format->name,
                 format->kind == SMP_AUDIO ? "a sound" : "one, or pages");
        code = smp_hint(err, "leave it out; 'smempipe batch' takes many files, --raw says what a stream without a "
                             "header holds");
        goto fail;
    }
    code = format->read_open(reader, err);
    if (code != SMP_OK)
        goto fail;
    reader->media.shape.speakers = reader->media.meta.sound.mask;
    smp_meta_apply_orientation(&reader->media.meta, reader->media.orientation);
    if (format->kind != SMP_AUDIO && reader->media.shape.kind == SMP_IMAGE)
        reader->media.shape.curve = smp_meta_curve(&reader->media.meta);
    *out = reader;
    return SMP_OK;
fail:
    smp_at(err, "%s", name);
    smp_reader_close(reader);
    return code;
}

smp_code smp_reader_open(const char *path, const smp_limits *limits, smp_reader **out, smp_error *err)
{
    *out = NULL;
    smp_source source;
    const char *name = display_name(path, true);
    if (smp_worker_runs())
        return smp_worker_reader_open(path, name, limits, out, err);
    smp_code code = smp_source_open(&source, path, limits, err);
    if (code != SMP_OK) {
        smp_at(err, "%s", name);
        return code;
    }
    return smp_reader_open_source(&source, name, limits, out, err);
}

smp_code smp_reader_open_memory(const void *data, size_t size, const smp_limits *limits, smp_reader **out,
                                smp_error *err)
{
    *out = NULL;
    smp_source source;
    smp_source_memory(&source, data, size);
    return smp_reader_open_source(&source, "memory", limits, out, err);
}

const smp_media *smp_reader_media(const smp_reader *reader)
{
    return &reader->media;
}

const smp_notes *smp_reader_notes(const smp_reader *reader)
{
    return &reader->notes;
}

smp_code smp_reader_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    smp_code code = reader->broken;
    if (code != SMP_OK)
        smp_fail(err, code, "an earlier failure stopped the reading of this file");
    else if (rows < 0 || rows > shape->height - reader->next_row || (rows > 1 && stride < smp_row_bytes(shape)))
        code = smp_fail(err, SMP_E_PROCESS, "rows %lld to %lld of %lld were asked for", (long long)reader->next_row,
                        (long long)(reader->next_row + rows), (long long)shape->height);
    else if (rows) {
        code = reader->format->read_rows(reader, to, stride, rows, err);
        reader->next_row += rows;
        if (code == SMP_OK && reader->next_row == shape->height && reader->format->read_end)
            code = reader->format->read_end(reader, err);
        reader->broken = code;
    }
    if (code != SMP_OK)
        smp_at(err, "%s", reader->name);
    return code;
}

bool smp_reader_streams(const smp_reader *reader)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->name == reader->media.file_format)
            return formats[i]->read_next != NULL;
    return false;
}

smp_code smp_reader_next(smp_reader *reader, bool *more, smp_error *err)
{
    smp_code code = reader->broken;
    *more = false;
    if (code != SMP_OK)
        smp_fail(err, code, "an earlier failure stopped the reading of this file");
    else if (reader->next_row != reader->media.shape.height)
        code = smp_fail(err, SMP_E_PROCESS, "the next picture was asked for before the last row of this one");
    else if (reader->format->read_next) {
        smp_source *source = &reader->source;
        if (reader->limits.max_file && !smp_add_u64(source->position, reader->limits.max_file, &source->limit))
            source->limit = UINT64_MAX; /* holds for a picture of a stream */
        code = reader->format->read_next(reader, more, err);
        reader->next_row = code == SMP_OK && *more ? 0 : reader->next_row;
        reader->broken = code;
    }
    if (code != SMP_OK)
        smp_at(err, "%s", reader->name);
    return code;
}

void smp_reader_close(smp_reader *reader)
{
    if (!reader)
        return;
    if (reader->state && reader->format->read_close)
        reader->format->read_close(reader);
    smp_source_close(&reader->source);
    smp_meta_free(&reader->media.meta);
    smp_free(reader->name);
    smp_free(reader);
}

double smp_reader_input_seconds(const smp_reader *reader)
{
    return reader->source.seconds;
}

/* ------------------------------------------------------------------------------------------------ writing */

smp_write_options smp_write_options_default(void)
{
    return (smp_write_options){.png_level = -1};
}

smp_code smp_check_colour(const char *format, const smp_shape *shape, smp_error *err)
{
    int colours = shape->channels - (shape->alpha ? 1 : 0);
    if (colours == 1 || colours == 3)
        return SMP_OK;
    if (shape->channels == 2 || shape->channels == 4)
        smp_fail(err, SMP_E_WRITE, "a %s cannot hold %d channels of which none is alpha", format, shape->channels);
    else
        smp_fail(err, SMP_E_WRITE, "a %s cannot hold %d channels", format, shape->channels);
    return smp_hint(err, "write a .npy file, which holds up to %d channels of any meaning, or reduce them to 1 or 3",
                    SMP_MAX_CHANNELS);
}

/* The format and extension of a file name; as: the extension that standard output is written by, null: none. */
static smp_code find_writer(const char *path, const char *as, smp_kind kind, const smp_file_format **format,
                            const char **extension, smp_error *err)
{
    char known[KNOWN];
    const bool standard = strcmp(path, "-") == 0;
    *format = NULL;
    *extension = NULL;
    if (standard && !as) {
        for (int i = 0; i < FORMATS && !*format; i++)
            if (formats[i]->write_shape && (formats[i]->kind & kind))
                *format = formats[i];
        return *format ? SMP_OK
                       : smp_fail(err, SMP_E_WRITE, "there is no format to write %s to standard output in",
                                  kind == SMP_AUDIO ? "sound" : "this");
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const char *wanted = standard ? as : dot && dot != name ? dot + 1 : NULL;
    if (wanted)
        for (int i = 0; i < FORMATS; i++)
            for (const char *const *e = formats[i]->extensions; formats[i]->write_shape && *e; e++)
                if (strcasecmp(*e, wanted) == 0) {
                    *format = formats[i];
                    *extension = *e;
                    return SMP_OK;
                }
    list_formats(false, known, sizeof known);
    if (wanted && wanted[0])
        smp_fail(err, SMP_E_WRITE, "the extension .%.40s is not one that can be written", wanted);
    else
        smp_fail(err, SMP_E_WRITE, "the output needs an extension, which says its format");
    return smp_hint(err, "extensions that can be written: %s", known);
}

smp_kind smp_name_kind(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < FORMATS; i++)
        for (const char *const *extension = formats[i]->extensions; *extension; extension++)
            if (strcasecmp(dot + 1, *extension) == 0)
                return formats[i]->kind;
    return SMP_KIND_NONE;
}

smp_kind smp_writer_kind(const char *path)
{
    const smp_file_format *format;
    const char *extension;
    return find_writer(path, NULL, SMP_BOTH, &format, &extension, NULL) == SMP_OK ? format->kind : SMP_KIND_NONE;
}

smp_code smp_writer_extension(const char *extension, smp_kind *kind, smp_error *err)
{
    const smp_file_format *format;
    const char *known;
    smp_code code = find_writer("-", extension, SMP_BOTH, &format, &known, err);
    if (!code && kind)
        *kind = format->kind;
    return code;
}

smp_code smp_writer_shape(const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    return smp_writer_shape_as(path, NULL, shape, out, err);
}

smp_code smp_writer_shape_as(const char *path, const char *as, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    *out = *shape;
    const smp_file_format *format;
    const char *extension;
    smp_code code = find_writer(path, as, shape->kind, &format, &extension, err);
    if (code == SMP_OK && !(format->kind & shape->kind))
        code = smp_fail(err, SMP_E_WRITE, "a %s holds no %s", format->name,
                        shape->kind == SMP_AUDIO ? "sound" : "pictures");
    if (code == SMP_OK && (shape->width < 1 || shape->height < 1 || shape->channels < 1 ||
                           shape->channels > SMP_MAX_CHANNELS || shape->channels <= (shape->alpha ? 1 : 0)))
        code = smp_fail(err, SMP_E_WRITE, "a picture of %lld x %lld pixels with %d channels cannot be written",
                        (long long)shape->width, (long long)shape->height, shape->channels);
    if (code == SMP_OK)
        code = format->write_shape(extension, out, err);
    if (code != SMP_OK)
        smp_at(err, "%s", display_name(path, false));
    return code;
}

static void free_writer(smp_writer *writer)
{
    if (!writer)
        return;
    if (writer->state && writer->format->write_close)
        writer->format->write_close(writer);
    smp_output_abort(writer->output);
    smp_free(writer->name);
    smp_free(writer);
}

smp_code smp_writer_open(const char *path, const smp_shape *shape, const smp_meta *meta,
                         const smp_write_options *options, smp_writer **out, smp_error *err)
{
    *out = NULL;
    smp_shape possible;
    smp_code code = smp_writer_shape_as(path, options ? options->format : NULL, shape, &possible, err);
    if (code != SMP_OK)
        return code;
    const char *name = display_name(path, false);
    if (possible.format != shape->format || possible.channels != shape->channels || possible.alpha != shape->alpha) {
        code = smp_fail(err, SMP_E_PROCESS, "the samples were not converted to what the file holds");
        return smp_at(err, "%s", name), code;
    }
    smp_writer *writer = smp_alloc(sizeof *writer);
    if (!writer || !(writer->name = smp_strdup(name))) {
        code = smp_fail_memory(err, "a writer", sizeof *writer);
        goto fail;
    }
    writer->shape = *shape;
    writer->options = options ? *options : smp_write_options_default();
    if (meta)
        writer->sound = meta->sound, writer->jpeg = meta->jpeg, writer->video = meta->video;
    if (writer->options.sound_type)
        writer->sound.type = writer->options.sound_type;
    code = find_writer(path, writer->options.format, shape->kind, &writer->format, &writer->extension, err);
    if (code == SMP_OK)
        code = smp_output_open(path, writer->options.force, writer->options.inputs, &writer->output, err);
    writer->options.inputs = NULL;
    if (code == SMP_OK)
        smp_output_set(writer->output, writer->options.output_seconds, writer->options.lazy_folder,
                       writer->options.lazy_sync);
    if (writer->options.strip)
        meta = NULL;
    if (code == SMP_OK && meta && meta->has_cicp && writer->format != &smp_format_png)
        smp_note(&writer->notes,
                 "the colours are of primaries %d and transfer %d (cICP), which a %s cannot say: they will be taken "
                 "for sRGB",
                 meta->cicp[0], meta->cicp[1], writer->format->name);
    if (code == SMP_OK)
        code = writer->format->write_open(writer, meta, err);
    if (code != SMP_OK)
        goto fail;
    *out = writer;
    return SMP_OK;
fail:
    smp_at(err, "%s", name);
    free_writer(writer);
    return code;
}

smp_code smp_writer_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    smp_code code = SMP_OK;
    if (writer->broken)
        code = smp_fail(err, SMP_E_WRITE, "an earlier failure stopped the writing of this file");
    else if (rows < 0 || rows > writer->shape.height - writer->next_row ||
             (rows > 1 && stride < smp_row_bytes(&writer->shape)))
        code = smp_fail(err, SMP_E_PROCESS, "rows %lld to %lld of %lld were given", (long long)writer->next_row,
                        (long long)(writer->next_row + rows), (long long)writer->shape.height);
    else if (rows) {
        code = writer->format->write_rows(writer, from, stride, rows, err);
        writer->next_row += rows;
    }
    if (code != SMP_OK) {
        writer->broken = true;
        smp_at(err, "%s", writer->name);
    }
    return code;
}

bool smp_writer_streams(const char *path, const char *as)
{
    const smp_file_format *format;
    const char *extension;
    return find_writer(path, as, SMP_IMAGE, &format, &extension, NULL) == SMP_OK && format->write_next;
}

smp_code smp_writer_next(smp_writer *writer, smp_error *err)
{
    smp_code code = SMP_OK;
    if (writer->broken)
        code = smp_fail(err, SMP_E_WRITE, "an earlier failure stopped the writing of this file");
    else if (writer->next_row != writer->shape.height || !writer->format->write_next)
        code = smp_fail(err, SMP_E_PROCESS, "another picture was begun that the file cannot hold");
    else
        code = writer->format->write_next(writer, err);
    writer->next_row = 0;
    if (code != SMP_OK) {
        writer->broken = true;
        smp_at(err, "%s", writer->name);
    }
    return code;
}

uint64_t smp_writer_clipped(const smp_writer *writer)
{
    return writer->clipped;
}

const smp_notes *smp_writer_notes(const smp_writer *writer)
{
    return &writer->notes;
}

smp_code smp_writer_commit(smp_writer *writer, smp_error *err)
{
    smp_code code = SMP_OK;
    if (writer->broken)
        code = smp_fail(err, SMP_E_WRITE, "an earlier failure stopped the writing of this file");
    else if (writer->next_row != writer->shape.height)
        code = smp_fail(err, SMP_E_PROCESS, "only %lld of %lld rows were written", (long long)writer->next_row,
                        (long long)writer->shape.height);
    else if (writer->format->write_end)
        code = writer->format->write_end(writer, err);
    if (code == SMP_OK) {
        smp_output *output = writer->output;
        writer->output = NULL;
        code = smp_output_commit(output, err);
    }
    if (code != SMP_OK)
        smp_at(err, "%s", writer->name);
    free_writer(writer);
    return code;
}

void smp_writer_abort(smp_writer *writer)
{
    free_writer(writer);
}

void smp_writer_abort_all(void)
{
    smp_output_abort_all();
}
