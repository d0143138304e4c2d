/* Pictures and sounds without a header: samples one after another, as --raw says (raw_spec.h). Rows stream from and to
 * pipes. Pictures may follow each other without gaps (--frames). */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/sound.h"
#include "io/format.h"

/* No content is known by itself. */
static bool sniff(const uint8_t *, size_t)
{
    return false;
}

static smp_code fail_part(uint64_t bytes, uint64_t whole, const char *what, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "expected a %s of %llu byte%s, got %llu", what, (unsigned long long)whole,
             whole == 1 ? "" : "s", (unsigned long long)bytes);
    return smp_hint(err, "the input is truncated, or --raw does not say what it holds");
}

/* Goes to the page that is asked for, and tells how many there are. one: bytes of a picture. */
static smp_code find_picture(smp_reader *reader, uint64_t one, smp_error *err)
{
    smp_source *source = &reader->source;
    const smp_raw *raw = &reader->options.raw;
    const uint64_t all =
        source->size == UINT64_MAX ? UINT64_MAX : source->size - smp_min_u64(raw->offset, source->size);
    const uint64_t before = reader->options.page > 1 ? (uint64_t)reader->options.page - 1 : 0;
    uint64_t at;
    if (all != UINT64_MAX && all < one)
        return fail_part(all, one, "picture", err);
    if (all != UINT64_MAX)
        reader->media.pages = (int64_t)smp_min_u64(all / one, INT64_MAX);
    if (__builtin_mul_overflow(before, one, &at) || !smp_add_u64(at, raw->offset, &at) ||
        (all != UINT64_MAX && before >= all / one) || (at && !smp_source_begin(source, at)))
        return before && all != UINT64_MAX ? smp_fail(err, SMP_E_DECODE, "there is no page %lld: the input has %llu",
                                                      (long long)reader->options.page, (unsigned long long)(all / one))
                                           : smp_source_ended(source, err);
    if (before || reader->options.frames || all == UINT64_MAX || all == one)
        return SMP_OK;
    if (all % one)
        smp_note(&reader->notes, "%llu bytes follow the picture and are not read: is its size right?",
                 (unsigned long long)(all - one));
    else if (!reader->options.page)
        smp_note(&reader->notes, "%llu more pictures follow; --frames of run and convert reads all, --page another",
                 (unsigned long long)(all / one - 1));
    return SMP_OK;
}

static smp_code open_picture(smp_reader *reader, smp_error *err)
{
    const smp_raw *raw = &reader->options.raw;
    smp_shape *shape = &reader->media.shape;
    int64_t row, one;
    *shape = (smp_shape){.kind = SMP_IMAGE,
                         .width = raw->width,
                         .height = raw->height,
                         .channels = raw->channels,
                         .alpha = raw->channels == 2 || raw->channels == 4,
                         .format = raw->real         ? SMP_F32
                                   : raw->bytes == 2 ? SMP_U16
                                                     : SMP_U8};
    reader->media.bits = 8 * raw->bytes;
    reader->media.meta.coding = (smp_coding){.kind = SMP_CODING_RAW, .raw = {raw->big}};
    if (!smp_mul_i64(raw->width, (int64_t)raw->channels * raw->bytes, &row) || !smp_mul_i64(row, raw->height, &one))
        return smp_fail(err, SMP_E_LIMIT, "the picture's size is past what can be counted");
    SMP_TRY(smp_check_picture(&reader->options.limits, raw->width, raw->height, (uint64_t)row, err));
    return find_picture(reader, (uint64_t)one, err);
}

static int sound_type(const smp_raw *raw)
{
    static const int codes[] = {SMP_SOUND_NONE, SMP_SOUND_U8, SMP_SOUND_S16, SMP_SOUND_S24, SMP_SOUND_S32};
    if (raw->real && raw->bytes == 1)
        return raw->big ? SMP_SOUND_ULAW : SMP_SOUND_ALAW;
    return raw->real ? raw->bytes == 4 ? SMP_SOUND_F32 : SMP_SOUND_F64 : codes[raw->bytes];
}

