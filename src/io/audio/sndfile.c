/* FLAC and Ogg (Vorbis, Opus, FLAC) through libsndfile, which sees a file only through callbacks. A file's first bytes
 * are checked here before the library opens it. Sources: RFC 9639 (FLAC), RFC 3533 (Ogg), Vorbis I specification.
 *
 * Every run writes the same bytes. There is no dither. libsndfile gives an Ogg stream a random serial number;
 * ogg_pages.c replaces it. */
#include "io/audio/sndfile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/ogg_pages.h"
#include "io/audio/tags.h"
#include "io/audio/wav.h"

static const char *const flac_extensions[] = {"flac", NULL};
static const char *const ogg_extensions[] = {"ogg", "oga", "opus", NULL};
static const char *const opus_extensions[] = {"opus", NULL};

static bool sniff_flac(const uint8_t *head, size_t size)
{
    return size >= 8 && memcmp(head, "fLaC", 4) == 0;
}

/* An Ogg page whose packet begins like one of two kinds of sound; FLAC in Ogg is FFmpeg's (av.c). */
static bool sniff_ogg(const uint8_t *head, size_t size)
{
    static const struct {
        size_t length;
        const char *magic;
    } kinds[] = {{7, "\1vorbis"}, {8, "OpusHead"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (smp_ogg_begins(head, size, kinds[i].magic, kinds[i].length))
            return true;
    return false;
}

/* A WAV whose samples are coded in blocks; others are wav.c's. */
static bool sniff_coded(const uint8_t *head, size_t size)
{
    enum { MS_ADPCM = 2, IMA_ADPCM = 0x11, GSM = 0x31 };
    const unsigned tag = smp_wav_tag(head, size);
    return tag == MS_ADPCM || tag == IMA_ADPCM || tag == GSM;
}

/* Sources: RFC 9639, 9.1.2; libvorbis, lib/modes/setup_X.h. */
static smp_code limited_shape(const smp_file_format *format, const char *, smp_shape *shape, smp_error *err)
{
    const int most = format == &smp_format_ogg ? 200000 : 655350; /* Hz */
    SMP_TRY(smp_sound_can_write(format->name, shape, SMP_MAX_CHANNELS, err));
    if (shape->rate <= most)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "%s %s cannot have a rate above %d Hz", smp_article(format->name), format->name, most);
    return smp_hint(err, "end the pipeline with `resample 192kHz`");
}

static smp_code opus_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    static const int rates[] = {8000, 12000, 16000, 24000, 48000};
    SMP_TRY(smp_sound_can_write("Opus", shape, SMP_MAX_CHANNELS, err));
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (shape->rate == rates[i])
            return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "an Opus cannot have a rate of %.10g Hz: 8, 12, 16, 24 and 48 kHz are possible",
             shape->rate);
    return smp_hint(err, "end the pipeline with `resample 48kHz`");
}

#ifdef SMP_HAVE_SNDFILE

/* ------------------------------------------------------------------------------------------------ checks */

/* The number of frames: from the header or, when that is smaller or missing, from the last block. */
static smp_code count_frames(smp_reader *reader, smp_sndfile *s, smp_error *err)
{
    const int64_t said = s->info.frames;
    int64_t found;
    SMP_TRY(smp_flac_find_end(&reader->source, &s->info, &found, err));
    if (!said && !found)
        return smp_fail(err, SMP_E_DECODE, "the FLAC does not say how long it is, and does not end with a whole block"),
               smp_sound_hint_saved(err);
    if (found <= said)
        return SMP_OK;
    if (said)
        smp_note(&reader->notes, "the FLAC's header says %lld frames, but it has %lld: all are read", (long long)said,
                 (long long)found);
    s->info.frames = found;
    return SMP_OK;
}

