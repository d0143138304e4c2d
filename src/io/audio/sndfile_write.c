/* Writes FLAC, Ogg (Vorbis, Opus) and MP3 through libsndfile: see sndfile.c. Rounds to integers itself
 * (smp_sound_round). */
#include "io/audio/sndfile.h"

#ifdef SMP_HAVE_SNDFILE

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/tags.h"

/* Vorbis I, section 4.3.9, for 3 to 8 channels. */
const uint8_t *smp_vorbis_order(int channels)
{
    static const uint8_t three[] = {0, 2, 1}, five[] = {0, 2, 1, 3, 4}, six[] = {0, 2, 1, 5, 3, 4},
                         seven[] = {0, 2, 1, 6, 5, 3, 4}, eight[] = {0, 2, 1, 7, 5, 6, 3, 4};
    static const uint8_t *const orders[] = {NULL, NULL, NULL, three, NULL, five, six, seven, eight};
    return channels >= 0 && channels <= 8 ? orders[channels] : NULL;
}

/* ------------------------------------------------------------------------------------------------ bytes */

static sf_count_t output_length(void *user)
{
    return ((smp_sndfile *)user)->length;
}

static sf_count_t output_tell(void *user)
{
    return ((smp_sndfile *)user)->position;
}

static sf_count_t output_seek(sf_count_t offset, int whence, void *user)
{
    smp_sndfile *s = user;
    int64_t to;
    if (!smp_add_i64(whence == SEEK_CUR   ? s->position
                     : whence == SEEK_END ? s->length
                                          : 0,
                     offset, &to) ||
        to < 0 || to > s->length)
        return -1;
    return s->position = to;
}

static sf_count_t no_read(void *, sf_count_t, void *)
{
    return 0;
}

/* Bytes at the library's position, where the file is as the library believes. */
static smp_code put_there(smp_sndfile *s, const uint8_t *data, size_t size, int64_t position, int64_t length)
{
    const size_t inside = (size_t)smp_min_i64((int64_t)size, length - position);
    if (smp_output_seekable(s->output)) {
        smp_code code = inside ? smp_output_patch(s->output, (uint64_t)position, data, inside, s->err) : SMP_OK;
        return code != SMP_OK || inside == size ? code
                                                : smp_output_write(s->output, data + inside, size - inside, s->err);
    }
    if (s->streams) /* the header keeps that the length is not known */
        return inside == size ? SMP_OK : smp_output_write(s->output, data + inside, size - inside, s->err);
    if (inside)
        memcpy(s->held.data + position, data, inside);
    smp_bytes_add(&s->held, data + inside, size - inside);
    return s->held.failed
               ? smp_fail_memory(s->err, "a file that cannot go to a pipe before it is finished", s->held.size)
               : SMP_OK;
}

/* Bytes of a FLAC's blocks of metadata, from the beginning of the file; 0: they are not all there yet. */
static size_t flac_blocks(const smp_bytes *head)
{
    size_t at = 4;
    bool last = false;
    while (!last) {
        if (head->failed || head->size < at + 4)
            return 0;
        last = head->data[at] & 0x80;
        at += 4 + smp_get_be(head->data + at + 1, 3);
    }
    return at <= head->size ? at : 0;
}

static void put_block(smp_bytes *out, int kind, bool last, const smp_bytes *body)
{
    enum { MOST = 1 << 24 };
    out->failed |= body->failed || body->size >= MOST;
    smp_bytes_be(out, (uint64_t)(kind | (last ? 0x80 : 0)), 1);
    smp_bytes_be(out, body->size, 3);
    smp_bytes_add(out, body->data, body->size);
}

/* A block of its own for each; the comment follows them. */
static void put_picture(smp_bytes *out, const smp_attached *picture)
{
    enum { PICTURE = 6 };
    smp_bytes body = {0};
    smp_sound_put_picture(&body, picture);
    put_block(out, PICTURE, false, &body);
    smp_free(body.data);
}

