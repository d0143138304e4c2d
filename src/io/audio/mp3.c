/* MPEG sound, layers 1 to 3 (MP3), through libmpg123, which sees the file only through callbacks. What it would leave
 * out without a word is found by mp3_frames.c before. The library's portable decoder is taken, and not the one for the
 * processor at hand: they differ in the last bits. */
#include "io/audio/mp3_frames.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/sndfile.h"
#include "io/audio/tags.h"

#ifdef SMP_HAVE_MPG123
#include <mpg123.h>

enum {
    SAMPLES = 8192 /* of the buffer */,
    RESYNC = 1 << 16 /* bytes */,
    LATE = 1 << 14 /* frames of a gap at an end */
};

typedef struct mp3 {
    mpg123_handle *handle;
    smp_source *source;
    /* At `begin` of the file `gap` bytes are passed over, and from `end` on the library sees none. */
    uint64_t begin, gap, end;
    uint64_t promise; /* where it sees `frames` in place of what the file promises; 0: nowhere */
    uint8_t frames[4];
    float *buffer; /* SAMPLES floats */
    int64_t have;  /* frames in it, */
    int64_t at;    /* and how many of them are taken */
    bool ended;    /* the library has no more */
} mp3;

static ssize_t source_read(void *user, void *to, size_t size)
{
    const mp3 *m = user;
    smp_source *source = m->source;
    if (source->position == m->begin && m->gap)
        smp_source_skip(source, m->gap);
    const uint64_t end = source->position < m->begin ? m->begin : m->end;
    const size_t most = source->position < end ? (size_t)smp_min_u64(size, end - source->position) : 0;
    const uint64_t at = source->position;
    const size_t got = smp_source_read(source, to, most);
    for (size_t i = 0; m->promise && i < sizeof m->frames; i++)
        if (m->promise + i >= at && m->promise + i - at < got)
            ((uint8_t *)to)[m->promise + i - at] = m->frames[i];
    return source->failed || source->over_limit ? -1 : (ssize_t)got;
}

static off_t source_seek(void *user, off_t offset, int whence)
{
    const mp3 *m = user;
    const int64_t at = (int64_t)m->source->position, gap = (int64_t)m->gap, begin = (int64_t)m->begin;
    const int64_t from = whence == SEEK_CUR   ? (at > begin ? at - gap : at)
                         : whence == SEEK_END ? (int64_t)m->end - gap
                                              : 0;
    int64_t to;
    if (!smp_add_i64(from, offset, &to) || to < 0)
        return -1;
    return smp_source_seek(m->source, (uint64_t)(to < begin ? to : to + gap)) ? (off_t)to : -1;
}

static smp_code fail_library(smp_reader *reader, const mp3 *m, smp_error *err)
{
    if (reader->source.failed || reader->source.over_limit)
        return smp_source_ended(&reader->source, err);
    smp_fail(err, SMP_E_DECODE, "the MP3 is damaged, or this libmpg123 cannot read it: %s", mpg123_strerror(m->handle));
    return smp_hint(err, "try another decoder: ffmpeg -i IN.mp3 OUT.flac");
}

/* Tags in front, of which the first comes first, and behind. */
static smp_code take_tags(smp_reader *reader, smp_error *err)
{
    uint8_t head[10];
    uint64_t begins[SMP_MOST_ID3], at = 0, size;
    int count = 0;
    smp_code code = smp_tail_tags_take(reader, err);
    while (count < SMP_MOST_ID3 && at < reader->id3 && smp_sound_look(&reader->source, at, head, sizeof head) &&
           (size = smp_id3_size(head, sizeof head))) {
        begins[count++] = at;
        at += size;
    }
    while (!code && count--)
        code = smp_id3_take(reader, begins[count], "other tag", err);
    return code ? code : smp_id3v1_take(reader, err);
}

static smp_code open_library(smp_reader *reader, mp3 *m, smp_error *err)
{
    int number;
    const long flags = MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_GAPLESS | MPG123_SKIP_ID3V2;
    m->handle = mpg123_new("generic", &number);
    if (!m->handle)
        return smp_fail(err, SMP_E_READ, "libmpg123 does not work: %s", mpg123_plain_strerror(number));
    if (!smp_source_seek(&reader->source, 0) || mpg123_param(m->handle, MPG123_ADD_FLAGS, flags, 0) != MPG123_OK ||
        mpg123_param(m->handle, MPG123_RESYNC_LIMIT, RESYNC, 0) != MPG123_OK ||
        mpg123_replace_reader_handle(m->handle, source_read, source_seek, NULL) != MPG123_OK ||
        mpg123_open_handle(m->handle, m) != MPG123_OK || mpg123_scan(m->handle) != MPG123_OK)
        return fail_library(reader, m, err);
    return SMP_OK;
}

