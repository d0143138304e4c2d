/* FLAC and Ogg (Vorbis, Opus, FLAC) through libsndfile, which sees a file through callbacks only. A file's first bytes
 * are checked here before the library opens it. Sources: RFC 9639 (FLAC), RFC 3533 (Ogg), Vorbis I specification.
 *
 * The same bytes every run: no dither; libsndfile gives an Ogg stream a serial number at random, so that pages pass
 * through ogg_pages.c on their way out. */
#include "io/audio/sndfile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

static const char *const flac_extensions[] = {"flac", NULL};
static const char *const ogg_extensions[] = {"ogg", "oga", NULL};

static bool sniff_flac(const uint8_t *head, size_t size)
{
    return size >= 8 && memcmp(head, "fLaC", 4) == 0;
}

/* An Ogg page whose packet begins as one of the three kinds of sound. */
static bool sniff_ogg(const uint8_t *head, size_t size)
{
    static const struct {
        size_t length;
        const char *magic;
    } kinds[] = {{7, "\1vorbis"},
                 {8, "OpusHead"},
                 {5, "\x7F"
                     "FLAC"}};
    if (size < 28 || memcmp(head, "OggS", 4) != 0)
        return false;
    size_t at = 27 + (size_t)head[26];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (at + kinds[i].length <= size && memcmp(head + at, kinds[i].magic, kinds[i].length) == 0)
            return true;
    return false;
}

static smp_code flac_shape(const char *extension, smp_shape *shape, smp_error *err)
{
    (void)extension;
    enum { MOST_RATE = 655350 /* Hz */ };
    smp_code code = smp_sound_can_write("FLAC", shape, SMP_MAX_CHANNELS, err);
    if (code == SMP_OK && shape->rate > MOST_RATE)
        code = smp_fail(err, SMP_E_WRITE, "a FLAC cannot have a rate above %d Hz", MOST_RATE);
    return code;
}

static smp_code ogg_shape(const char *extension, smp_shape *shape, smp_error *err)
{
    (void)extension;
    return smp_sound_can_write("OGG", shape, SMP_MAX_CHANNELS, err);
}

#ifdef SMP_HAVE_SNDFILE

/* ------------------------------------------------------------------------------------------------ checks */

static smp_code check_flac(smp_reader *reader, smp_error *err)
{
    uint8_t b[42];
    smp_source *source = &reader->source;
    if (!smp_sound_look(source, 0, b, sizeof b))
        return smp_check_size(source, sizeof b, err);
    if ((b[4] & 0x7F) != 0 || smp_get_be(b + 5, 3) != 34)
        return smp_fail(err, SMP_E_DECODE, "the FLAC is damaged: it does not begin with its stream's description");
    const uint32_t packed = smp_get_be(b + 18, 4);
    const int64_t frames = (int64_t)((uint64_t)(b[21] & 15) << 32 | smp_get_be(b + 22, 4));
    if (frames == 0) {
        smp_fail(err, SMP_E_DECODE, "the FLAC does not say how long it is: it was written to a pipe");
        return smp_hint(err, "write it to a file once: flac -d and flac again, or sox in.flac out.flac");
    }
    enum { BLOCK = 65535 /* frames, at most */, LEAST = 10 /* bytes of a block of silence */ };
    smp_code code = smp_sound_header(reader, frames, (packed >> 9 & 7) + 1, packed >> 12, SMP_SOUND_NONE, err);
    if (code == SMP_OK)
        code = smp_check_size(source, sizeof b + (uint64_t)(frames / BLOCK) * LEAST, err);
    return code;
}

/* A stream's last page says that it is the last. The library takes a file that was cut for a shorter one. */
static smp_code check_last_page(smp_source *source, smp_error *err)
{
    enum { FLAGS_AT = 5, LAST = 4, SEGMENTS_AT = 26, HEADER = 27, MOST = HEADER + 255 + 255 * 255 };
    const size_t have = (size_t)smp_min_u64(source->size, MOST);
    uint8_t *end = smp_alloc_raw(have);
    bool whole = false;
    if (!end)
        return smp_fail_memory(err, "a page", have);
    if (smp_sound_look(source, source->size - have, end, have))
        for (size_t at = 0; at + HEADER <= have && !whole; at++) {
            if (memcmp(end + at, "OggS", 4) != 0 || !(end[at + FLAGS_AT] & LAST) ||
                at + HEADER + end[at + SEGMENTS_AT] > have)
                continue;
            size_t size = HEADER + (size_t)end[at + SEGMENTS_AT];
            for (size_t i = 0; i < end[at + SEGMENTS_AT]; i++)
                size += end[at + HEADER + i];
            whole = at + size <= have; /* tags of other programs may follow */
        }
    smp_free(end);
    if (whole)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "the OGG is truncated: its last page is not the end of the stream");
    return smp_hint(err, "copy or download it again; nothing was written");
}