/* Puts our comment and pictures in place of what follows the first block. What the library writes behind that moves. */
static smp_code put_flac_head(smp_sndfile *s, size_t blocks)
{
    enum { COMMENT = 4, FIRST = SMP_SNDFILE_PATCH, HEAD = 4, LAST = 0x80 };
    smp_bytes out = {0}, comment = {0};
    const uint8_t *old = s->head.data + FIRST;
    const bool named = blocks >= FIRST + HEAD + 4 && (old[0] & ~LAST) == COMMENT;
    const size_t vendor = named ? smp_get_le(old + HEAD, 4) : 0;
    if (named && vendor <= blocks - FIRST - HEAD - 4)
        smp_bytes_add(&comment, old + HEAD, 4 + vendor);
    else
        smp_bytes_le(&comment, 0, 4);
    smp_bytes_add(&comment, s->comment.data, s->comment.size);
    smp_bytes_add(&out, s->head.data, FIRST);
    if (!out.failed)
        out.data[4] &= (uint8_t)~LAST;
    smp_bytes_add(&out, s->pictures.data, s->pictures.size);
    put_block(&out, COMMENT, true, &comment);
    s->more = (int64_t)out.size - (int64_t)blocks;
    s->more_at = FIRST;
    smp_bytes_add(&out, s->head.data + blocks, s->head.size - blocks);
    smp_code code = out.failed ? smp_fail_memory(s->err, "tags", out.size) : put_there(s, out.data, out.size, 0, 0);
    smp_free_all(out.data, comment.data);
    return code;
}

static smp_code put(smp_sndfile *s, const uint8_t *data, size_t size)
{
    if (s->pages)
        return smp_ogg_pages_put(s->pages, s->output, data, size, s->err);
    if (s->comment.size && !s->more_at) { /* the library writes a FLAC's blocks in order, and goes back at the end */
        smp_bytes_add(&s->head, data, size);
        const size_t blocks = flac_blocks(&s->head);
        return s->head.failed ? smp_fail_memory(s->err, "tags", s->head.size)
               : blocks       ? put_flac_head(s, blocks)
                              : SMP_OK;
    }
    const int64_t length = s->length + s->more;
    return put_there(s, data, size, s->position + (s->position >= s->more_at ? s->more : 0), length);
}

static sf_count_t output_write(const void *from, sf_count_t count, void *user)
{
    smp_sndfile *s = user;
    if (s->code != SMP_OK || count <= 0)
        return 0;
    if (s->pages && s->position != s->length) /* Ogg never seeks back */
        return 0;
    s->code = put(s, from, (size_t)count);
    if (s->code != SMP_OK)
        return 0;
    s->position += count;
    s->length = smp_max_i64(s->length, s->position);
    return count;
}

/* ------------------------------------------------------------------------------------------------ the writer */

static int flac_bits(const smp_sound *sound)
{
    switch (sound->type) {
    case SMP_SOUND_S8:
    case SMP_SOUND_U8:
        return 8;
    case SMP_SOUND_S16:
        return 16;
    default:
        return smp_sound_coded(sound->type) ? 16 : 24;
    }
}

/* ID3 tags go in front of all that the library writes. */
static smp_code put_id3(smp_writer *writer, smp_sndfile *s, const smp_meta *meta, smp_error *err)
{
    smp_bytes out = {0};
    smp_id3_put(&out, meta, smp_sound_seconds(writer), &writer->notes);
    smp_code code = out.failed ? smp_fail_memory(err, "tags", out.size) : put_there(s, out.data, out.size, 0, 0);
    s->more = (int64_t)out.size;
    smp_free(out.data);
    return code;
}

/* A FLAC says in a text where speakers are that are not the usual ones. */
static smp_code take_speakers(const smp_writer *writer, const smp_meta *meta, smp_meta *more, smp_error *err)
{
    char text[16];
    const int length = snprintf(text, sizeof text, "0x%04X", (unsigned)smp_sound_unusual(writer));
    *more = (smp_meta){.srgb_intent = -1};
    if ((!meta || smp_meta_copy(more, meta)) && smp_meta_add_text(more, SMP_FLAC_SPEAKERS, text, (size_t)length))
        return SMP_OK;
    smp_meta_free(more);
    return smp_fail_memory(err, "tags", sizeof *more);
}

/* Takes the metadata to be written, before the library begins. meta: null: none. */
static smp_code take_meta(smp_writer *writer, smp_sndfile *s, const smp_meta *meta, smp_error *err)
{
    bool memory = true;
    if (smp_sound_unusual(writer) && writer->format == &smp_format_flac) {
        smp_meta more;
        SMP_TRY(take_speakers(writer, meta, &more, err));
        smp_sound_put_comments(&s->comment, &more, false);
        smp_meta_free(&more);
    }
    if (s->pages) /* the library's own comment names the library */
        memory = smp_ogg_pages_comment(s->pages, meta, writer->format == &smp_format_opus);
    else if (meta && writer->format == &smp_format_mp3)
        return put_id3(writer, s, meta, err);
    else if (meta) {
        if (!s->comment.size)
            smp_sound_put_comments(&s->comment, meta, false);
        for (size_t i = 0; i < meta->attached_count; i++)
            if (!meta->attached[i].frame[0])
                put_picture(&s->pictures, &meta->attached[i]);
    }
    if (writer->format != &smp_format_mp3)
        smp_sound_note_lost(writer, meta, smp_comment_holds, true);
    memory = memory && !s->comment.failed && !s->pictures.failed;
    return memory ? SMP_OK : smp_fail_memory(err, "tags", s->pictures.size);
}

