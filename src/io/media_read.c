/* Opens readers: checks sizes, counts rows, adds the file's name to every message. */
#include "io/media.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/decoder/worker.h"
#include "io/font/font.h"
#include "io/format.h"

static _Thread_local uint64_t checked;

uint64_t smp_checked_bytes(void)
{
    return checked;
}

uint64_t smp_worth(const smp_read_options *options, uint64_t file)
{
    enum { FREE = 256 << 20, BYTES_A_BYTE = 384 };
    return options->memory_meant || file > UINT64_MAX / BYTES_A_BYTE ? UINT64_MAX
                                                                     : smp_max_u64(FREE, file * BYTES_A_BYTE);
}

static smp_code check_proportion(const smp_read_options *options, uint64_t file, uint64_t bytes, smp_error *err)
{
    if (bytes <= smp_worth(options, file))
        return SMP_OK;
    smp_fail(err, SMP_E_LIMIT,
             "reading the picture takes %.0f MB of memory, which is out of proportion for a file of %llu bytes",
             (double)bytes / 1e6, (unsigned long long)file);
    return smp_hint(err, "when the file is meant so, allow it: --max-memory %lluG",
                    (unsigned long long)(bytes >> 29) + 2); /* twice as much: it is also computed with */
}

smp_code smp_check_picture(const smp_limits *limits, int64_t width, int64_t height, uint64_t bytes, smp_error *err)
{
    if (width < 1 || height < 1)
        return smp_fail(err, SMP_E_DECODE, "the picture has no pixels (%lld x %lld)", (long long)width,
                        (long long)height);
    checked = smp_max_u64(checked, bytes);
    int64_t pixels;
    if (!smp_mul_i64(width, height, &pixels) || (limits->max_pixels && (uint64_t)pixels > limits->max_pixels))
        return smp_fail(err, SMP_E_LIMIT, "the picture has %lld x %lld pixels, more than the limit of %llu",
                        (long long)width, (long long)height, (unsigned long long)limits->max_pixels),
               smp_hint(err, "raise the limit with --max-pixels");
    if (limits->max_memory && bytes > limits->max_memory) {
        smp_fail(
            err, SMP_E_LIMIT, "reading a picture of %lld x %lld pixels takes %llu bytes, more than the limit of %llu",
            (long long)width, (long long)height, (unsigned long long)bytes, (unsigned long long)limits->max_memory);
        return smp_hint(err, "raise the limit with --max-memory");
    }
    return SMP_OK;
}

