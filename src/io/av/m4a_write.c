/* Writes M4A: AAC by FFmpeg's own encoder, or with --lossless ALAC, in boxes of ours (mp4_write.c). To a pipe goes a
 * whole file, since its sizes stand in front. */
#include <string.h>

#include "base/alloc.h"
#include "io/av/m4a_coded.h"
#include "io/av/mp4_write.h"

static const char *const extensions[] = {"m4a", "m4b", NULL};

#ifdef SMP_HAVE_AV

#include <math.h>

static const smp_av *const av = &smp_av_functions;

enum { MOST_CHANNELS = 8, DEFAULT_QUALITY = 60, LEAST_RATE = 8000 /* bits a second and channel */ };
enum { PACKET_BITS = 6144 /* of AAC and a channel, at most (ISO/IEC 14496-3, 4.5.3.1) */ };

enum { SIDES_50 = 0x607, SIDES_51 = 0x60F };

typedef struct m4a_state {
    AVCodecContext *codec;
    AVFrame *frame;
    AVPacket *packet;
    uint8_t *samples; /* a packet's, a channel behind the other, */
    int have;         /* and frames of them that are there */
    int64_t sent;     /* frames that the encoder has */
    smp_mp4 mp4;
    smp_bytes head, held; /* held: of a pipe the packets */
    bool pipe;
    smp_meta meta;
    smp_sound_over over;
} m4a_state;

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    SMP_TRY(smp_library_need(SMP_LIBRARY_AV, SMP_E_WRITE, err));
    return smp_sound_can_write("M4A", shape, MOST_CHANNELS, err);
}

/* Bits a second of all channels: as asked for, or for a quality; 16 to 160 kbit/s a channel, 64 unless said. */
static int64_t rate_of(const smp_writer *writer)
{
    const smp_write_values *values = &writer->options.values;
    const int asked = smp_write_value(values, &smp_write_bitrate),
              quality = smp_write_value(values, &smp_write_quality);
    const double each = 16000 * pow(10, (quality ? quality : DEFAULT_QUALITY) / 100.),
                 channels = writer->shape.channels;
    const double most = floor(PACKET_BITS * writer->shape.rate / SMP_AAC_PACKET) * channels;
    const double rate = asked ? asked * 1000. : each * channels;
    return (int64_t)fmin(fmax(rate, LEAST_RATE * channels), most);
}

static int bits_of(int type)
{
    const int bits = smp_sound_bits(type);
    return smp_sound_coded(type) || (bits && bits <= 16) ? 16 : 24;
}

static smp_code check_options(const smp_writer *writer, bool alac, smp_error *err)
{
    const smp_write_values *values = &writer->options.values;
    const int quality = smp_write_value(values, &smp_write_quality), rate = smp_write_value(values, &smp_write_bitrate);
    if ((alac || quality) && (rate || (alac && quality)))
        return smp_fail(err, SMP_E_USAGE, "--%s and --%s exclude each other", alac ? "lossless" : "quality",
                        rate ? "bitrate" : "quality");
    return SMP_OK;
}

/* Opens the encoder for speakers at these places. */
static bool open_for(const smp_writer *writer, m4a_state *s, const AVCodec *coder, uint32_t mask)
{
    av->avcodec_free_context(&s->codec);
    AVCodecContext *codec = s->codec = av->avcodec_alloc_context3(coder);
    if (!codec || av->av_channel_layout_from_mask(&codec->ch_layout, mask) < 0)
        return false;
    codec->sample_rate = s->mp4.rate;
    codec->sample_fmt = !s->mp4.alac ? AV_SAMPLE_FMT_FLTP : s->mp4.bits == 16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P;
    codec->bits_per_raw_sample = s->mp4.alac ? s->mp4.bits : 0;
    codec->bit_rate = s->mp4.alac ? 0 : rate_of(writer);
    codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    codec->thread_count = 1;
    return av->avcodec_open2(codec, coder, NULL) >= 0 && codec->frame_size > 0;
}

static smp_code open_coder(smp_writer *writer, m4a_state *s, smp_error *err)
{
    const char *name = s->mp4.alac ? "ALAC" : "AAC";
    const AVCodec *coder = av->avcodec_find_encoder_by_name(s->mp4.alac ? "alac" : "aac");
    const uint32_t mask = smp_sound_unusual(writer), usual = smp_usual_speakers(s->mp4.channels);
    if (!coder)
        return smp_fail(err, SMP_E_WRITE, "this machine's FFmpeg has no encoder of %s", name);
    const bool sides = mask == SIDES_50 || mask == SIDES_51; /* AAC says that they are behind */
    const bool kept = mask && !sides && open_for(writer, s, coder, mask);
    if (mask && !kept)
        smp_sound_note_speakers(writer, false);
    if (!kept && !open_for(writer, s, coder, usual))
        return smp_fail(err, SMP_E_WRITE, "FFmpeg's encoder of %s takes no %d channels at %d Hz", name, s->mp4.channels,
                        s->mp4.rate),
               smp_hint(err, s->mp4.alac ? "end the pipeline with `remix stereo`, or write a .flac"
                                         : "end the pipeline with `resample 48kHz`, or write without loss: --lossless");
    if (smp_write_value(&writer->options.values, &smp_write_bitrate))
        smp_sound_note_bitrate(writer, (int)((s->codec->bit_rate + 500) / 1000));
    s->mp4.packet = (uint32_t)s->codec->frame_size;
    s->mp4.priming = s->codec->initial_padding;
    s->mp4.config = s->codec->extradata;
    s->mp4.config_size = (size_t)s->codec->extradata_size;
    s->frame = av->av_frame_alloc();
    s->packet = av->av_packet_alloc();
    SMP_NEED(s->frame && s->packet, "an encoder", 1, err);
    return SMP_OK;
}