/* The first packet of the stream; its length is only known to the library, which looks at the last page. */
static smp_code check_ogg(smp_reader *reader, smp_error *err)
{
    uint8_t b[27 + 255 + 32] = {0};
    smp_source *source = &reader->source;
    const size_t have = (size_t)smp_min_u64(source->size, sizeof b);
    if (!smp_sound_look(source, 0, b, have))
        return smp_source_ended(source, err);
    smp_code code = check_last_page(source, err);
    if (code != SMP_OK)
        return code;
    const uint8_t *packet = b + 27 + b[26];
    if (packet[0] == 1)
        return smp_sound_header(reader, 1, packet[11], smp_get_le(packet + 12, 4), SMP_SOUND_VORBIS, err);
    if (packet[0] == 'O')
        return smp_sound_header(reader, 1, packet[9], 48000, SMP_SOUND_OPUS, err);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ reading */

static sf_count_t source_length(void *user)
{
    return (sf_count_t)((smp_sndfile *)user)->source->size;
}

static sf_count_t source_seek(sf_count_t offset, int whence, void *user)
{
    smp_source *source = ((smp_sndfile *)user)->source;
    sf_count_t from = whence == SEEK_CUR   ? (sf_count_t)source->position
                      : whence == SEEK_END ? (sf_count_t)source->size
                                           : 0;
    int64_t to;
    if (!smp_add_i64(from, offset, &to) || to < 0 || !smp_source_seek(source, (uint64_t)to))
        return -1;
    return to;
}

static sf_count_t source_read(void *to, sf_count_t count, void *user)
{
    return count > 0 ? (sf_count_t)smp_source_read(((smp_sndfile *)user)->source, to, (size_t)count) : 0;
}

static sf_count_t source_tell(void *user)
{
    return (sf_count_t)((smp_sndfile *)user)->source->position;
}

static sf_count_t no_write(const void *from, sf_count_t count, void *user)
{
    (void)from, (void)count, (void)user;
    return 0;
}

static smp_code take_tags(smp_reader *reader, SNDFILE *file, smp_error *err)
{
    for (const smp_sound_tag *tag = smp_sound_tags; tag->key; tag++) {
        const char *text = tag->number ? sf_get_string(file, tag->number) : NULL;
        if (text && text[0] && !smp_meta_add_text(&reader->media.meta, tag->key, text, strlen(text)))
            return smp_fail_memory(err, "a tag", strlen(text));
    }
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    const bool ogg = reader->format == &smp_format_ogg;
    smp_code code = smp_source_spool(source, err); /* the library wants to seek */
    if (code == SMP_OK)
        code = ogg ? check_ogg(reader, err) : check_flac(reader, err);
    if (code != SMP_OK)
        return code;
    smp_sndfile *s = reader->state = smp_alloc(sizeof *s);
    if (!s || !(s->buffer = smp_alloc_raw(SMP_SNDFILE_SAMPLES * sizeof(float))))
        return smp_fail_memory(err, "a sound", sizeof *s);
    s->source = source;
    SF_VIRTUAL_IO io = {source_length, source_seek, source_read, no_write, source_tell};
    SF_INFO info = {0};
    if (!smp_source_seek(source, 0) || !(s->file = sf_open_virtual(&io, SFM_READ, &info, s))) {
        if (source->failed || source->over_limit)
            return smp_source_ended(source, err);
        return smp_fail(err, SMP_E_DECODE, "the %s is damaged: %s", reader->format->name, sf_strerror(NULL));
    }
    const int type = info.format & SF_FORMAT_SUBMASK;
    if (!smp_sound_type_name(type))
        return smp_fail(err, SMP_E_DECODE, "the %s's samples are of a kind that is not read", reader->format->name);
    code = smp_sound_header(reader, info.frames, info.channels, info.samplerate, type, err);
    if (code != SMP_OK)
        return code;
    s->real = !smp_sound_bits(type);
    s->order = type == SMP_SOUND_VORBIS || type == SMP_SOUND_OPUS ? smp_vorbis_order(info.channels) : NULL;
    reader->media.meta.sound.mask = info.channels > 2 ? smp_sound_usual_mask(info.channels) : 0;
    smp_sound_describe(&reader->media, NULL);
    return take_tags(reader, s->file, err);
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    smp_sndfile *s = reader->state;
    const int channels = reader->media.shape.channels;
    const int64_t most = SMP_SNDFILE_SAMPLES / channels;
    for (int64_t y = 0, n; y < rows; y += n) {
        n = smp_min_i64(rows - y, most);
        sf_count_t got =
            s->real ? sf_readf_float(s->file, s->buffer, n) : sf_readf_int(s->file, (int *)(void *)s->buffer, n);
        int number = sf_error(s->file);
        if (reader->source.failed || reader->source.over_limit)
            return smp_source_ended(&reader->source, err);
        if (got < n || number) {
            smp_fail(err, SMP_E_DECODE, "the %s is truncated or damaged after frame %lld of %lld", reader->format->name,
                     (long long)(reader->next_row + y + (got > 0 ? got : 0)), (long long)reader->media.shape.height);
            return smp_hint(err, "copy or download it again; nothing was written");
        }
        for (int64_t i = 0; i < n; i++) {
            float *frame = (float *)(void *)((char *)to + (y + i) * stride);
            for (int c = 0; c < channels; c++) {
                const int64_t from = i * channels + (s->order ? s->order[c] : c);
                frame[c] = s->real ? s->buffer[from] : (float)((const int32_t *)(void *)s->buffer)[from] * 0x1p-31f;
            }
        }
    }
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    smp_sndfile *s = reader->state;
    if (s->file)
        sf_close(s->file);
    smp_free(s->buffer);
    smp_free(s);
    reader->state = NULL;
}

#else

/* ------------------------------------------------------------------------------------------------ without libsndfile
 */

static smp_code missing(smp_code kind, const char *name, smp_error *err)
{
    smp_fail(err, kind, "this build has no %s: it was made without libsndfile", name);
    return smp_hint(err, "install libsndfile1-dev and build again, or use .wav or .aiff");
}
static smp_code read_open(smp_reader *reader, smp_error *err)
{
    return missing(SMP_E_READ, reader->format->name, err);
}
static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    (void)to, (void)stride, (void)rows;
    return missing(SMP_E_READ, reader->format->name, err);
}
static void read_close(smp_reader *reader)
{
    (void)reader;
}
smp_code smp_sndfile_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    (void)meta;
    return missing(SMP_E_WRITE, writer->format->name, err);
}
smp_code smp_sndfile_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    (void)from, (void)stride, (void)rows;
    return missing(SMP_E_WRITE, writer->format->name, err);
}
smp_code smp_sndfile_write_end(smp_writer *writer, smp_error *err)
{
    return missing(SMP_E_WRITE, writer->format->name, err);
}
void smp_sndfile_write_close(smp_writer *writer)
{
    (void)writer;
}

#endif

const smp_file_format smp_format_flac = {
    .name = "FLAC",
    .extensions = flac_extensions,
    .kind = SMP_AUDIO,
    .sniff = sniff_flac,
    .read_open = read_open,
    .read_rows = read_rows,
    .read_close = read_close,
    .write_shape = flac_shape,
    .write_open = smp_sndfile_write_open,
    .write_rows = smp_sndfile_write_rows,
    .write_end = smp_sndfile_write_end,
    .write_close = smp_sndfile_write_close,
};

const smp_file_format smp_format_ogg = {
    .name = "OGG",
    .extensions = ogg_extensions,
    .kind = SMP_AUDIO,
    .sniff = sniff_ogg,
    .read_open = read_open,
    .read_rows = read_rows,
    .read_close = read_close,
    .write_shape = ogg_shape,
    .write_open = smp_sndfile_write_open,
    .write_rows = smp_sndfile_write_rows,
    .write_end = smp_sndfile_write_end,
    .write_close = smp_sndfile_write_close,
};