static smp_code check_flac(smp_reader *reader, smp_sndfile *s, smp_error *err)
{
    enum {
        INFO_AT = 8,
        HEADER = INFO_AT + SMP_FLAC_INFO,
        BLOCK = 65535 /* frames, at most */,
        LEAST = 10 /* bytes of a block of silence */
    };
    uint8_t b[HEADER];
    smp_source *source = &reader->source;
    if (!smp_sound_look(source, 0, b, sizeof b))
        return smp_check_size(source, sizeof b, err);
    if ((b[4] & 0x7F) != 0 || smp_get_be(b + 5, 3) != SMP_FLAC_INFO)
        return smp_fail(err, SMP_E_DECODE, "the FLAC is damaged: it does not begin with its stream's description");
    smp_flac_info_take(&s->info, b + INFO_AT);
    if (s->info.bits != 8 && s->info.bits != 16 && s->info.bits != 24)
        return smp_fail(err, SMP_E_DECODE, "the FLAC's samples have %d bits, which is not supported", s->info.bits),
               smp_hint(err, "make a WAV of it: ffmpeg -i IN.flac -c:a pcm_s32le OUT.wav");
    SMP_TRY(count_frames(reader, s, err));
    SMP_TRY(smp_sound_header(reader, s->info.frames, s->info.channels, s->info.rate, SMP_SOUND_NONE, err));
    SMP_TRY(smp_check_size(source, sizeof b + (uint64_t)(s->info.frames / BLOCK) * LEAST, err));
    smp_flac_set_frames(b + INFO_AT, s->info.frames);
    memcpy(s->patch, b, sizeof b);
    s->patch_size = sizeof b;
    return SMP_OK;
}

/* The first packet of a stream. Only the library knows its length, from the last page. */
static smp_code check_ogg(smp_reader *reader, const smp_ogg_link *link, smp_error *err)
{
    uint8_t b[SMP_OGG_HEADER + 255 + 32] = {0};
    smp_source *source = &reader->source;
    const size_t have = (size_t)smp_min_u64(link->to - link->from, sizeof b);
    if (!smp_sound_look(source, link->from, b, have))
        return smp_source_ended(source, err);
    const uint8_t *packet = b + SMP_OGG_HEADER + b[SMP_OGG_SEGMENTS_AT];
    if (packet[0] == 1)
        return smp_sound_header(reader, 1, packet[11], smp_get_le(packet + 12, 4), SMP_SOUND_VORBIS, err);
    if (packet[0] == 'O')
        return smp_sound_header(reader, 1, packet[9], 48000, SMP_SOUND_OPUS, err);
    return SMP_OK;
}