/* A text without a name among iTunes' items is one of its own name. */
static bool holds_any(const smp_meta *, const struct smp_text *)
{
    return true;
}

static void note_pictures(smp_writer *writer, const smp_meta *meta)
{
    bool lost = false;
    for (size_t i = 0; meta && i < meta->attached_count; i++) {
        const smp_attached *one = &meta->attached[i];
        const bool usual = one == smp_meta_cover(meta) ? one->kind == SMP_FRONT_COVER : !one->kind;
        lost |= !one->frame[0] && (!usual || (one->description && one->description[0]));
    }
    if (lost)
        smp_note(&writer->notes, "kinds and descriptions of its pictures are left out, which an M4A has no place for");
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    m4a_state *s = writer->state;
    const smp_sound *sound = smp_coding_sound(&writer->coding);
    const bool coded = smp_write_value(&writer->options.values, &smp_write_quality) ||
                       smp_write_value(&writer->options.values, &smp_write_bitrate);
    const bool alac = smp_write_value(&writer->options.values, &smp_write_lossless) || (sound->alac && !coded);
    s->mp4 = (smp_mp4){.rate = (int)writer->shape.rate,
                       .channels = writer->shape.channels,
                       .bits = alac ? bits_of(sound->type) : 16,
                       .alac = alac};
    SMP_TRY(check_options(writer, alac, err));
    smp_sound_note_lost(writer, meta, holds_any, true);
    note_pictures(writer, meta);
    smp_mp4_note_chapters(writer, meta);
    if (writer->options.coded.picture)
        return smp_m4a_put_coded(writer, meta, err);
    SMP_TRY(open_coder(writer, s, err));
    if (alac)
        smp_sound_note_type(writer, s->mp4.bits == 16 ? SMP_SOUND_S16 : SMP_SOUND_S24);
    s->samples = smp_alloc_array((size_t)s->mp4.channels * s->mp4.packet, sizeof(float));
    SMP_NEED(s->samples && (!meta || smp_meta_copy(&s->meta, meta)), "a sound", s->mp4.packet * sizeof(float), err);
    s->pipe = !smp_output_seekable(writer->output);
    smp_mp4_put_head(&s->head, 0);
    SMP_NEED(!s->head.failed, "a sound", s->head.size, err);
    return s->pipe ? SMP_OK : smp_output_write(writer->output, s->head.data, s->head.size, err);
}

static smp_code fail_coder(smp_error *err)
{
    return smp_fail(err, SMP_E_WRITE, "FFmpeg's encoder fails");
}

/* Packets that the encoder has ready go to the file. */
static smp_code take_packets(smp_writer *writer, m4a_state *s, smp_error *err)
{
    int got;
    while ((got = av->avcodec_receive_packet(s->codec, s->packet)) >= 0) {
        const size_t size = (size_t)s->packet->size;
        bool memory = smp_grow(&s->mp4.sizes, &s->mp4.capacity, s->mp4.count + 1, sizeof *s->mp4.sizes);
        smp_code code = SMP_OK;
        if (memory)
            s->mp4.sizes[s->mp4.count++] = (uint32_t)size;
        if (s->pipe) {
            smp_bytes_add(&s->held, s->packet->data, size);
            memory = memory && !s->held.failed;
        } else
            code = smp_output_write(writer->output, s->packet->data, size, err);
        av->av_packet_unref(s->packet);
        SMP_TRY(code);
        SMP_NEED(memory, "a file that cannot go to a pipe before it is finished", s->held.size, err);
    }
    return got == AVERROR(EAGAIN) || got == AVERROR_EOF ? SMP_OK : fail_coder(err);
}

static smp_code send(smp_writer *writer, m4a_state *s, smp_error *err)
{
    const size_t bytes = s->mp4.alac && s->mp4.bits == 16 ? sizeof(int16_t) : sizeof(float);
    AVFrame *frame = s->frame;
    frame->format = s->codec->sample_fmt;
    frame->ch_layout = s->codec->ch_layout; /* of a mask: it points at nothing */
    frame->sample_rate = s->mp4.rate;
    frame->nb_samples = s->have;
    frame->pts = s->sent;
    for (int c = 0; c < s->mp4.channels; c++)
        frame->data[c] = s->samples + (size_t)c * s->mp4.packet * bytes;
    frame->linesize[0] = (int)(s->mp4.packet * bytes);
    s->sent += s->have;
    s->have = 0;
    return av->avcodec_send_frame(s->codec, frame) < 0 ? fail_coder(err) : take_packets(writer, s, err);
}