smp_code smp_read_whole(smp_reader *reader, size_t zeros, uint8_t **data, size_t *size, smp_error *err)
{
    smp_source *source = &reader->source;
    SMP_TRY(smp_source_spool(source, err));
    SMP_TRY(smp_check_picture(&reader->options.limits, 1, 1, source->size, err));
    *size = (size_t)source->size;
    SMP_NEED(*size <= INT32_MAX && (*data = smp_alloc(*size + zeros)), "a file", *size, err);
    return smp_source_fill(source, *data, *size, err);
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

void smp_note_cut(smp_notes *notes, int64_t missing, int64_t rows, const char *filled)
{
    if (missing)
        smp_note(notes, "the file is cut short: what there is of it is read, and the last %lld of its %lld rows %s %s",
                 (long long)missing, (long long)rows, missing == 1 ? "is missing and" : "are missing and", filled);
    else
        smp_note(notes, "the file is cut short: its end is missing, and all rows of its picture are there");
}

/* ------------------------------------------------------------------------------------------------ reading */

/* A row costs time however few pixels it has. --max-pixels bounds rows too, unless the file has a byte for each: then
 * it is what it seems, as a table of numbers is. */
static smp_code check_rows(const smp_limits *limits, uint64_t rows, uint64_t size, smp_error *err)
{
    enum { PIXELS_A_ROW = 512 };
    const uint64_t most = limits->max_pixels / PIXELS_A_ROW;
    if (!most || rows <= most || rows <= size)
        return SMP_OK;
    smp_fail(err, SMP_E_LIMIT, "the picture has %llu rows in a file of %llu bytes, more than the limit of %llu",
             (unsigned long long)rows, (unsigned long long)size, (unsigned long long)most);
    return smp_hint(err, "raise the limit with --max-pixels %llu", (unsigned long long)rows * PIXELS_A_ROW);
}

smp_code smp_check_frames(const smp_limits *limits, int64_t frames, smp_error *err)
{
    if (!limits->max_pixels || (uint64_t)frames <= limits->max_pixels)
        return SMP_OK;
    smp_fail(err, SMP_E_LIMIT, "the sound has %lld frames, more than the limit of %llu", (long long)frames,
             (unsigned long long)limits->max_pixels);
    return smp_hint(err, "raise the limit with --max-pixels");
}

smp_code smp_check_media(const smp_read_options *options, const smp_media *media, uint64_t memory, uint64_t size,
                         smp_error *err)
{
    const smp_shape *shape = &media->shape;
    if (media->open_end && (!options->want.live || shape->kind != SMP_AUDIO || shape->height != SMP_OPEN_HEIGHT))
        return smp_fail(err, SMP_E_DECODE, "the sound's length cannot be right");
    if (shape->kind != SMP_IMAGE && media->open_end)
        return SMP_OK;
    if (shape->kind != SMP_IMAGE)
        return smp_check_frames(&options->limits, shape->height, err);
    SMP_TRY(smp_check_picture(&options->limits, shape->width, shape->height, 0, err));
    SMP_TRY(check_rows(&options->limits, (uint64_t)shape->height, size, err));
    return check_proportion(options, size, memory, err);
}

/* No writer takes a profile that is damaged, or is for inks. One of colours for gray, or the other way round, stays for
 * the stage `profile`, which refuses it. */
static void check_profile(smp_reader *reader)
{
    enum { HEADER = 128, SPACE = 16 };
    const smp_shape *shape = &reader->media.shape;
    const int colours = shape->channels - shape->alpha;
    smp_blob *icc = &reader->media.meta.icc;
    if (colours == 1 && smp_icc_fits(icc, 3))
        smp_note(&reader->notes, "its ICC profile is for colours, and it is gray: no gray file is written with it");
    else if (colours == 3 && smp_icc_fits(icc, 1))
        smp_note(&reader->notes, "its ICC profile is for gray, and it has colours: no file of them is written with it");
    if (!icc->size || smp_icc_fits(icc, 1) || smp_icc_fits(icc, 3))
        return;
    if (icc->size >= HEADER && !memcmp(icc->data + SPACE, "CMYK", 4))
        smp_note(&reader->notes, "its ICC profile is for CMYK and is left out: colours are approximate");
    else
        smp_note(&reader->notes, "the ICC profile is invalid and is left out");
    smp_free(icc->data);
    *icc = (smp_blob){.size = 0};
}

static smp_code fail_page(const smp_reader *reader, smp_error *err)
{
    const smp_file_format *format = reader->format;
    const bool moving = format->kind != SMP_AUDIO && !format->read_next;
    smp_fail(err, SMP_E_DECODE, "there is no page %lld: %s %s holds %s", (long long)reader->options.page,
             smp_article(format->name), format->name,
             format->read_next ? "no pages, but may hold several pictures"
             : moving          ? "one, and of an animation the first alone is read"
                               : "one");
    return format->read_next ? smp_hint(err, "smempipe convert --frames IN 'frame-%%d.png' writes each of them")
                             : SMP_E_DECODE;
}

/* Refuses a page, or all pictures, of a format that holds one. */
static smp_code check_wanted(const smp_reader *reader, smp_error *err)
{
    const smp_file_format *format = reader->format;
    if (reader->options.page > 1 && !format->pages)
        return fail_page(reader, err);
    if (!reader->options.frames || format->read_next)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--frames is for inputs of many pictures: %s %s holds %s", smp_article(format->name),
             format->name,
             format->kind == SMP_AUDIO ? "a sound"
             : format->pages           ? "one, or pages"
                                       : "one, and of an animation the first alone is read");
    return smp_hint(err,
                    format->kind == SMP_AUDIO ? SMP_VIDEO_HINT
                    : format->pages
                        ? "leave it out; --page N reads a page, batch --pages all all of them"
                        : "leave it out; a GIF, WebP or PNG gives all its pictures, 'smempipe batch' takes many files, "
                          "--raw says what a stream without a header holds");
}