/* The library reads what there is of a WAV that was cut. */
static smp_code check_coded(smp_reader *reader, smp_error *err)
{
    smp_wav h = {.kind = "WAV", .pad = 2};
    SMP_TRY(smp_wav_walk(&h, reader, err));
    if (!h.align)
        return smp_fail(err, SMP_E_DECODE, "the WAV is damaged: its blocks have no bytes");
    return smp_wav_check(&h, reader, err);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Shows the library one link as if it were the file. */
static sf_count_t source_length(void *user)
{
    const smp_sndfile *s = user;
    return (sf_count_t)(s->link.to - s->link.from);
}

static sf_count_t source_tell(void *user)
{
    const smp_sndfile *s = user;
    return (sf_count_t)(s->source->position - s->link.from);
}

static sf_count_t source_seek(sf_count_t offset, int whence, void *user)
{
    const smp_sndfile *s = user;
    sf_count_t from = whence == SEEK_CUR ? source_tell(user) : whence == SEEK_END ? source_length(user) : 0;
    int64_t to;
    if (!smp_add_i64(from, offset, &to) || to < 0 || !smp_source_seek(s->source, s->link.from + (uint64_t)to))
        return -1;
    return to;
}

static sf_count_t source_read(void *to, sf_count_t count, void *user)
{
    const smp_sndfile *s = user;
    const int64_t at = source_tell(user), left = source_length(user) - at;
    if (count <= 0 || left <= 0)
        return 0;
    const sf_count_t got = (sf_count_t)smp_source_read(s->source, to, (size_t)smp_min_i64(count, left));
    if (at < (int64_t)s->patch_size)
        memcpy(to, s->patch + at, (size_t)smp_min_i64(got, (int64_t)s->patch_size - at));
    return got;
}

static sf_count_t no_write(const void *, sf_count_t, void *)
{
    return 0;
}

/* Opens one link with the library. */
static smp_code open_link(smp_reader *reader, smp_sndfile *s, size_t index, SF_INFO *info, smp_error *err)
{
    smp_source *source = &reader->source;
    SF_VIRTUAL_IO io = {source_length, source_seek, source_read, no_write, source_tell};
    if (s->file)
        sf_close(s->file);
    s->file = NULL;
    s->link = s->links[index];
    s->at_link = index;
    s->patch_size = 0;
    s->info = (smp_flac_info){0};
    smp_media *media = &reader->media;
    const smp_shape shape = media->shape; /* of all links; the check needs that of one */
    const int bits = media->bits, type = media->meta.coding.sound.type;
    SMP_TRY(reader->format == &smp_format_ogg    ? check_ogg(reader, &s->link, err)
            : reader->format == &smp_format_flac ? check_flac(reader, s, err)
                                                 : check_coded(reader, err));
    media->shape = shape;
    media->bits = bits;
    media->meta.coding.sound.type = type;
    *info = (SF_INFO){0};
    if (!smp_source_seek(source, s->link.from) || !(s->file = sf_open_virtual(&io, SFM_READ, info, s))) {
        if (source->failed || source->over_limit)
            return smp_source_ended(source, err);
        smp_fail(err, SMP_E_DECODE, "the %s is damaged, or this libsndfile cannot read it: %s", reader->format->name,
                 sf_strerror(NULL));
        return smp_hint(err, "try another decoder: ffmpeg -i IN OUT.flac");
    }
    if (smp_sound_bits(info->format & SF_FORMAT_SUBMASK) && s->link.granule > info->frames)
        return smp_fail(err, SMP_E_DECODE, "the OGG's header says %lld frames, but it has %lld",
                        (long long)info->frames, (long long)s->link.granule),
               smp_hint(err, "make a FLAC of it: ffmpeg -i IN.ogg OUT.flac");
    if (!smp_sound_type_name(info->format & SF_FORMAT_SUBMASK))
        return smp_fail(err, SMP_E_DECODE, "the %s's samples are of an unsupported kind", reader->format->name);
    s->left = s->links[index].frames = info->frames;
    s->verify = s->info.has_md5 && !reader->options.no_verify;
    smp_md5_begin(&s->md5);
    return SMP_OK;
}

/* An Ogg file is a chain of links, each a stream of its own. Other formats count as one link. */
static smp_code open_links(smp_reader *reader, smp_sndfile *s, SF_INFO *first, smp_error *err)
{
    smp_source *source = &reader->source;
    smp_code code;
    if (reader->format == &smp_format_ogg)
        code = smp_ogg_find_links(source, &s->links, &s->link_count, err);
    else {
        s->links = smp_alloc(sizeof *s->links);
        code = s->links ? SMP_OK : smp_fail_memory(err, "a sound", sizeof *s->links);
        s->link_count = 1;
        if (s->links)
            s->links[0] = (smp_ogg_link){.to = source->size};
    }
    int64_t frames = 0;
    for (size_t i = 0; code == SMP_OK && i < s->link_count; i++) {
        SF_INFO info;
        SMP_TRY(open_link(reader, s, i, &info, err));
        if (i == 0)
            *first = info;
        if (info.channels != first->channels || info.samplerate != first->samplerate || info.format != first->format)
            return smp_fail(err, SMP_E_DECODE,
                            "the OGG is a chain of streams that differ: the first has %d channels at %d Hz, number %zu "
                            "%d at %d Hz",
                            first->channels, first->samplerate, i + 1, info.channels, info.samplerate),
                   smp_hint(err, "make one sound of it: ffmpeg -i IN.ogg OUT.wav");
        if (info.frames < 0 || !smp_add_i64(frames, info.frames, &frames))
            return smp_fail(err, SMP_E_DECODE, "the %s says that it has more frames than can be counted",
                            reader->format->name);
    }
    if (code == SMP_OK && s->link_count > 1) {
        SF_INFO again;
        code = open_link(reader, s, 0, &again, err);
    }
    first->frames = frames;
    return code;
}

/* All pages of a Vorbis or an Opus, or a part of an Opus; a part of a Vorbis begins with samples that it has not. */
static smp_code keep_coded(smp_reader *reader, const smp_sndfile *s, int type, smp_error *err)
{
    const smp_read_want *want = &reader->options.want;
    smp_media *media = &reader->media;
    const smp_ogg_link *link = s->links;
    const uint64_t size = link->to - link->from;
    media->copies &= s->link_count == 1 && (type == SMP_SOUND_OPUS || type == SMP_SOUND_VORBIS);
    media->cuts = media->copies && type == SMP_SOUND_OPUS;
    if (!want->coded || !(want->part ? media->cuts : media->copies))
        return SMP_OK;
    if (want->part) {
        smp_bytes part = {0};
        const int64_t fine = 48000 / (int64_t)media->shape.rate;
        const bool memory = smp_opus_cut(&reader->source, link, media->shape.height * fine, want->from * fine,
                                         want->part * fine, &reader->notes, &part);
        media->coded = (smp_blob){part.data, part.size};
        return memory ? SMP_OK : smp_fail_memory(err, "an OGG", part.size);
    }
    SMP_NEED(media->coded.data = smp_alloc_raw(size), "an OGG", size, err);
    media->coded.size = smp_sound_look(&reader->source, link->from, media->coded.data, size) ? size : 0;
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    SF_INFO info = {0};
    SMP_TRY(smp_source_spool(source, err)); /* the library seeks */
    if (reader->format == &smp_format_ogg)
        SMP_TRY(smp_ogg_check_end(source, err));
    smp_sndfile *s = reader->state = smp_alloc(sizeof *s);
    SMP_NEED(s && (s->buffer = smp_alloc_raw(SMP_SNDFILE_SAMPLES * sizeof(float))), "a sound", sizeof *s, err);
    s->source = source;
    SMP_TRY(open_links(reader, s, &info, err));
    const int type = info.format & SF_FORMAT_SUBMASK;
    SMP_TRY(smp_sound_header(reader, info.frames, info.channels, info.samplerate, type, err));
    s->real = !smp_sound_bits(type);
    s->order = type == SMP_SOUND_VORBIS || type == SMP_SOUND_OPUS ? smp_vorbis_order(info.channels) : NULL;
    reader->media.meta.coding.sound.mask = info.channels > 2 ? smp_usual_speakers(info.channels) : 0;
    const uint64_t position = source->position;
    smp_code code = SMP_OK;
    if (reader->format == &smp_format_ogg)
        code = smp_sound_take_ogg(reader, s->links[0].from, s->links[0].to, err);
    else if (reader->format == &smp_format_flac)
        code = smp_sound_take_flac(reader, err);
    if (reader->format == &smp_format_ogg) {
        smp_sound_note_behind(reader, s->links[s->link_count - 1].to);
        code = code ? code : keep_coded(reader, s, type, err);
    }
    smp_sound_describe(&reader->media, NULL);
    return code != SMP_OK || smp_source_seek(source, position) ? code : smp_source_ended(source, err);
}

/* A link was read to its end: checks the MD5 of its samples. */
static smp_code end_link(smp_reader *reader, smp_sndfile *s, smp_error *err)
{
    unsigned char found[16];
    smp_md5_end(&s->md5, found);
    if (s->verify && memcmp(found, s->info.md5, sizeof found) != 0) {
        smp_fail(err, SMP_E_DECODE, "the %s is damaged: its samples do not have the MD5 that it was written with",
                 reader->format->name);
        return smp_hint(err, "copy or download it again, or read it all the same with --no-verify");
    }
    SF_INFO info;
    return s->at_link + 1 < s->link_count ? open_link(reader, s, s->at_link + 1, &info, err) : SMP_OK;
}

/* Reports a second FLAC after the first, which no library reads. */
static smp_code refuse_second(smp_reader *reader, smp_error *err)
{
    enum { BACK = 1 << 17 /* the most bytes that the library reads ahead */, PIECE = 1 << 16, MARK = 8 };
    smp_source *source = &reader->source;
    if (reader->format != &smp_format_flac || source->position >= source->size + BACK)
        return SMP_OK;
    uint8_t *piece = smp_alloc_raw(PIECE);
    SMP_NEED(piece, "what follows a FLAC", PIECE, err);
    uint64_t at = source->position > BACK ? source->position - BACK : MARK, second = 0;
    while (!second && at + MARK < source->size) {
        const size_t n = (size_t)smp_min_u64(source->size - at, PIECE);
        if (!smp_sound_look(source, at, piece, n))
            break;
        const uint8_t *end = piece + n, *next = piece;
        while (!second && end - next >= MARK && (next = memchr(next, 'f', (size_t)(end - next - (MARK - 1))))) {
            if (memcmp(next, "fLaC", 4) == 0 && (next[4] & 0x7F) == 0 && smp_get_be(next + 5, 3) == SMP_FLAC_INFO)
                second = at + (uint64_t)(next - piece);
            next++;
        }
        at += n - (MARK - 1);
    }
    smp_free(piece);
    if (!second)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "a second FLAC follows the first, at byte %llu", (unsigned long long)second);
    return smp_hint(err, "make one sound of them: sox FIRST.flac SECOND.flac OUT.flac");
}

