/* M4A, AAC, and the sound of video files through FFmpeg's libavformat and libavcodec: the best sound of a file, decoded
 * in one thread. Nothing that a file names is opened: it is seen only through callbacks, and its kind is told here, so
 * that no playlist is taken for one. It is decoded twice, since no header says how many frames a decoder gives. */
#include "io/av/av_library.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/flac_stream.h"
#include "io/audio/sound.h"
#include "io/av/m4a_coded.h"
#include "io/av/mp4_tags.h"
#include "io/av/whole.h"

#ifdef SMP_HAVE_AV

static const smp_av *const av = &smp_av_functions;

enum { IO_BUFFER = 1 << 15 /* bytes */ };

typedef struct av_state {
    smp_source *source;
    const char *kind;
    AVIOContext *io;
    AVFormatContext *file;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    int stream;
    int64_t frames; /* of the stream, read so far: frames_of() */
    int at;         /* samples of the frame that are taken */
    bool held;      /* the frame has some */
    bool flushed, ended;
    bool no_verify; /* packets that cannot be decoded are left out, and the sound may end early */
    bool watches;   /* reads the packets of other streams too, for: */
    bool cut;       /* a packet is not whole */
    bool early;     /* the sound ends before its time */
    int64_t broken; /* packets that cannot be decoded */
    double last;    /* seconds from the file's beginning at which the last packet ends */
    smp_inexact inexact;
    int channels, rate;
} av_state;

static int source_read(void *user, uint8_t *to, int size)
{
    smp_source *source = user;
    const size_t got = smp_source_read(source, to, (size_t)size);
    return source->failed || source->over_limit ? AVERROR(EIO) : got ? (int)got : AVERROR_EOF;
}

static int64_t source_seek(void *user, int64_t offset, int whence)
{
    smp_source *source = user;
    if (whence == AVSEEK_SIZE)
        return (int64_t)source->size;
    const int64_t from = whence == SEEK_CUR   ? (int64_t)source->position
                         : whence == SEEK_END ? (int64_t)source->size
                                              : 0;
    int64_t to;
    return smp_add_i64(from, offset, &to) && to >= 0 && smp_source_seek(source, (uint64_t)to) ? to : AVERROR(EINVAL);
}

static smp_code fail_damaged(const av_state *s, const char *what, smp_error *err)
{
    if (s->source->failed || s->source->over_limit)
        return smp_source_ended(s->source, err);
    smp_fail(err, SMP_E_DECODE, "the file is damaged, or FFmpeg cannot read it: %s", what);
    return smp_hint(err, "see what ffmpeg says: ffmpeg -i IN OUT.flac");
}

/* Reports an error of a packet, which is skipped if damaged files are to be read all the same. */
static smp_code fail_packet(av_state *s, smp_error *err)
{
    const bool source = s->source->failed || s->source->over_limit;
    if (s->no_verify && !source) {
        s->broken++;
        return SMP_OK;
    }
    const smp_code code = fail_damaged(s, "a packet of its sound cannot be decoded", err);
    return source ? code : smp_hint_no_verify(err);
}

static void close_file(av_state *s)
{
    av->avcodec_free_context(&s->codec);
    av->avformat_close_input(&s->file);
    if (s->io)
        av->av_free(s->io->buffer);
    av->avio_context_free(&s->io);
    av->av_packet_free(&s->packet);
    av->av_frame_free(&s->frame);
}

static smp_code open_codec(av_state *s, const AVCodec *codec, smp_error *err)
{
    const AVCodecParameters *made = s->file->streams[s->stream]->codecpar;
    if (!(s->codec = av->avcodec_alloc_context3(codec)) || av->avcodec_parameters_to_context(s->codec, made) < 0)
        return smp_fail_memory(err, "a decoder", 1);
    s->codec->thread_count = 1;
    s->codec->pkt_timebase = s->file->streams[s->stream]->time_base;
    s->codec->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    return av->avcodec_open2(s->codec, codec, NULL) < 0 ? fail_damaged(s, "its decoder does not start", err) : SMP_OK;
}