/* All frames, where nothing lies between them, or those of a part. */
static smp_code keep_coded(smp_reader *reader, const smp_mp3_chain *chain, smp_error *err)
{
    smp_blob *coded = &reader->media.coded;
    const smp_read_want *want = &reader->options.want;
    reader->media.copies = reader->media.cuts =
        chain->first.layer == 3 && chain->last - chain->begin == chain->coded && !reader->options.no_verify;
    if (!want->coded || !reader->media.copies)
        return SMP_OK;
    if (want->part) {
        smp_bytes part = {0};
        const bool memory = smp_mp3_cut(&reader->source, chain, reader->media.shape.height, want->from, want->part,
                                        &reader->notes, &part);
        *coded = (smp_blob){part.data, part.size};
        return memory ? SMP_OK : smp_fail_memory(err, "an MP3", part.size);
    }
    SMP_NEED(coded->data = smp_alloc_raw(chain->coded), "an MP3", chain->coded, err);
    coded->size = smp_sound_look(&reader->source, chain->begin, coded->data, chain->coded) ? chain->coded : 0;
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    static const int types[] = {SMP_SOUND_MPEG_1, SMP_SOUND_MPEG_2, SMP_SOUND_MPEG_3};
    smp_mp3_chain chain;
    SMP_TRY(smp_source_spool(&reader->source, err)); /* the length is known only at the end */
    const bool saves = reader->options.no_verify;
    SMP_TRY(smp_mp3_walk(&reader->source, reader->id3, saves, &chain, &reader->notes, err));
    mp3 *m = reader->state = smp_alloc(sizeof *m);
    SMP_NEED(m && (m->buffer = smp_alloc_raw(SAMPLES * sizeof *m->buffer)), "a sound", SAMPLES * sizeof *m->buffer,
             err);
    m->source = &reader->source;
    m->begin = reader->id3;
    m->gap = chain.begin - reader->id3;
    m->end = chain.end;
    m->promise = chain.promise;
    smp_put_be(m->frames, (uint64_t)chain.frames, sizeof m->frames);
    SMP_TRY(open_library(reader, m, err));
    long rate;
    int channels, encoding;
    if (mpg123_getformat(m->handle, &rate, &channels, &encoding) != MPG123_OK)
        return fail_library(reader, m, err);
    const int64_t all = chain.frames * chain.first.samples, frames = mpg123_length(m->handle);
    if (rate != chain.first.rate || channels != chain.first.channels || encoding != MPG123_ENC_FLOAT_32 ||
        frames > all || frames < all - LATE)
        return smp_fail(err, SMP_E_DECODE,
                        "the MP3 has %lld frames of sound, of which libmpg123 finds %lld: it is damaged",
                        (long long)all, (long long)frames);
    SMP_TRY(smp_sound_header(reader, frames, channels, (double)rate, types[chain.first.layer - 1], err));
    smp_sound_describe(&reader->media, NULL);
    const uint64_t position = reader->source.position;
    smp_code code = take_tags(reader, err);
    code = code ? code : keep_coded(reader, &chain, err);
    return code || smp_source_seek(&reader->source, position) ? code : smp_source_ended(&reader->source, err);
}

/* The next frames into the buffer. */
static smp_code fill(smp_reader *reader, mp3 *m, smp_error *err)
{
    size_t bytes = 0;
    int answer = MPG123_OK;
    while (!bytes && (answer == MPG123_OK || answer == MPG123_NEW_FORMAT)) {
        long rate = 0;
        int channels = 0, encoding = 0;
        answer = mpg123_read(m->handle, (unsigned char *)m->buffer, SAMPLES * sizeof *m->buffer, &bytes);
        if (answer == MPG123_NEW_FORMAT &&
            (mpg123_getformat(m->handle, &rate, &channels, &encoding) != MPG123_OK ||
             (double)rate != reader->media.shape.rate || channels != reader->media.shape.channels))
            return smp_fail(err, SMP_E_DECODE, "the MP3's rate or channels change after frame %lld",
                            (long long)reader->next_row);
    }
    m->ended = answer == MPG123_DONE;
    if (answer != MPG123_OK && answer != MPG123_NEW_FORMAT && !m->ended)
        return fail_library(reader, m, err);
    m->have = (int64_t)(bytes / sizeof *m->buffer) / reader->media.shape.channels;
    m->at = 0;
    return SMP_OK;
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    mp3 *m = reader->state;
    const size_t frame = (size_t)reader->media.shape.channels * sizeof(float);
    for (int64_t y = 0; y < rows;) {
        if (m->at == m->have) {
            SMP_TRY(m->ended ? SMP_OK : fill(reader, m, err));
            if (m->at == m->have && m->ended)
                return smp_fail(err, SMP_E_DECODE, "the MP3 is truncated or damaged after frame %lld of %lld",
                                (long long)(reader->next_row + y), (long long)reader->media.shape.height),
                       smp_sound_hint_saved(err);
        }
        const int64_t n = smp_min_i64(rows - y, m->have - m->at);
        const float *from = m->buffer + m->at * reader->media.shape.channels;
        for (int64_t i = 0; i < n; i++, y++)
            memcpy((char *)to + y * stride, from + i * reader->media.shape.channels, frame);
        m->at += n;
    }
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    mp3 *m = reader->state;
    if (m->handle)
        mpg123_delete(m->handle);
    smp_free_all(m->buffer, m);
}