static smp_code open_sound(smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    const smp_raw *raw = &reader->options.raw;
    const uint64_t frame = (uint64_t)(raw->channels * raw->bytes);
    if (raw->offset && !smp_source_begin(source, raw->offset))
        return smp_source_ended(source, err);
    const bool open = smp_sound_may_be_open(reader);
    SMP_TRY(source->size == UINT64_MAX && !open ? smp_source_spool(source, err) : SMP_OK);
    if (source->size < frame)
        return fail_part(source->size, frame, "frame", err);
    SMP_TRY(smp_sound_header(reader, open ? SMP_OPEN_HEIGHT : (int64_t)smp_min_u64(source->size / frame, INT64_MAX),
                             raw->channels, raw->rate, sound_type(raw), err));
    reader->media.leftover = open ? 0 : (int)(source->size % frame);
    smp_sound_describe(&reader->media, NULL);
    return smp_pcm_open_read(reader, sound_type(raw), false, 0, err);
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    if (!reader->options.raw.sound)
        return open_picture(reader, err);
    return reader->options.frames ? smp_fail(err, SMP_E_USAGE, "--frames is for pictures: a sound streams without it")
                                  : open_sound(reader, err);
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    smp_source *source = &reader->source;
    if (shape->kind == SMP_AUDIO)
        return smp_pcm_read(reader, to, stride, rows, err);
    const size_t row = (size_t)smp_row_bytes(shape);
    const int64_t together = rows == 1 || stride == (int64_t)row ? rows : 1;
    for (int64_t y = 0; y < rows; y += together) {
        uint8_t *at = (uint8_t *)to + y * stride;
        const size_t size = row * (size_t)together, got = smp_source_read(source, at, size);
        if (got < size && (source->failed || source->over_limit))
            return smp_source_ended(source, err);
        if (got < size)
            return fail_part((uint64_t)(reader->next_row + y) * row + got, (uint64_t)shape->height * row, "picture",
                             err);
        if (reader->options.raw.bytes > 1 && reader->options.raw.big == smp_little_endian())
            smp_reverse_words(at, size, (size_t)reader->options.raw.bytes);
    }
    return SMP_OK;
}

static smp_code read_end(smp_reader *reader, smp_error *err)
{
    const uint8_t *at;
    if (reader->state)
        return smp_pcm_read_end(reader, err);
    if (!reader->options.frames && !reader->options.page && reader->source.size == UINT64_MAX &&
        smp_source_peek(&reader->source, &at, 1))
        smp_note(&reader->notes, "more follows the picture and is not read; --frames of run and convert reads it");
    return SMP_OK;
}

static smp_code read_next(smp_reader *reader, bool *more, smp_error *err)
{
    smp_source *source = &reader->source;
    const uint8_t *at;
    *more = smp_source_peek(source, &at, 1) > 0;
    return source->failed || source->over_limit ? smp_source_ended(source, err) : SMP_OK;
}

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    return shape->kind == SMP_AUDIO ? smp_sound_can_write("raw sound", shape, SMP_MAX_CHANNELS, err) : SMP_OK;
}

static int type_to_write(const smp_sound *sound)
{
    switch (sound->type) {
    case SMP_SOUND_S8:
        return SMP_SOUND_U8;
    case SMP_SOUND_NONE: /* the input was an array or a picture */
        return SMP_SOUND_F32;
    default:
        return smp_sound_coded(sound->type) ? SMP_SOUND_S16 : sound->type;
    }
}

static smp_code write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    const int type = type_to_write(smp_coding_sound(&writer->coding));
    if (writer->shape.kind != SMP_AUDIO)
        return SMP_OK;
    smp_sound_note_type(writer, type);
    return smp_pcm_open_write(writer, type, false, err);
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    if (shape->kind == SMP_AUDIO)
        return smp_pcm_write(writer, from, stride, rows, err);
    const size_t row = (size_t)smp_row_bytes(shape), word = (size_t)smp_sample_size((int)shape->format);
    const bool big = shape->format == SMP_U16 && smp_coding_raw(&writer->coding)->big;
    const bool turn = word > 1 && big == smp_little_endian();
    const int64_t together = !turn && (rows == 1 || stride == (int64_t)row) ? rows : 1;
    uint8_t *line = turn ? smp_alloc_raw(row) : NULL;
    smp_code code = turn && !line ? smp_fail_memory(err, "a row", row) : SMP_OK;
    for (int64_t y = 0; y < rows && !code; y += together) {
        const void *at = (const uint8_t *)from + y * stride;
        if (turn) {
            memcpy(line, at, row);
            smp_reverse_words(line, row, word);
            at = line;
        }
        code = smp_output_write(writer->output, at, row * (size_t)together, err);
    }
    smp_free(line);
    return code;
}

static smp_code write_next(smp_writer *writer, const smp_meta *, smp_error *err)
{
    return smp_output_flush(writer->output, err);
}

const smp_file_format smp_format_raw = {
    .name = "RAW",
    .extensions = (const char *const[]){"raw", NULL},
    .takes = (const smp_write_takes[]){{&smp_write_samples, SMP_WORDS_PCM | SMP_WORDS_REAL}, {0}},
    .kind = SMP_BOTH,
    .bare = true,
    .dpi = true,
    .gamma = true,
    .open_end = true,
    .pages = true,
    .sniff = sniff,
    SMP_READS(rows),
    .read_end = read_end,
    .read_next = read_next,
    .read_close = smp_pcm_close_read,
    SMP_WRITES(rows),
    .write_next = write_next,
    .write_close = smp_pcm_close_write,
};