/* Opens the file at its beginning. */
static smp_code open_file(av_state *s, smp_error *err)
{
    const AVCodec *codec = NULL;
    uint8_t *buffer = av->av_malloc(IO_BUFFER);
    if (!smp_source_seek(s->source, 0))
        return smp_source_ended(s->source, err);
    s->frames = 0;
    s->at = 0;
    s->held = s->flushed = s->ended = false;
    s->cut = s->early = false;
    s->broken = 0;
    s->last = 0;
    s->io = buffer ? av->avio_alloc_context(buffer, IO_BUFFER, 0, s->source, source_read, NULL, source_seek) : NULL;
    if (!s->io)
        av->av_free(buffer);
    s->file = av->avformat_alloc_context();
    s->packet = av->av_packet_alloc();
    s->frame = av->av_frame_alloc();
    SMP_NEED(s->io && s->file && s->packet && s->frame, "a decoder", IO_BUFFER, err);
    s->file->pb = s->io;
    s->file->flags |= AVFMT_FLAG_CUSTOM_IO;
    const AVInputFormat *format = av->av_find_input_format(s->kind);
    if (!format || av->avformat_open_input(&s->file, NULL, format, NULL) < 0) /* frees s->file when it fails */
        return fail_damaged(s, "its header is not complete", err);
    for (unsigned i = 0; i < s->file->nb_streams; i++)
        if (s->file->streams[i]->codecpar->codec_type != AVMEDIA_TYPE_AUDIO && !s->watches)
            s->file->streams[i]->discard = AVDISCARD_ALL;
    if (av->avformat_find_stream_info(s->file, NULL) < 0)
        return fail_damaged(s, "its streams are not described", err);
    s->stream = av->av_find_best_stream(s->file, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);
    if (s->stream == AVERROR_STREAM_NOT_FOUND)
        return smp_fail(err, SMP_E_DECODE, "there is no sound in the file"), smp_hint(err, SMP_VIDEO_HINT);
    if (s->stream < 0 || !codec)
        return fail_damaged(s, "this build of it has no decoder for the sound", err);
    for (unsigned i = 0; i < s->file->nb_streams; i++)
        if ((int)i != s->stream && !s->watches)
            s->file->streams[i]->discard = AVDISCARD_ALL;
    return open_codec(s, codec, err);
}

/* Notes what a packet tells about the file's end. */
static void watch(av_state *s)
{
    const AVPacket *packet = s->packet;
    const AVStream *stream = s->file->streams[packet->stream_index];
    const int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    const double begin = s->file->start_time != AV_NOPTS_VALUE ? (double)s->file->start_time / AV_TIME_BASE : 0;
    const double unit = (double)stream->time_base.num / stream->time_base.den;
    s->cut |= (packet->flags & AV_PKT_FLAG_CORRUPT) != 0;
    if (time != AV_NOPTS_VALUE)
        s->last = fmax(s->last, ((double)time + (double)packet->duration) * unit - begin);
}

/* Returns the length of the stream in the file's unit: samples of all channels for PCM, else packets. */
static int64_t frames_of(const av_state *s)
{
    const AVCodecParameters *codec = s->file->streams[s->stream]->codecpar;
    const bool pcm = codec->codec_id >= AV_CODEC_ID_FIRST_AUDIO && codec->codec_id < AV_CODEC_ID_ADPCM_IMA_QT;
    const int whole =
        codec->block_align ? codec->block_align : codec->bits_per_coded_sample / 8 * codec->ch_layout.nb_channels;
    return pcm && whole > 0 ? s->packet->size / whole : 1;
}