#else

static smp_code missing(smp_error *err)
{
    smp_fail(err, SMP_E_READ, "this build reads no MP3: it was made without libmpg123");
    return smp_hint(err,
                    "install libmpg123-dev and build again, or pipe it: ffmpeg -i IN.mp3 -f wav - | smempipe ... -");
}
static smp_code read_open(smp_reader *, smp_error *err)
{
    return missing(err);
}
static smp_code read_rows(smp_reader *, void *, int64_t, int64_t, smp_error *err)
{
    return missing(err);
}
static void read_close(smp_reader *) {}

#endif

#ifdef SMP_HAVE_SNDFILE_MPEG
static smp_code write_shape(const smp_file_format *, const char *extension, smp_shape *shape, smp_error *err)
{
    static const int rates[] = {8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000};
    if (extension && !strcmp(extension, "mp2"))
        return smp_fail(err, SMP_E_WRITE, "an .mp2 holds MPEG layer II, and only layer III can be written"),
               smp_hint(err, "write an .mp3 (--to mp3 for many files); ffmpeg -i IN.mp3 OUT.mp2 makes an .mp2 of it");
    if (shape->channels > 2)
        return smp_fail(err, SMP_E_WRITE, "an MP3 holds one channel or two, not %d", shape->channels),
               smp_hint(err, "end the pipeline with `remix stereo`, or write another format");
    SMP_TRY(smp_sound_can_write("MP3", shape, 2, err));
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (shape->rate == rates[i])
            return SMP_OK;
    const char *rate = shape->rate < 30000 ? "24kHz" : "44.1kHz";
    smp_fail(err, SMP_E_WRITE, "an MP3 cannot have a rate of %.10g Hz", shape->rate);
    return smp_hint(err, "end the pipeline with `resample %s`; smempipe convert has --rate %s", rate, rate);
}
#endif

static bool keeps_coded(const smp_write_options *options, const smp_media *media)
{
    const smp_write_values *values = &options->values;
    return !strcmp(media->file_format, "MP3") && !smp_write_value(values, &smp_write_quality) &&
           !smp_write_value(values, &smp_write_bitrate) && smp_write_value(values, &smp_mp3_vbr) == smp_mp3_vbr.unset;
}

const smp_write_option smp_mp3_vbr = {
    .name = "mp3-vbr",
    .type = SMP_WRITE_NUMBER,
    .min = 0,
    .max = 9,
    .unset = -1,
    .argument = "V",
    .help = "MP3 of LAME's quality -V: 0 is best, 9 smallest; V is --quality {100 - 10 V}; 2 unless said",
    .flags = SMP_WRITE_RARE,
};

const smp_file_format smp_format_mp3 = {
    .name = "MP3",
    .extensions = (const char *const[]){"mp3", "mp2", "mpga", NULL},
    .takes = (const smp_write_takes[]){{&smp_write_quality}, {&smp_write_bitrate}, {&smp_mp3_vbr}, {0}},
    .kind = SMP_AUDIO,
    .id3 = true,
    .sniff = smp_mp3_sniff,
    .find = smp_mp3_find,
    SMP_READS(rows),
    .read_close = read_close,
#ifdef SMP_HAVE_SNDFILE_MPEG
    .write_shape = write_shape,
    .write_open = smp_sndfile_write_open,
    .confined = true,
    .open_end = true,
    .keeps_coded = keeps_coded,
    .write_rows = smp_sndfile_write_rows,
    .write_end = smp_sndfile_write_end,
    .write_close = smp_sndfile_write_close,
#endif
};
