/* A part of an MP3 as it is coded: see mp3_frames.h. A frame's samples follow from its own data, from the frame before
 * it (its transforms overlap) and from the bits that earlier frames left over for it (the reservoir). So a part begins
 * one frame early, with those bits in a silent frame of its own, and a frame in front of all says how many samples to
 * drop at both ends, as LAME notes its delay and padding. */
#include "io/audio/mp3_frames.h"

#include <string.h>

enum {
    DECODER = 529,              /* samples by which decoders are late, beside the coder's delay */
    MOST_NOTED = (1 << 12) - 1, /* of a delay or a padding */
    RESERVOIR = 511,            /* bytes, and of lower rates, whose frames are shorter, */
    LOW_RESERVOIR = 255,
    /* Where other fields of the tag are, of which all are there, and its bytes: */
    BYTES = 12,
    TOC = 16,
    TOC_SIZE = 100,
    CODER = 120, /* LAME's part, of 36 bytes */
    DELAYS = CODER + 21,
    LENGTH = CODER + 28,
    DATA_SUM = CODER + 32,
    TAG_SUM = CODER + 34,
    TAG_SIZE = CODER + 36
};

typedef struct cutting {
    smp_source *source;
    const smp_mp3_chain *chain;
    uint64_t begin;                  /* of the frames that hold sound */
    uint8_t head[SMP_MP3_HEADER];    /* of the first of them */
    uint8_t coder[TAG_SIZE - CODER]; /* LAME's part; zeros: there is none */
    int64_t skip, end;               /* samples that are played of all */
    bool constant;                   /* frames of the part have one bitrate */
} cutting;

/* Bytes of a frame in front of its bits: header, check sum, side information. */
static size_t head_bytes(const smp_mp3_frame *frame, const uint8_t *bytes)
{
    return smp_mp3_side_bytes(frame) + SMP_MP3_HEADER + (bytes[1] & 1 ? 0U : 2U);
}

static uint16_t sum_of(const uint8_t *at, size_t size)
{
    uint16_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            sum = (uint16_t)(sum & 1 ? sum >> 1 ^ 0xA001 : sum >> 1);
    }
    return sum;
}

/* Which samples are played; false: they are not what the reader found. */
static bool measure(cutting *c, int64_t played)
{
    const smp_mp3_frame *first = &c->chain->first;
    uint8_t frame[SMP_MP3_MOST];
    const size_t size = (size_t)first->bytes;
    int64_t padding = 0;
    c->begin = c->chain->begin;
    if (first->layer != 3 || !smp_sound_look(c->source, c->begin, frame, size))
        return false;
    const size_t at = smp_mp3_tag_at(first, frame, size);
    const uint8_t *tag = frame + at;
    c->begin += at ? size : 0;
    if (at && at + TAG_SIZE <= size && tag[SMP_MP3_TAG_FLAGS + 3] == 15 && tag[CODER]) {
        memcpy(c->coder, tag + CODER, sizeof c->coder);
        c->skip = (tag[DELAYS] << 4 | tag[DELAYS + 1] >> 4) + DECODER;
        padding = (tag[DELAYS + 1] & 15) << 8 | tag[DELAYS + 2];
    }
    c->end = c->chain->frames * first->samples - (padding > DECODER ? padding - DECODER : 0);
    return c->end - c->skip == played && smp_sound_look(c->source, c->begin, c->head, sizeof c->head);
}

/* A frame without sound with room for so many bytes behind its side information, which some bitrate has. */
static size_t put_silent(const cutting *c, size_t room, uint8_t *to)
{
    smp_mp3_frame frame = {.bytes = 0};
    memcpy(to, c->head, SMP_MP3_HEADER);
    to[1] |= 1; /* no check sum */
    for (int rate = 1; rate < 15; rate++) {
        to[2] = (uint8_t)((to[2] & 0x0C) | rate << 4);
        if (smp_mp3_frame_take(&frame, to) && (size_t)frame.bytes >= SMP_MP3_HEADER + smp_mp3_side_bytes(&frame) + room)
            break;
    }
    memset(to + SMP_MP3_HEADER, 0, (size_t)frame.bytes - SMP_MP3_HEADER);
    return (size_t)frame.bytes;
}