/* Bits a second and channel: those of the library's compression levels 0 and 1, and what is written. */
static const double OPUS_MOST = 256000, OPUS_LEAST = 6000, OPUS_CHANNEL = 48000;

static void set_opus_rate(smp_writer *writer, SNDFILE *file)
{
    const int channels = writer->shape.channels;
    const int asked = smp_write_value(&writer->options.values, &smp_write_bitrate);
    double each = OPUS_CHANNEL;
    if (asked) {
        each = fmin(fmax(asked * 1000. / channels, OPUS_LEAST), OPUS_MOST);
        smp_sound_note_bitrate(writer, (int)round(each * channels / 1000));
    }
    double level = (OPUS_MOST - each) / (OPUS_MOST - OPUS_LEAST);
    sf_command(file, SFC_SET_COMPRESSION_LEVEL, &level, sizeof level);
}

static smp_code set_vorbis_rate(const smp_writer *writer, SNDFILE *file, smp_error *err)
{
    double quality = smp_write_value(&writer->options.values, &smp_write_quality) / 100.;
    if (smp_write_value(&writer->options.values, &smp_write_bitrate))
        return smp_fail(err, SMP_E_USAGE, "an OGG (Vorbis) has a quality and no bitrate"),
               smp_hint(err, "write --quality 40 for about 128 kbit/s, or make an .opus");
    if (smp_write_value(&writer->options.values, &smp_write_quality))
        sf_command(file, SFC_SET_VBR_ENCODING_QUALITY, &quality, sizeof quality);
    return SMP_OK;
}

#ifdef SMP_HAVE_SNDFILE_MPEG
enum { MP3_QUALITY = 80 /* LAME's V2, about 190 kbit/s for two channels */, MPEG1_LEAST = 32000, MPEG2_LEAST = 16000 };

