/* See m4a_coded.h. A frame's samples follow from its packet and the one before it, whose transforms overlap, so that a
 * part begins one packet early. */
#include "io/av/m4a_coded.h"

#ifdef SMP_HAVE_AV

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/av/mp4_write.h"

static const smp_av *const av = &smp_av_functions;

/* Of smp_media.coded: frames that are not heard in front, the sizes of what follows, the coder's description, the sizes
 * of packets in 4 bytes each, and the packets. */
enum { CONFIG_AT = 8, COUNT_AT = 12, HEAD = 16, LEAST_CONFIG = 2, MOST_CONFIG = 64 };

bool smp_m4a_copies(const AVStream *stream, const char *kind)
{
    enum { LOW_COMPLEXITY = 2, RATE_FOLLOWS = 15, SHORTER = 4 /* 960 frames */ };
    const AVCodecParameters *made = stream->codecpar;
    if (strncmp(kind, "mov,", 4) != 0 || made->codec_id != AV_CODEC_ID_AAC || made->extradata_size < LEAST_CONFIG ||
        made->extradata_size > MOST_CONFIG || stream->time_base.num != 1 || stream->time_base.den != made->sample_rate)
        return false;
    const uint32_t config = smp_get_be(made->extradata, 2);
    return config >> 11 == LOW_COMPLEXITY && (config >> 7 & 15) != RATE_FOLLOWS && !(config & SHORTER);
}

static bool next_packet(AVFormatContext *file, int stream, AVPacket *packet)
{
    for (;;) {
        av->av_packet_unref(packet);
        if (av->av_read_frame(file, packet) < 0)
            return false;
        if (packet->stream_index == stream)
            return true;
    }
}

smp_code smp_m4a_keep(AVFormatContext *file, int stream, AVPacket *packet, bool part, int64_t begin, int64_t frames,
                      smp_reader *reader, smp_error *err)
{
    const AVCodecParameters *made = file->streams[stream]->codecpar;
    const int64_t last = (begin + frames - 1) / SMP_AAC_PACKET,
                  first = part ? smp_max_i64(begin / SMP_AAC_PACKET - 1, 0) : 0;
    const size_t sizes = HEAD + (size_t)made->extradata_size;
    smp_bytes out = {0};
    if (begin > last * SMP_AAC_PACKET) { /* FFmpeg leaves a last packet out that begins before the edit */
        smp_sound_note_anew(&reader->notes, true);
        return SMP_OK;
    }
    smp_bytes_be(&out, (uint64_t)(begin - first * SMP_AAC_PACKET), 8);
    smp_bytes_be(&out, (uint64_t)made->extradata_size, 4);
    smp_bytes_be(&out, (uint64_t)(last + 1 - first), 4);
    smp_bytes_add(&out, made->extradata, (size_t)made->extradata_size);
    for (int64_t i = first; i <= last; i++)
        smp_bytes_be(&out, 0, 4);
    int64_t at = 0;
    for (; at <= last && !out.failed && next_packet(file, stream, packet); at++) {
        smp_bytes_add(&out, packet->data, at < first ? 0 : (size_t)packet->size);
        if (at >= first && !out.failed)
            smp_put_be(out.data + sizes + 4 * (at - first), (uint64_t)packet->size, 4);
    }
    av->av_packet_unref(packet);
    reader->media.coded = (smp_blob){out.data, out.size};
    return out.failed   ? smp_fail_memory(err, "an M4A", out.size)
           : at <= last ? smp_source_ended(&reader->source, err)
                        : SMP_OK; /* it was longer when counted */
}

/* The reader is another process, which a stranger's file may have taken over. */
static const uint8_t *unpack(const smp_blob *coded, smp_mp4 *mp4, uint64_t *bytes)
{
    const uint8_t *b = coded->data;
    if (coded->size < HEAD)
        return NULL;
    const uint64_t priming = smp_get_bytes(b, 8, true);
    mp4->config_size = smp_get_be(b + CONFIG_AT, 4);
    mp4->count = smp_get_be(b + COUNT_AT, 4);
    mp4->config = b + HEAD;
    const uint64_t at = HEAD + (uint64_t)mp4->config_size + 4 * (uint64_t)mp4->count;
    const uint64_t played = priming + (uint64_t)mp4->frames, all = mp4->count * (uint64_t)SMP_AAC_PACKET;
    if (mp4->config_size > MOST_CONFIG || !mp4->count || at > coded->size || priming > all || played > all ||
        played + SMP_AAC_PACKET <= all)
        return NULL;
    mp4->priming = (int64_t)priming;
    *bytes = 0;
    for (size_t i = 0; i < mp4->count; i++)
        *bytes += smp_get_be(b + HEAD + mp4->config_size + 4 * i, 4);
    return *bytes == coded->size - at ? b + at : NULL;
}

smp_code smp_m4a_put_coded(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    smp_mp4 mp4 = {.rate = (int)shape->rate, .channels = shape->channels, .bits = 16, .packet = SMP_AAC_PACKET};
    smp_bytes head = {0}, index = {0};
    uint64_t bytes = 0;
    mp4.frames = shape->height;
    const uint8_t *packets = unpack(writer->options.coded.picture, &mp4, &bytes);
    smp_code code = packets ? SMP_OK : smp_fail(err, SMP_E_PROCESS, "the coded sound is not what was asked for");
    if (!code && !(mp4.sizes = smp_alloc_array(mp4.count, sizeof *mp4.sizes)))
        code = smp_fail_memory(err, "an M4A", mp4.count * sizeof *mp4.sizes);
    if (!code) {
        for (size_t i = 0; i < mp4.count; i++)
            mp4.sizes[i] = (uint32_t)smp_get_be(mp4.config + mp4.config_size + 4 * i, 4);
        smp_mp4_put_head(&head, bytes);
        smp_mp4_put_index(&index, &mp4, head.size, meta);
        code = head.failed || index.failed ? smp_fail_memory(err, "a file's index", index.size) : SMP_OK;
    }
    code = code ? code : smp_output_write(writer->output, head.data, head.size, err);
    code = code ? code : smp_output_write(writer->output, packets, (size_t)bytes, err);
    code = code ? code : smp_output_write(writer->output, index.data, index.size, err);
    smp_free_all(mp4.sizes, head.data, index.data);
    return code;
}

#endif