/* The library's samples as frames, each channel where it belongs. */
static void put_frames(const smp_sndfile *s, char *to, int64_t stride, int64_t n, int channels)
{
    const int *codes = (const int *)(const void *)s->buffer;
    const bool packed = !s->order && (n == 1 || stride == channels * (int64_t)sizeof(float));
    if (packed && s->real) {
        memcpy(to, s->buffer, (size_t)(n * channels) * sizeof(float));
    } else if (packed) {
        float *restrict frames = (float *)(void *)to;
        for (int64_t i = 0; i < n * channels; i++)
            frames[i] = (float)codes[i] * 0x1p-31f;
    } else {
        for (int64_t i = 0; i < n; i++) {
            float *frame = (float *)(void *)(to + i * stride);
            for (int c = 0; c < channels; c++) {
                const int64_t from = i * channels + (s->order ? s->order[c] : c);
                frame[c] = s->real ? s->buffer[from] : (float)codes[from] * 0x1p-31f;
            }
        }
    }
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    smp_sndfile *s = reader->state;
    const int channels = reader->media.shape.channels;
    const int64_t most = SMP_SNDFILE_SAMPLES / channels;
    for (int64_t y = 0, n; y < rows; y += n) {
        while (!s->left) {
            SMP_TRY(end_link(reader, s, err));
            if (!s->left && s->at_link + 1 == s->link_count) /* it held more when the header was read */
                return smp_fail(err, SMP_E_DECODE, "the %s ends early: it has changed since it was opened",
                                reader->format->name);
        }
        n = smp_min_i64(smp_min_i64(rows - y, most), s->left);
        int *codes = (int *)(void *)s->buffer;
        sf_count_t got = s->real ? sf_readf_float(s->file, s->buffer, n) : sf_readf_int(s->file, codes, n);
        int number = sf_error(s->file);
        if (reader->source.failed || reader->source.over_limit)
            return smp_source_ended(&reader->source, err);
        if (got < n || number) {
            smp_fail(err, SMP_E_DECODE, "the %s is truncated or damaged after frame %lld of %lld", reader->format->name,
                     (long long)(reader->next_row + y + (got > 0 ? got : 0)), (long long)reader->media.shape.height);
            return smp_sound_hint_saved(err);
        }
        s->left -= n;
        if (s->verify)
            smp_flac_md5_add(&s->md5, codes, n * channels, s->info.bits);
        put_frames(s, (char *)to + y * stride, stride, n, channels);
    }
    return SMP_OK;
}