/* Finds the format, and reads its header. */
static smp_code read_header(smp_reader *reader, smp_error *err)
{
    const bool letters = reader->options.want.letters;
    const smp_file_format *format = letters ? &smp_format_font : &smp_format_raw;
    smp_media *media = &reader->media;
    checked = 0;
    SMP_TRY(letters || reader->options.raw.given ? SMP_OK
                                                 : smp_format_find(&reader->source, &format, &reader->id3, err));
    if (!format)
        SMP_TRY(smp_format_unknown(&reader->source, err));
    if (reader->id3 && !format->id3)
        smp_note(&reader->notes, "the ID3 tag in front of the %s is left out", format->name);
    reader->format = format;
    media->file_format = format->name;
    media->shape.kind = format->kind;
    SMP_TRY(check_wanted(reader, err));
    if (format->read_state && !(reader->state = smp_alloc(format->read_state)))
        return smp_fail_memory(err, format->name, format->read_state);
    SMP_TRY(format->read_open(reader, err));
    return smp_check_media(&reader->options, media, checked, reader->source.size, err);
}

/* Fills in what follows from the header. */
static void complete_media(smp_reader *reader)
{
    smp_media *media = &reader->media;
    check_profile(reader);
    smp_meta_check(&media->meta, &reader->notes);
    media->live = reader->options.want.live && media->shape.kind == SMP_AUDIO && !reader->source.seekable;
    if (!media->live)
        smp_source_keep_no_more(&reader->source);
    media->shape.speakers = smp_coding_sound(&media->meta.coding)->mask;
    smp_meta_keep_exif_resolution(&media->meta);
    smp_meta_apply_orientation(&media->meta, media->orientation);
    if (reader->format->kind != SMP_AUDIO && media->shape.kind == SMP_IMAGE)
        media->shape.curve = smp_meta_curve(&media->meta);
}

/* Takes over the opened source; closes it on failure. */
smp_code smp_reader_open_source(smp_source *source, const char *name, const smp_read_options *options, smp_reader **out,
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
    reader->options = *options;
    reader->end = INT64_MAX;
    if (options->want.live)
        smp_source_keep(&reader->source);
    reader->media.orientation = 1;
    reader->media.meta.srgb_intent = -1;
    code = read_header(reader, err);
    if (code) {
        smp_at(err, "%s", name);
        smp_reader_close(reader);
        return code;
    }
    complete_media(reader);
    *out = reader;
    return SMP_OK;
}

static smp_code open_found(smp_code code, smp_source *source, const char *name, const smp_read_options *options,
                           smp_reader **out, smp_error *err)
{
    *out = NULL;
    if (!code && smp_worker_runs())
        return smp_worker_reader_open(source, name, options, out, err);
    code = code ? code : smp_source_buffer(source, err);
    if (code)
        return smp_at(err, "%s", name);
    code = smp_reader_open_source(source, name, options, out, err);
    if (!code && (*out)->media.live) /* in a process of its own it ends with that */
        (*out)->source.stopped = &(*out)->stopped;
    return code;
}

smp_code smp_reader_open(const char *path, const smp_read_options *options, smp_reader **out, smp_error *err)
{
    smp_source source;
    const char *name = strcmp(path, "-") ? path : "standard input";
    const smp_code code = smp_source_find(&source, path, &options->limits, options->time_limit, err);
    return open_found(code, &source, name, options, out, err);
}

smp_code smp_reader_open_file(int fd, const char *name, const smp_read_options *options, smp_reader **out,
                              smp_error *err)
{
    smp_source source;
    return open_found(smp_source_of_file(&source, fd, &options->limits, err), &source, name, options, out, err);
}

smp_code smp_reader_open_memory(const void *data, size_t size, const smp_read_options *options, smp_reader **out,
                                smp_error *err)
{
    *out = NULL;
    smp_source source;
    smp_source_memory(&source, data, size);
    return smp_reader_open_source(&source, "memory", options, out, err);
}

const smp_media *smp_reader_media(const smp_reader *reader)
{
    return &reader->media;
}

const smp_notes *smp_reader_notes(const smp_reader *reader)
{
    return &reader->notes;
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_file_format *format = reader->format;
    if (!format->read_row)
        return format->read_rows(reader, to, stride, rows, err);
    for (int64_t i = 0; i < rows; i++)
        SMP_TRY(format->read_row(reader, reader->next_row + i, (uint8_t *)to + i * stride, err));
    return SMP_OK;
}