static void put_tag(const cutting *c, uint8_t *to, size_t head, size_t size, int64_t frames, int64_t before,
                    int64_t after)
{
    uint8_t *tag = to + SMP_MP3_HEADER + smp_mp3_side_bytes(&c->chain->first);
    smp_mp3_frame frame;
    memcpy(tag, c->constant ? "Info" : "Xing", 4);
    smp_put_be(tag + SMP_MP3_TAG_FLAGS, 15, 4);
    smp_put_be(tag + SMP_MP3_TAG_FRAMES, (uint64_t)frames, 4);
    smp_put_be(tag + BYTES, size, 4);
    int64_t percent = 0, number = 0;
    for (size_t at = head; at < size && smp_mp3_frame_take(&frame, to + at); at += (size_t)frame.bytes, number++)
        for (; percent < TOC_SIZE && percent * frames <= number * TOC_SIZE; percent++)
            tag[TOC + percent] = (uint8_t)(at * 255 / size);
    memcpy(tag + CODER, c->coder[0] ? c->coder : (const uint8_t *)"LAME", c->coder[0] ? sizeof c->coder : 4);
    smp_put_be(tag + DELAYS, (uint64_t)(before << 12 | after), 3);
    smp_put_be(tag + LENGTH, size, 4);
    smp_put_be(tag + DATA_SUM, sum_of(to + head, size - head), 2);
    smp_put_be(tag + TAG_SUM, sum_of(to, (size_t)(tag - to) + TAG_SUM), 2);
}

/* The next frame, of which *b has all bytes. */
static bool next_frame(smp_source *source, smp_mp3_frame *frame, const uint8_t **b)
{
    const size_t have = smp_source_peek(source, b, SMP_MP3_MOST);
    return have >= SMP_MP3_HEADER && smp_mp3_frame_take(frame, *b) && (size_t)frame->bytes <= have &&
           (size_t)frame->bytes >= head_bytes(frame, *b);
}

/* Frames number `first` to `last`, behind a silent one with the bits that those in front of them left over. */
static bool put_frames(cutting *c, int64_t first, int64_t last, smp_bytes *out)
{
    const size_t most = c->chain->first.version == 1 ? RESERVOIR : LOW_RESERVOIR;
    uint8_t bits[RESERVOIR + SMP_MP3_MOST], silent[SMP_MP3_MOST];
    size_t left = 0;
    smp_mp3_frame frame;
    const uint8_t *b;
    c->constant = true;
    if (!smp_source_seek(c->source, c->begin))
        return false;
    for (int64_t i = 0; i <= last; i++) {
        if (i == first) {
            const size_t size = put_silent(c, left, silent);
            memcpy(silent + size - left, bits, left);
            smp_bytes_add(out, silent, size);
        }
        if (!next_frame(c->source, &frame, &b))
            return false;
        const size_t head = head_bytes(&frame, b), size = (size_t)frame.bytes;
        if (i < first) {
            memcpy(bits + left, b + head, size - head);
            left += size - head;
            const size_t over = left > most ? left - most : 0;
            memmove(bits, bits + over, left -= over);
        } else {
            smp_bytes_add(out, b, size);
            c->constant &= b[2] >> 4 == c->head[2] >> 4;
        }
        smp_source_skip(c->source, size);
    }
    return true;
}

bool smp_mp3_cut(smp_source *source, const smp_mp3_chain *chain, int64_t played, int64_t from, int64_t samples,
                 smp_notes *notes, smp_bytes *out)
{
    cutting c = {.source = source, .chain = chain};
    bool good = measure(&c, played) && samples > 0 && from <= played - samples;
    /* Of lower rates, a frame has one transform, and the filters look back on two. */
    const int each = chain->first.samples, back = chain->first.version == 1 ? 1 : 2;
    const int64_t begin = c.skip + from, end = begin + samples, last = (end - 1) / each,
                  first = begin / each > back ? begin / each - back : 0;
    const int64_t before = begin - (first - 1) * each - DECODER, after = (last + 1) * each - end + DECODER;
    const bool within = begin > last * each && after > DECODER; /* FFmpeg forgets what it is to drop in front */
    good = good && !within && before >= 0 && before <= MOST_NOTED && after <= MOST_NOTED;
    uint8_t tag[SMP_MP3_MOST];
    const size_t head = good ? put_silent(&c, TAG_SIZE, tag) : 0;
    smp_bytes_add(out, tag, head);
    good = good && put_frames(&c, first, last, out);
    if (good && !out->failed)
        put_tag(&c, out->data, head, out->size, last + 1 - first + 1, before, after);
    out->size = good ? out->size : 0;
    if (!good)
        smp_sound_note_anew(notes, within);
    return !out->failed;
}