static smp_code write_row(smp_writer *writer, int64_t, const void *from, smp_error *err)
{
    enum { ABOVE = 8 /* bits behind 24 */ };
    m4a_state *s = writer->state;
    const float *row = from;
    for (int c = 0; c < s->mp4.channels; c++) {
        const size_t at = (size_t)c * s->mp4.packet + (size_t)s->have;
        if (!s->mp4.alac)
            ((float *)(void *)s->samples)[at] = smp_sound_finite(row[c], &s->over, &writer->clipped);
        else if (s->mp4.bits == 16)
            ((int16_t *)(void *)s->samples)[at] = (int16_t)smp_sound_round(row[c], 16, &writer->clipped);
        else
            ((int32_t *)(void *)s->samples)[at] = smp_sound_round(row[c], 24, &writer->clipped) * (1 << ABOVE);
    }
    s->have++;
    s->mp4.frames++;
    if (s->mp4.frames == writer->shape.height) /* notes are collected before the file is closed */
        smp_sound_note_over(writer, &s->over);
    return s->have == (int)s->mp4.packet ? send(writer, s, err) : SMP_OK;
}

/* ALAC's last packet has another frame beside one alone: FFmpeg's encoder dies of one with more than two channels, and
 * its reader takes the packets of a sound of one frame for PCM. */
static void put_second(m4a_state *s)
{
    const size_t bytes = s->mp4.bits == 16 ? sizeof(int16_t) : sizeof(int32_t);
    for (int c = 0; c < s->mp4.channels; c++) {
        uint8_t *first = s->samples + (size_t)c * s->mp4.packet * bytes;
        memcpy(first + bytes, first, bytes);
    }
    s->have++;
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    m4a_state *s = writer->state;
    uint64_t bytes = 0;
    smp_bytes index = {0};
    if (!s->codec) /* all was written: smp_m4a_put_coded */
        return SMP_OK;
    smp_sound_note_over(writer, &s->over);
    if (s->mp4.alac && s->have == 1 && (s->mp4.channels > 2 || !s->sent))
        put_second(s);
    SMP_TRY(s->have ? send(writer, s, err) : SMP_OK);
    SMP_TRY(av->avcodec_send_frame(s->codec, NULL) < 0 ? fail_coder(err) : take_packets(writer, s, err));
    if (s->mp4.count * (uint64_t)s->mp4.packet < (uint64_t)(s->mp4.priming + s->mp4.frames))
        return fail_coder(err);
    for (size_t i = 0; i < s->mp4.count; i++)
        bytes += s->mp4.sizes[i];
    s->head.size = 0;
    smp_mp4_put_head(&s->head, bytes);
    if (s->pipe) {
        SMP_TRY(smp_output_write(writer->output, s->head.data, s->head.size, err));
        SMP_TRY(smp_output_write(writer->output, s->held.data, s->held.size, err));
    } else
        SMP_TRY(smp_output_patch(writer->output, 0, s->head.data, s->head.size, err));
    smp_mp4_put_index(&index, &s->mp4, s->head.size, &s->meta);
    smp_code code = index.failed ? smp_fail_memory(err, "a file's index", index.size)
                                 : smp_output_write(writer->output, index.data, index.size, err);
    smp_free(index.data);
    return code;
}

static void write_close(smp_writer *writer)
{
    m4a_state *s = writer->state;
    av->avcodec_free_context(&s->codec);
    av->av_frame_free(&s->frame);
    av->av_packet_free(&s->packet);
    smp_meta_free(&s->meta);
    smp_free_all(s->samples, s->mp4.sizes, s->head.data, s->held.data, s);
}

static bool keeps_coded(const smp_write_options *options, const smp_media *media)
{
    const smp_write_values *values = &options->values;
    return !strcmp(media->file_format, "M4A and video") && !smp_write_value(values, &smp_write_quality) &&
           !smp_write_value(values, &smp_write_bitrate) && !smp_write_value(values, &smp_write_lossless);
}

#endif

/* Its reader is that of films, too (av.c). */
const smp_file_format smp_format_m4a = {
    .name = "M4A",
    .extensions = extensions,
    .kind = SMP_AUDIO,
    .library = SMP_LIBRARY_AV,
    .confined = true,
    .takes = (const smp_write_takes[]){{&smp_write_quality},
                                       {&smp_write_bitrate},
                                       {&smp_write_lossless},
                                       {&smp_write_samples, 1u << SMP_SAMPLES_16 | 1u << SMP_SAMPLES_24},
                                       {0}},
#ifdef SMP_HAVE_AV
    SMP_WRITES(row),
    .write_state = sizeof(m4a_state),
    .open_end = true,
    .keeps_coded = keeps_coded,
    .write_end = write_end,
    .write_close = write_close,
#endif
};