/* Gives the decoder the next packet of the stream. */
static smp_code send_packet(av_state *s, smp_error *err)
{
    int got;
    while ((got = av->av_read_frame(s->file, s->packet)) >= 0) {
        watch(s);
        if (s->packet->stream_index == s->stream)
            break;
        av->av_packet_unref(s->packet);
    }
    /* CAF counts samples, with those that are not heard. */
    const int64_t said = strcmp(s->kind, "caf") != 0 ? s->file->streams[s->stream]->nb_frames : 0;
    if (s->source->failed || s->source->over_limit)
        return smp_source_ended(s->source, err);
    s->early = got < 0 && (got != AVERROR_EOF || s->frames < said);
    if (s->early && !s->no_verify) {
        (void)fail_damaged(s, "it is truncated", err);
        return smp_hint_no_verify(err);
    }
    s->frames += got >= 0 ? frames_of(s) : 0;
    s->flushed = got < 0;
    const int sent = av->avcodec_send_packet(s->codec, got < 0 ? NULL : s->packet);
    av->av_packet_unref(s->packet);
    return sent < 0 ? fail_packet(s, err) : SMP_OK;
}

/* The next frame that has samples; s->ended after the last. */
static smp_code next_frame(av_state *s, smp_error *err)
{
    s->held = false;
    while (!s->held && !s->ended) {
        const int got = av->avcodec_receive_frame(s->codec, s->frame);
        smp_code code = SMP_OK;
        if (got == AVERROR_EOF)
            s->ended = true;
        else if (got == AVERROR(EAGAIN) && !s->flushed)
            code = send_packet(s, err);
        else if (got < 0) {
            code = fail_packet(s, err);
            s->ended = s->flushed;
        } else
            s->held = s->frame->nb_samples > 0;
        if (code)
            return code;
    }
    if (s->held && !s->channels) {
        s->channels = s->frame->ch_layout.nb_channels;
        s->rate = s->frame->sample_rate;
    }
    if (s->held && (s->frame->ch_layout.nb_channels != s->channels || s->frame->sample_rate != s->rate))
        return smp_fail(err, SMP_E_DECODE, "the sound changes its rate or its channels on the way");
    s->at = 0;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ opening */

static smp_code count_frames(av_state *s, int64_t *frames, smp_error *err)
{
    *frames = 0;
    smp_code code = SMP_OK;
    while (!code && !s->ended) {
        code = next_frame(s, err);
        *frames += !code && s->held ? s->frame->nb_samples : 0;
    }
    return code;
}

/* The same of what may be copied, without decoding more than how it begins. *skip: frames in front that are not heard.
 */
static smp_code count_coded(av_state *s, int64_t *skip, int64_t *frames, smp_error *err)
{
    SMP_TRY(next_frame(s, err));
    const int64_t first = s->held ? s->frame->nb_samples : 0;
    *skip = s->frames * SMP_AAC_PACKET - first;
    for (*frames = first; av->av_read_frame(s->file, s->packet) >= 0; av->av_packet_unref(s->packet))
        *frames += s->packet->stream_index == s->stream ? SMP_AAC_PACKET : 0;
    return SMP_OK;
}

/* Formats whose header says how many samples there are, which FFmpeg tells in frames. */
static bool counts_frames(const av_state *s)
{
    static const char *const kinds[] = {"au", "nistsphere", "wv", "ape", "tta"};
    const AVRational unit = s->file->streams[s->stream]->time_base;
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        known = known || !strcmp(s->kind, kinds[i]);
    return known && unit.num == 1 && unit.den == s->rate;
}

/* Judges the result of a check: an error, unless damaged files are to be read all the same. */
static smp_code judge(smp_reader *reader, smp_code code, smp_error *found, smp_error *err)
{
    if (code == SMP_E_DECODE && reader->options.no_verify) {
        smp_note(&reader->notes, "%s: what there is of it is read", found->message);
        return SMP_OK;
    }
    if (code == SMP_E_DECODE)
        smp_hint_no_verify(found);
    if (code && err)
        *err = *found;
    return code;
}

static smp_code check_container(smp_reader *reader, const av_state *s, smp_error *err)
{
    smp_error found = {0};
    return judge(reader, smp_av_check_container(&reader->source, s->kind, &found), &found, err);
}

/* Notes what was left out of a damaged file that is read all the same. */
static void note_damage(smp_reader *reader, const av_state *s)
{
    if (s->broken)
        smp_note(&reader->notes, "%lld packet%s of its sound cannot be decoded and %s left out", (long long)s->broken,
                 s->broken == 1 ? "" : "s", s->broken == 1 ? "is" : "are");
}

/* Frames that the header tells of exactly; 0: it does not. */
static int64_t exact_frames(const av_state *s)
{
    const AVStream *stream = s->file->streams[s->stream];
    return counts_frames(s) && stream->duration != AV_NOPTS_VALUE ? stream->duration : 0;
}

/* Returns the longest duration of a packet. Sources: RFC 9639, 8.2 (the largest block of a FLAC); Apple,
 * "ALACMagicCookieDescription". */
static double packet_seconds(const av_state *s)
{
    enum { FLAC_AT = 2, ALAC_AT = 12, ALAC_INFO = 36 };
    const AVCodecParameters *made = s->file->streams[s->stream]->codecpar;
    double samples = fmax(made->frame_size, s->codec->frame_size);
    if (made->codec_id == AV_CODEC_ID_FLAC && made->extradata_size >= SMP_FLAC_INFO)
        samples = smp_get_be(made->extradata + FLAC_AT, 2);
    else if (made->codec_id == AV_CODEC_ID_ALAC && made->extradata_size >= ALAC_INFO)
        samples = smp_get_be(made->extradata + ALAC_AT, 4);
    return fmin(samples / s->rate, 1);
}

static smp_code check_length(smp_reader *reader, const av_state *s, int64_t frames, smp_error *err)
{
    const AVStream *stream = s->file->streams[s->stream];
    const double unit = (double)stream->time_base.num / stream->time_base.den;
    double said = 0;
    if (!s->watches) /* the file is as long as its longest stream, which may be the pictures or another sound */
        said = stream->duration != AV_NOPTS_VALUE ? (double)stream->duration * unit : 0;
    else if (s->file->duration > 0 && s->file->duration_estimation_method == AVFMT_DURATION_FROM_STREAM)
        said = (double)s->file->duration / AV_TIME_BASE;
    const smp_av_seen seen = {
        .kind = s->kind,
        .said = said,
        .last = s->last,
        .packet = packet_seconds(s) + 2 * unit,
        .exact = exact_frames(s),
        .frames = frames,
        .rate = s->rate,
        .cut = s->cut || s->early,
    };
    smp_error found = {0};
    return judge(reader, smp_av_check_length(&reader->source, &seen, &found), &found, err);
}

/* Returns the type of the samples. More than 16 bits, and floats that were coded as such, come from lossless codecs
 * only; 16 bits hold what a lossy one leaves. */
static int type_of(const AVCodecContext *codec)
{
    const enum AVSampleFormat format = codec->sample_fmt;
    if (format == AV_SAMPLE_FMT_S32 || format == AV_SAMPLE_FMT_S32P)
        return codec->bits_per_raw_sample > 0 && codec->bits_per_raw_sample <= 24 ? SMP_SOUND_S24 : SMP_SOUND_S32;
    switch (codec->codec_id) {
    case AV_CODEC_ID_PCM_F32LE:
    case AV_CODEC_ID_PCM_F32BE:
    case AV_CODEC_ID_PCM_F64LE:
    case AV_CODEC_ID_PCM_F64BE:
        return SMP_SOUND_F32;
    case AV_CODEC_ID_ALAC: /* of 16 bits */
        return SMP_SOUND_S16;
    case AV_CODEC_ID_WAVPACK:
        return format == AV_SAMPLE_FMT_FLT || format == AV_SAMPLE_FMT_FLTP ? SMP_SOUND_F32 : SMP_SOUND_VORBIS;
    default:
        return SMP_SOUND_VORBIS;
    }
}

/* Frames without those that fill an MP4's last packet up, which FFmpeg gives: as iTunes says, or the durations. */
static int64_t heard(const av_state *s, int64_t frames)
{
    const bool mp4 = !strncmp(s->kind, "mov,", 4);
    const AVDictionaryEntry *itunes = mp4 ? av->av_dict_get(s->file->metadata, "iTunSMPB", NULL, 0) : NULL;
    unsigned long long said = 0;
    if (!itunes || sscanf(itunes->value, " %*x %*x %*x %llx", &said) != 1)
        said = mp4 ? (unsigned long long)smp_mp4_heard(s->source, s->rate) : 0;
    const bool trims =
        said && said < (uint64_t)frames && (double)(frames - (int64_t)said) < 2 * packet_seconds(s) * s->rate;
    return trims ? (int64_t)said : frames;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    const uint8_t *head;
    const smp_read_want *want = &reader->options.want;
    int64_t frames = 0, skip = 0;
    SMP_TRY(smp_library_need(SMP_LIBRARY_AV, SMP_E_READ, err));
    const size_t size = smp_source_peek(source, &head, SMP_SNIFF);
    const char *name = smp_av_kind(head, size);
    av_state *s = reader->state = smp_alloc(sizeof *s);
    SMP_NEED(s, "a decoder", sizeof *s, err);
    s->source = source;
    s->kind = name;
    s->no_verify = reader->options.no_verify;
    s->watches = strncmp(name, "mov,", 4) != 0; /* whose index is checked */
    smp_code code = source->seekable ? SMP_OK : smp_source_spool(source, err);
    code = code ? code : check_container(reader, s, err);
    code = code ? code : open_file(s, err);
    const bool copies = !code && !s->no_verify && smp_m4a_copies(s->file->streams[s->stream], name),
               coded = copies && want->coded;
    code = code ? code : coded ? count_coded(s, &skip, &frames, err) : count_frames(s, &frames, err);
    reader->media.copies = reader->media.cuts = copies && (coded || frames <= s->frames * SMP_AAC_PACKET) &&
                                                s->rate == s->file->streams[s->stream]->time_base.den;
    if (!code && !frames)
        code = fail_damaged(s, "it holds no sound that can be decoded", err);
    const int64_t said = code ? 0 : exact_frames(s);
    if (said > 0 && frames > said) {
        smp_note(&reader->notes, "its header says %lld frames, and the %lld behind them are not read", (long long)said,
                 (long long)(frames - said));
        frames = said;
    }
    if (!code)
        frames = heard(s, frames);
    SMP_TRY(code ? code : smp_sound_header(reader, frames, s->channels, s->rate, SMP_SOUND_NONE, err));
    const AVChannelLayout *layout = &s->codec->ch_layout;
    const uint32_t mask = layout->order == AV_CHANNEL_ORDER_NATIVE ? (uint32_t)layout->u.mask : 0;
    reader->media.meta.coding.sound.mask = smp_sound_mask_fits(mask, s->channels) ? mask : 0;
    reader->media.meta.coding.sound.type = type_of(s->codec);
    reader->media.meta.coding.sound.alac = s->codec->codec_id == AV_CODEC_ID_ALAC;
    snprintf(reader->media.detail, sizeof reader->media.detail, "%s", s->codec->codec->long_name);
    note_damage(reader, s);
    code = coded ? SMP_OK : check_length(reader, s, frames, err);
    code = code ? code : smp_av_take_tags(reader, s->file, s->stream, s->kind, err);
    close_file(s);
    s->watches = false;
    code = code ? code : open_file(s, err);
    if (code || !coded)
        return code;
    return smp_m4a_keep(s->file, s->stream, s->packet, want->part, skip + (want->part ? want->from : 0),
                        want->part ? want->part : frames, reader, err);
}

/* ------------------------------------------------------------------------------------------------ samples */

static float sample_of(const uint8_t *from, enum AVSampleFormat format, smp_inexact *inexact)
{
    int16_t s16;
    int32_t s32;
    float f32;
    double f64;
    float nearest;
    switch (format) {
    case AV_SAMPLE_FMT_U8:
        return (float)(*from - 128) / 128.f;
    case AV_SAMPLE_FMT_S16:
        memcpy(&s16, from, sizeof s16);
        return (float)s16 / 32768.f;
    case AV_SAMPLE_FMT_S32:
        memcpy(&s32, from, sizeof s32);
        f64 = (double)s32 / 2147483648.;
        nearest = (float)f64;
        smp_inexact_add(inexact, f64, nearest);
        return nearest;
    case AV_SAMPLE_FMT_DBL:
        memcpy(&f64, from, sizeof f64);
        nearest = (float)f64;
        smp_inexact_add(inexact, f64, nearest);
        return nearest;
    default:
        memcpy(&f32, from, sizeof f32);
        return f32;
    }
}

static void copy_samples(av_state *s, char *to, int64_t stride, int64_t count)
{
    const enum AVSampleFormat format = s->frame->format, packed = av->av_get_packed_sample_fmt(format);
    const int size = packed == AV_SAMPLE_FMT_U8    ? 1
                     : packed == AV_SAMPLE_FMT_S16 ? 2
                     : packed == AV_SAMPLE_FMT_DBL ? 8
                                                   : 4;
    for (int c = 0; c < s->channels; c++) {
        const bool planar = packed != format;
        const int64_t step = planar ? size : (int64_t)size * s->channels;
        const uint8_t *from = planar ? s->frame->extended_data[c] : s->frame->extended_data[0] + (int64_t)c * size;
        from += s->at * step;
        for (int64_t i = 0; packed == AV_SAMPLE_FMT_FLT && i < count; i++) /* what most decoders give */
            memcpy(to + i * stride + c * (int64_t)sizeof(float), from + i * step, sizeof(float));
        for (int64_t i = packed == AV_SAMPLE_FMT_FLT ? count : 0; i < count; i++)
            ((float *)(void *)(to + i * stride))[c] = sample_of(from + i * step, packed, &s->inexact);
    }
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    av_state *s = reader->state;
    for (int64_t y = 0, n; y < rows; y += n) {
        while (!s->held || s->at == s->frame->nb_samples) {
            SMP_TRY(next_frame(s, err));
            if (s->ended)
                return fail_damaged(s, "it ends early", err);
        }
        n = smp_min_i64(rows - y, s->frame->nb_samples - s->at);
        copy_samples(s, (char *)to + y * stride, stride, n);
        s->at += (int)n;
    }
    return SMP_OK;
}

static smp_code read_end(smp_reader *reader, smp_error *)
{
    smp_sound_note_inexact(reader, &((const av_state *)reader->state)->inexact);
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    close_file(reader->state);
    smp_free(reader->state);
}

#else

static smp_code read_open(smp_reader *, smp_error *err)
{
    smp_fail(err, SMP_E_READ, "this build reads no M4A and no video: it was made without FFmpeg's libraries");
    return smp_hint(err,
                    "install libavformat-dev and libavcodec-dev and build again, or pipe it: ffmpeg -i IN -f wav - "
                    "| smempipe ... -");
}
static smp_code read_rows(smp_reader *reader, void *, int64_t, int64_t, smp_error *err)
{
    return read_open(reader, err);
}
static smp_code read_end(smp_reader *reader, smp_error *err)
{
    return read_open(reader, err);
}
static void read_close(smp_reader *) {}

#endif

const smp_file_format smp_format_av = {
    .name = "M4A and video",
    .extensions = smp_av_extensions,
    .kind = SMP_AUDIO,
    .library = SMP_LIBRARY_AV,
    .sniff = smp_av_sniff,
    SMP_READS(rows),
    .read_end = read_end,
    .read_close = read_close,
};