static smp_code read_end(smp_reader *reader, smp_error *err)
{
    SMP_TRY(end_link(reader, reader->state, err));
    return refuse_second(reader, err);
}

static void read_close(smp_reader *reader)
{
    smp_sndfile *s = reader->state;
    if (s->file)
        sf_close(s->file);
    smp_free_all(s->buffer, s->links, s);
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
static smp_code read_rows(smp_reader *reader, void *, int64_t, int64_t, smp_error *err)
{
    return missing(SMP_E_READ, reader->format->name, err);
}
static smp_code read_end(smp_reader *reader, smp_error *err)
{
    return missing(SMP_E_READ, reader->format->name, err);
}
static void read_close(smp_reader *) {}
smp_code smp_sndfile_write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    return missing(SMP_E_WRITE, writer->format->name, err);
}
smp_code smp_sndfile_write_rows(smp_writer *writer, const void *, int64_t, int64_t, smp_error *err)
{
    return missing(SMP_E_WRITE, writer->format->name, err);
}
smp_code smp_sndfile_write_end(smp_writer *writer, smp_error *err)
{
    return missing(SMP_E_WRITE, writer->format->name, err);
}
void smp_sndfile_write_close(smp_writer *) {}

#endif

const smp_file_format smp_format_flac = {
    .name = "FLAC",
    .extensions = flac_extensions,
    .takes = (const smp_write_takes[]){{&smp_write_samples, SMP_WORDS_PCM}, {0}},
    .kind = SMP_AUDIO,
    .sniff = sniff_flac,
    SMP_READS(rows),
    .read_end = read_end,
    .read_close = read_close,
    .write_shape = limited_shape,
    .open_end = true,
    .write_open = smp_sndfile_write_open,
    .write_rows = smp_sndfile_write_rows,
    .write_end = smp_sndfile_write_end,
    .write_close = smp_sndfile_write_close,
};