/* kbit/s, ISO 11172-3 and 13818-3, ascending; MPEG 2.5, of lower sampling rates, has the lower ones of MPEG 2. */
static const int mpeg1_rates[] = {32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
                 mpeg2_rates[] = {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160};
enum { MPEG1_RATES = 14, MPEG2_RATES = 14, MPEG25_RATES = 8 };

/* The library spreads its levels 0 to 1 over the bitrates of the kind of MPEG, from the highest to the lowest, and over
 * LAME's qualities 0 to 9.999. */
static smp_code set_mp3_rate(smp_writer *writer, SNDFILE *file, smp_error *err)
{
    const bool mpeg1 = writer->shape.rate >= MPEG1_LEAST, mpeg2 = writer->shape.rate >= MPEG2_LEAST;
    const int *rates = mpeg1 ? mpeg1_rates : mpeg2_rates,
              wanted = smp_write_value(&writer->options.values, &smp_write_bitrate);
    const int count = mpeg1 ? MPEG1_RATES : mpeg2 ? MPEG2_RATES : MPEG25_RATES;
    const int asked = smp_write_value(&writer->options.values, &smp_write_quality),
              quality = asked ? asked : MP3_QUALITY, vbr = smp_write_value(&writer->options.values, &smp_mp3_vbr);
    if (vbr >= 0 && (asked || wanted))
        return smp_fail(err, SMP_E_USAGE, "--mp3-vbr and --%s exclude each other", wanted ? "bitrate" : "quality");
    int mode = wanted > 0 ? SF_BITRATE_MODE_CONSTANT : SF_BITRATE_MODE_VARIABLE, nearest = rates[0];
    double level = vbr >= 0 ? vbr / 10. : (100 - quality) / 100.;
    for (int i = 0; i < count; i++)
        nearest = abs(rates[i] - wanted) < abs(nearest - wanted) ? rates[i] : nearest;
    if (wanted > 0) {
        smp_sound_note_bitrate(writer, nearest);
        level = (double)(rates[count - 1] - nearest) / (rates[count - 1] - rates[0]);
    }
    sf_command(file, SFC_SET_BITRATE_MODE, &mode, sizeof mode);
    sf_command(file, SFC_SET_COMPRESSION_LEVEL, &level, sizeof level);
    return SMP_OK;
}
#else
static smp_code set_mp3_rate(smp_writer *, SNDFILE *, smp_error *)
{
    return SMP_OK;
}
#endif

static int format_of(const smp_writer *writer, const smp_sndfile *s)
{
    const int subtype = s->bits == 8 ? SF_FORMAT_PCM_S8 : s->bits == 16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24;
    if (writer->format == &smp_format_opus)
        return SF_FORMAT_OGG | SF_FORMAT_OPUS;
    if (writer->format == &smp_format_ogg)
        return SF_FORMAT_OGG | SF_FORMAT_VORBIS;
#ifdef SMP_HAVE_SNDFILE_MPEG
    if (writer->format == &smp_format_mp3)
        return SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
#endif
    return SF_FORMAT_FLAC | subtype;
}

smp_code smp_sndfile_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const bool opus = writer->format == &smp_format_opus, ogg = opus || writer->format == &smp_format_ogg,
               mp3 = writer->format == &smp_format_mp3;
    smp_sndfile *s = writer->state = smp_alloc(sizeof *s);
    if (!s || !(s->buffer = smp_alloc_raw(SMP_SNDFILE_SAMPLES * sizeof(float))) ||
        (ogg && !(s->pages = smp_alloc(sizeof *s->pages))))
        return smp_fail_memory(err, "a sound", SMP_SNDFILE_SAMPLES * sizeof(float));
    s->output = writer->output;
    s->streams = writer->options.sound.live;
    s->err = err;
    s->real = ogg || mp3;
    s->bits = flac_bits(smp_coding_sound(&writer->coding));
    if (!s->real)
        smp_sound_note_type(writer, s->bits == 8 ? SMP_SOUND_S8 : s->bits == 16 ? SMP_SOUND_S16 : SMP_SOUND_S24);
    s->order = ogg ? smp_vorbis_order(writer->shape.channels) : NULL;
    if (ogg)
        smp_sound_note_speakers(writer, false);
    s->code = take_meta(writer, s, writer->options.strip || !smp_sound_tagged(meta) ? NULL : meta, err);
    const smp_blob *coded = writer->options.coded.picture; /* an MP3's frames as they are, or the pages of an OGG */
    if (s->code != SMP_OK || coded)
        return s->code    ? s->code
               : s->pages ? smp_ogg_pages_put(s->pages, s->output, coded->data, coded->size, err)
                          : put_there(s, coded->data, coded->size, 0, 0);
    SF_INFO info = {
        .samplerate = (int)writer->shape.rate, .channels = writer->shape.channels, .format = format_of(writer, s)};
    SF_VIRTUAL_IO io = {output_length, output_seek, no_read, output_write, output_tell};
    s->file = sf_open_virtual(&io, SFM_WRITE, &info, s);
    if (!s->file && s->code == SMP_OK)
        s->code = smp_fail(err, SMP_E_WRITE, "%s %s cannot hold this sound (%d channels at %d Hz): %s",
                           smp_article(writer->format->name), writer->format->name, info.channels, info.samplerate,
                           sf_strerror(NULL));
    if (s->code == SMP_OK && opus)
        set_opus_rate(writer, s->file);
    else if (s->code == SMP_OK && ogg)
        s->code = set_vorbis_rate(writer, s->file, err);
    else if (s->code == SMP_OK && mp3)
        s->code = set_mp3_rate(writer, s->file, err);
    s->err = NULL;
    return s->code;
}

/* Copies frames behind those that the buffer has, in the library's channel order, as its integers. */
static void gather(smp_writer *writer, smp_sndfile *s, const char *from, int64_t stride, int64_t rows)
{
    const int channels = writer->shape.channels;
    int32_t *codes = (int32_t *)(void *)s->buffer;
    for (int64_t i = 0; i < rows; i++) {
        const float *frame = (const float *)(const void *)(from + i * stride);
        for (int c = 0; c < channels; c++) {
            const int64_t to = (s->have + i) * channels + (s->order ? s->order[c] : c);
            if (s->real)
                s->buffer[to] = smp_sound_finite(frame[c], &s->over, &writer->clipped);
            else
                codes[to] = (int32_t)((uint32_t)smp_sound_round(frame[c], s->bits, &writer->clipped) << (32 - s->bits));
        }
    }
}