smp_code smp_reader_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_shape *shape = smp_media_rows(&reader->media);
    smp_code code = reader->broken;
    if (code != SMP_OK)
        smp_fail(err, code, "an earlier failure stopped the reading of this file");
    else if (rows < 0 || rows > shape->height - reader->next_row || (rows > 1 && stride < smp_row_bytes(shape)))
        code = smp_fail(err, SMP_E_PROCESS, "rows %lld to %lld of %lld were asked for", (long long)reader->next_row,
                        (long long)(reader->next_row + rows), (long long)shape->height);
    else if (rows) {
        code = read_rows(reader, to, stride, rows, err);
        reader->next_row += rows;
        if (code == SMP_OK && reader->next_row == shape->height && reader->format->read_end)
            code = reader->format->read_end(reader, err);
        reader->broken = code;
    }
    if (code != SMP_OK)
        smp_at(err, "%s", reader->name);
    return code;
}

/* Returns how many rows are there; of a coded sound some, since what a decoder has taken in is not known. */
static int64_t rows_there(smp_reader *reader, int64_t rows)
{
    enum { A_SECOND = 20 };
    const int64_t frame = reader->frame_bytes;
    const int64_t some =
        frame ? (int64_t)smp_source_available(&reader->source) / frame : (int64_t)reader->media.shape.rate / A_SECOND;
    return smp_min_i64(smp_max_i64(some, 1), rows);
}

static smp_code read_some(smp_reader *reader, void *to, int64_t stride, int64_t rows, int64_t *got, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    const int64_t first = reader->next_row;
    smp_source_keep_no_more(&reader->source);
    rows = rows_there(reader, smp_min_i64(rows, shape->height - first));
    smp_code code = read_rows(reader, to, stride, rows, err);
    *got = smp_min_i64(rows, reader->end - first);
    reader->next_row = first + *got;
    if (!code && reader->next_row == smp_min_i64(reader->end, shape->height) && reader->format->read_end)
        code = reader->format->read_end(reader, err);
    return code;
}

smp_code smp_reader_some(smp_reader *reader, void *to, int64_t stride, int64_t rows, int64_t *got, smp_error *err)
{
    smp_code code = reader->broken;
    *got = 0;
    if (code != SMP_OK)
        smp_fail(err, code, "an earlier failure stopped the reading of this file");
    else if (rows > 0 && reader->next_row < reader->end)
        code = reader->format->read_some ? reader->format->read_some(reader, to, stride, rows, got, err)
                                         : read_some(reader, to, stride, rows, got, err);
    reader->broken = code;
    if (code != SMP_OK)
        smp_at(err, "%s", reader->name);
    return code;
}

void smp_reader_stop(smp_reader *reader)
{
    atomic_store(&reader->stopped, true);
}

smp_code smp_reader_settle(smp_reader **reader, smp_error *err)
{
    smp_reader *old = *reader;
    smp_read_options options = old->options;
    smp_source source = old->source;
    if (old->format->settle)
        return old->format->settle(old, err);
    options.want.live = false;
    old->source = (smp_source){.fd = -1};
    source.stopped = NULL;
    smp_source_again(&source, options.limits.max_file ? options.limits.max_file : UINT64_MAX);
    const smp_code code = smp_reader_open_source(&source, old->name, &options, reader, err);
    if (code != SMP_OK) {
        *reader = old;
        return old->broken = code;
    }
    smp_reader_close(old);
    return SMP_OK;
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
        if (reader->options.limits.max_file &&
            !smp_add_u64(source->position, reader->options.limits.max_file, &source->limit))
            source->limit = UINT64_MAX; /* holds for a picture of a stream */
        code = reader->format->read_next(reader, more, err);
        reader->next_row = code == SMP_OK && *more ? 0 : reader->next_row;
        reader->broken = code;
    }
    if (code != SMP_OK)
        smp_at(err, "%s", reader->name);
    return code;
}

uint32_t smp_reader_delay(const smp_reader *reader)
{
    return reader->delay;
}

void smp_reader_close(smp_reader *reader)
{
    if (!reader)
        return;
    if (reader->state && reader->format->read_close)
        reader->format->read_close(reader);
    else
        smp_free(reader->state);
    smp_source_close(&reader->source);
    smp_meta_free(&reader->media.meta);
    smp_free_all(reader->media.coded.data, reader->name, reader);
}

double smp_reader_input_seconds(const smp_reader *reader)
{
    return reader->source.seconds;
}