static bool keeps(const smp_write_options *options, const smp_media *media, int type)
{
    return !strcmp(media->file_format, "OGG") && smp_coding_sound(&media->meta.coding)->type == type &&
           !smp_write_value(&options->values, &smp_write_quality) &&
           !smp_write_value(&options->values, &smp_write_bitrate);
}

static bool keeps_vorbis(const smp_write_options *options, const smp_media *media)
{
    return keeps(options, media, SMP_SOUND_VORBIS);
}

static bool keeps_opus(const smp_write_options *options, const smp_media *media)
{
    return keeps(options, media, SMP_SOUND_OPUS);
}

const smp_file_format smp_format_ogg = {
    .name = "OGG",
    .extensions = ogg_extensions,
    .takes = (const smp_write_takes[]){{&smp_write_quality}, {&smp_write_bitrate}, {0}},
    .kind = SMP_AUDIO,
    .sniff = sniff_ogg,
    SMP_READS(rows),
    .read_end = read_end,
    .read_close = read_close,
    .write_shape = limited_shape,
    .confined = true,
    .open_end = true,
    .keeps_coded = keeps_vorbis,
    .write_open = smp_sndfile_write_open,
    .write_rows = smp_sndfile_write_rows,
    .write_end = smp_sndfile_write_end,
    .write_close = smp_sndfile_write_close,
};

/* Written as plain WAV. */
const smp_file_format smp_format_coded_wav = {
    .name = "coded WAV",
    .extensions = (const char *const[]){"wav", NULL},
    .kind = SMP_AUDIO,
    .sniff = sniff_coded,
    SMP_READS(rows),
    .read_end = read_end,
    .read_close = read_close,
};

/* Read as OGG, which comes after this in the list. */
const smp_file_format smp_format_opus = {
    .name = "Opus",
    .extensions = opus_extensions,
    .takes = (const smp_write_takes[]){{&smp_write_bitrate}, {0}},
    .kind = SMP_AUDIO,
    .write_shape = opus_shape,
    .confined = true,
    .open_end = true,
    .keeps_coded = keeps_opus,
    .write_open = smp_sndfile_write_open,
    .write_rows = smp_sndfile_write_rows,
    .write_end = smp_sndfile_write_end,
    .write_close = smp_sndfile_write_close,
};
