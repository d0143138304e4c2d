/* Sounds whose samples lie in the file as they are: WAV, W64, AIFF, CAF, and those without a header. */

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/sound.h"

enum { PCM_SAMPLES = 8192 /* of a buffer; whole frames of 1, 2, 4 and 8 channels, and nearly whole of others */ };

static int64_t frame_bytes(int type, int channels)
{
    return (int64_t)smp_sound_bits(type) / 8 * channels;
}

smp_code smp_pcm_open_read(smp_reader *reader, int type, bool big, uint64_t data_at, smp_error *err)
{
    smp_source *source = &reader->source;
    smp_pcm *pcm = reader->state = smp_alloc(sizeof *pcm);
    SMP_NEED(pcm && (pcm->buffer = smp_alloc_raw(PCM_SAMPLES * 8)), "a sound", PCM_SAMPLES * 8, err);
    pcm->type = type;
    pcm->big = big;
    pcm->at = data_at;
    reader->frame_bytes = frame_bytes(type, reader->media.shape.channels);
    if (source->seekable ? !smp_source_seek(source, data_at)
                         : smp_source_skip(source, data_at - source->position) != data_at)
        return smp_source_ended(source, err);
    return SMP_OK;
}

/* The sound has so many more rows, and `rest` bytes that are no frame. */
static void end_here(smp_reader *reader, int64_t rows, int rest)
{
    const smp_pcm *pcm = reader->state;
    const uint64_t size = reader->source.position - pcm->at;
    const bool fills = pcm->pad && (uint64_t)rest < pcm->pad && size % pcm->pad == 0;
    reader->end = reader->next_row + rows;
    reader->media.leftover = fills ? 0 : rest;
}

smp_code smp_pcm_read(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    smp_pcm *pcm = reader->state;
    const int channels = reader->media.shape.channels;
    const int64_t frame = frame_bytes(pcm->type, channels), row = smp_row_bytes(&reader->media.shape);
    const int64_t together = rows == 1 || stride == row ? PCM_SAMPLES / channels : 1;
    for (int64_t y = 0; y < rows && reader->end == INT64_MAX; y += together) {
        int64_t n = smp_min_i64(together, rows - y);
        size_t bytes = (size_t)(n * frame);
        const size_t got = smp_source_read(&reader->source, pcm->buffer, bytes);
        if (got != bytes && (!reader->media.open_end || reader->source.failed || reader->source.over_limit))
            return smp_source_ended(&reader->source, err);
        if (got != bytes)
            end_here(reader, y + (n = (int64_t)got / frame), (int)((int64_t)got % frame));
        smp_sound_decode((float *)(void *)((char *)to + y * stride), pcm->buffer, n * channels, pcm->type, pcm->big,
                         &pcm->inexact);
    }
    return SMP_OK;
}

/* Reads a pipe to its end, so that the program before it can finish. */
smp_code smp_pcm_read_end(smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    smp_sound_note_inexact(reader, &((const smp_pcm *)reader->state)->inexact);
    if (source->seekable)
        return SMP_OK;
    const bool all = reader->next_row == reader->media.shape.height;
    const uint8_t *at;
    uint64_t left = 0;
    for (size_t n; (n = smp_source_take(source, &at)) > 0;)
        left += n;
    if (all)
        smp_sound_note_unread(reader, left);
    return source->failed || source->over_limit ? smp_source_ended(source, err) : SMP_OK;
}

void smp_pcm_close_read(smp_reader *reader)
{
    smp_pcm *pcm = reader->state;
    smp_free_all(pcm->buffer, pcm);
}

smp_code smp_pcm_open_write(smp_writer *writer, int type, bool big, smp_error *err)
{
    smp_pcm *pcm = writer->state ? writer->state : smp_alloc(sizeof *pcm);
    writer->state = pcm;
    SMP_NEED(pcm && (pcm->buffer = smp_alloc_raw(PCM_SAMPLES * 8)), "a sound", PCM_SAMPLES * 8, err);
    pcm->type = type;
    pcm->big = big;
    return SMP_OK;
}

smp_code smp_pcm_write(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_pcm *pcm = writer->state;
    const int channels = writer->shape.channels;
    const int64_t frame = frame_bytes(pcm->type, channels), row = smp_row_bytes(&writer->shape);
    const int64_t together = rows == 1 || stride == row ? PCM_SAMPLES / channels : 1;
    for (int64_t y = 0; y < rows; y += together) {
        int64_t n = smp_min_i64(together, rows - y);
        const float *samples = (const float *)(const void *)((const char *)from + y * stride);
        writer->clipped += smp_sound_encode(pcm->buffer, samples, n * channels, pcm->type, pcm->big);
        SMP_TRY(smp_output_write(writer->output, pcm->buffer, (size_t)(n * frame), err));
    }
    return SMP_OK;
}

static uint64_t samples_size(const smp_writer *writer)
{
    const smp_pcm *pcm = writer->state;
    return (uint64_t)writer->shape.height * (uint64_t)frame_bytes(pcm->type, writer->shape.channels);
}

smp_code smp_pcm_write_end(smp_writer *writer, smp_error *err)
{
    const smp_pcm *pcm = writer->state;
    static const uint8_t nothing[8];
    const uint64_t size = samples_size(writer), rest = pcm->pad ? size % pcm->pad : 0;
    smp_code code = rest ? smp_output_write(writer->output, nothing, (size_t)(pcm->pad - rest), err) : SMP_OK;
    if (code == SMP_OK && pcm->tail.size)
        code = smp_output_write(writer->output, pcm->tail.data, pcm->tail.size, err);
    if (code != SMP_OK || !pcm->head.data || !smp_output_seekable(writer->output))
        return code;
    pcm->sizes(writer, pcm->head.data, pcm->head.size, size);
    return smp_output_patch(writer->output, 0, pcm->head.data, pcm->head.size, err);
}

bool smp_pcm_may_have_tail(smp_writer *writer)
{
    const bool may = !writer->options.sound.open_end || smp_output_seekable(writer->output);
    if (!may)
        smp_note(&writer->notes,
                 "tags that belong behind the samples are left out, since their end is not known before");
    return may;
}

void smp_pcm_close_write(smp_writer *writer)
{
    smp_pcm *pcm = writer->state;
    smp_free_all(pcm->buffer, pcm->tail.data, pcm->head.data, pcm);
}

smp_code smp_sound_write_header(smp_writer *writer, smp_bytes *header, smp_sound_sizes *sizes, smp_error *err)
{
    smp_pcm *pcm = writer->state;
    if (!header->failed)
        sizes(writer, header->data, header->size, samples_size(writer));
    const smp_code code = header->failed ? smp_fail_memory(err, "a header", header->size)
                                         : smp_output_write(writer->output, header->data, header->size, err);
    pcm->sizes = sizes;
    if (writer->options.sound.open_end)
        pcm->head = *header;
    else
        smp_free(header->data);
    return code;
}