static smp_code ended(const smp_writer *writer, smp_sndfile *s, bool good, smp_error *err)
{
    s->err = NULL;
    if (s->code != SMP_OK || good)
        return s->code;
    return smp_fail(err, SMP_E_WRITE, "the %s cannot be written: %s", writer->format->name, sf_strerror(s->file));
}

/* The buffer's frames go to the library. */
static smp_code pass_on(smp_writer *writer, smp_sndfile *s, smp_error *err)
{
    const int64_t n = s->have;
    s->have = 0;
    s->err = err;
    const sf_count_t put_rows =
        s->real ? sf_writef_float(s->file, s->buffer, n) : sf_writef_int(s->file, (const int *)(void *)s->buffer, n);
    return ended(writer, s, put_rows == n, err);
}

/* The output of Vorbis depends on the portions that it is given, so they do not depend on strips. */
static int64_t portion_of(const smp_writer *writer)
{
    return smp_min_i64(SMP_SNDFILE_SAMPLES / writer->shape.channels, SMP_SNDFILE_PORTION);
}

smp_code smp_sndfile_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    smp_sndfile *s = writer->state;
    const int64_t portion = portion_of(writer);
    for (int64_t y = 0, n; y < rows; y += n) {
        n = smp_min_i64(rows - y, portion - s->have);
        gather(writer, s, (const char *)from + y * stride, stride, n);
        s->have += n;
        SMP_TRY(s->have == portion ? pass_on(writer, s, err) : SMP_OK);
    }
    s->put += rows;
    if (s->put == writer->shape.height) /* notes are collected before the file is closed */
        smp_sound_note_over(writer, &s->over);
    return SMP_OK;
}

/* The library fills its last packet, which reaches behind the end, with zeros or with samples that were there before.
 * A step at the end is heard before it. So the library gets whole packets, as the sound would go on, and that last one
 * is left out. */
static smp_code end_opus(const smp_writer *writer, smp_sndfile *s, int64_t have, smp_error *err)
{
    enum { PACKET = 960 /* samples, at 48 kHz */ };
    const int channels = writer->shape.channels, fine = 48000 / (int)writer->shape.rate;
    const int64_t past = smp_min_i64(s->put, portion_of(writer)), end = s->put * fine + s->pages->skip,
                  more = (end + PACKET - 1) / PACKET * PACKET / fine - s->put, older = (past - have) * channels;
    float *frames = smp_alloc_array((size_t)((past + more) * channels), sizeof *frames);
    SMP_NEED(frames, "a sound", (size_t)(past + more) * sizeof *frames, err);
    memcpy(frames, s->buffer + have * channels, (size_t)older * sizeof *frames);
    memcpy(frames + older, s->buffer, (size_t)(have * channels) * sizeof *frames);
    const bool memory = smp_sound_predict(frames, past, more, channels);
    s->pages->end = end;
    s->err = err;
    const bool good = memory && sf_writef_float(s->file, frames + past * channels, more) == more;
    smp_free(frames);
    return memory ? ended(writer, s, good, err) : smp_fail_memory(err, "a sound", (size_t)past);
}

smp_code smp_sndfile_write_end(smp_writer *writer, smp_error *err)
{
    smp_sndfile *s = writer->state;
    const int64_t have = s->have;
    smp_sound_note_over(writer, &s->over);
    SMP_TRY(have ? pass_on(writer, s, err) : SMP_OK);
    SMP_TRY(s->file && s->put && writer->format == &smp_format_opus ? end_opus(writer, s, have, err) : SMP_OK);
    s->err = err;
    int failed = s->file ? sf_close(s->file) : 0;
    s->file = NULL;
    smp_code code = ended(writer, s, !failed, err);
    if (code == SMP_OK && s->comment.size && !s->more_at)
        return smp_fail(err, SMP_E_WRITE, "this libsndfile writes no FLAC that tags can be added to");
    if (code == SMP_OK && s->held.size)
        code = smp_output_write(writer->output, s->held.data, s->held.size, err);
    return code;
}

void smp_sndfile_write_close(smp_writer *writer)
{
    smp_sndfile *s = writer->state;
    s->code = s->code ? s->code : SMP_E_WRITE; /* drops what the library still writes */
    if (s->file)
        sf_close(s->file);
    smp_free(s->buffer);
    smp_ogg_pages_free(s->pages);
    smp_free_all(s->comment.data, s->pictures.data, s->head.data, s->held.data, s);
}

#endif
