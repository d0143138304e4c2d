/* A part of an MP3 as it is coded: see mp3_frames.h. A frame's samples follow from its own data, from the frame before
 * it (its transforms overlap) and from the bits that earlier frames left over for it (the reservoir). So a part begins
 * one frame early, with those bits in a silent frame of its own, and a frame in front of all says how many samples to
 * drop at both ends, as LAME notes its delay and padding. */
#include "io/audio/mp3_frames.h"

#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"

enum {
    DECODER = 529,              /* samples by which decoders are late, beside the coder's delay */
    MOST_NOTED = (1 << 12) - 1, /* of a delay or a padding */
    RESERVOIR = 511,            /* bytes, and of lower rates, whose frames are shorter, */
    LOW_RESERVOIR = 255,
    /* Where fields of the tag are, of which all are there, and its bytes: */
    FLAGS = 4,
    FRAMES = 8,
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
    const uint8_t *all;
    size_t size, begin; /* bytes, and those of the tag's frame in front */
    smp_mp3_frame first;
    uint8_t coder[TAG_SIZE - CODER]; /* LAME's part; zeros: there is none */
    int64_t frames, skip, end;       /* frames, and the samples that are played of them */
    bool constant;                   /* all have one bitrate */
} cutting;

static size_t side_bytes(const smp_mp3_frame *frame)
{
    return frame->version == 1 ? (frame->channels == 1 ? 17 : 32) : (frame->channels == 1 ? 9 : 17);
}

/* Bytes of a frame in front of its bits: header, check sum, side information. */
static size_t head_bytes(const smp_mp3_frame *frame, const uint8_t *bytes)
{
    return side_bytes(frame) + SMP_MP3_HEADER + (bytes[1] & 1 ? 0U : 2U);
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

/* Counts frames; false: they are not what the reader found. */
static bool measure(cutting *c, int64_t played)
{
    smp_mp3_frame frame = {.bytes = 0};
    int64_t delay = 0, padding = 0;
    if (c->size < SMP_MP3_MOST || !smp_mp3_frame_take(&c->first, c->all))
        return false;
    const uint8_t *tag = c->all + SMP_MP3_HEADER + side_bytes(&c->first);
    if (!memcmp(tag, "Xing", 4) || !memcmp(tag, "Info", 4)) {
        c->begin = (size_t)c->first.bytes;
        if (tag[FLAGS + 3] == 15 && tag[CODER] && tag + TAG_SIZE <= c->all + c->begin) {
            memcpy(c->coder, tag + CODER, sizeof c->coder);
            delay = tag[DELAYS] << 4 | tag[DELAYS + 1] >> 4;
            padding = (tag[DELAYS + 1] & 15) << 8 | tag[DELAYS + 2];
            c->skip = delay + DECODER;
        }
    }
    c->constant = true;
    for (size_t at = c->begin; at < c->size; at += (size_t)frame.bytes, c->frames++) {
        if (c->size - at < SMP_MP3_HEADER || !smp_mp3_frame_take(&frame, c->all + at) || frame.layer != 3 ||
            frame.samples != c->first.samples || (size_t)frame.bytes > c->size - at ||
            (size_t)frame.bytes < head_bytes(&frame, c->all + at))
            return false;
        c->constant &= c->all[at + 2] >> 4 == c->all[c->begin + 2] >> 4;
    }
    c->end = c->frames * c->first.samples - (c->skip && padding > DECODER ? padding - DECODER : 0);
    return c->frames > 0 && c->end - c->skip == played;
}

/* A frame without sound with room for so many bytes behind its side information, which some bitrate has. */
static size_t put_silent(const cutting *c, size_t room, uint8_t *to)
{
    smp_mp3_frame frame = {.bytes = 0};
    memcpy(to, c->all + c->begin, SMP_MP3_HEADER);
    to[1] |= 1; /* no check sum */
    for (int rate = 1; rate < 15; rate++) {
        to[2] = (uint8_t)((to[2] & 0x0C) | rate << 4);
        if (smp_mp3_frame_take(&frame, to) && (size_t)frame.bytes >= SMP_MP3_HEADER + side_bytes(&frame) + room)
            break;
    }
    memset(to + SMP_MP3_HEADER, 0, (size_t)frame.bytes - SMP_MP3_HEADER);
    return (size_t)frame.bytes;
}

static void put_tag(const cutting *c, uint8_t *to, size_t head, size_t size, int64_t frames, int64_t before,
                    int64_t after)
{
    uint8_t *tag = to + SMP_MP3_HEADER + side_bytes(&c->first);
    smp_mp3_frame frame;
    memcpy(tag, c->constant ? "Info" : "Xing", 4);
    smp_put_be(tag + FLAGS, 15, 4);
    smp_put_be(tag + FRAMES, (uint64_t)frames, 4);
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

bool smp_mp3_cut(const uint8_t *all, size_t size, int64_t played, int64_t from, int64_t samples, uint8_t **to,
                 size_t *out)
{
    cutting c = {.all = all, .size = size};
    if (!measure(&c, played) || samples < 1 || from > played - samples)
        return true;
    /* Of lower rates, a frame has one transform, and the filters look back on two. */
    const int each = c.first.samples, back = c.first.version == 1 ? 1 : 2;
    const int64_t begin = c.skip + from, end = begin + samples, last = (end - 1) / each,
                  first = begin / each > back ? begin / each - back : 0, frames = last + 1 - first + 1;
    uint8_t bits[RESERVOIR + 2 * SMP_MP3_MOST], *data = smp_alloc_raw(size + 2 * SMP_MP3_MOST);
    const size_t most = c.first.version == 1 ? RESERVOIR : LOW_RESERVOIR;
    size_t left = 0, at = c.begin;
    smp_mp3_frame frame;
    if (!data)
        return false;
    for (int64_t i = 0; i < first && smp_mp3_frame_take(&frame, all + at); i++, at += (size_t)frame.bytes) {
        const size_t head = head_bytes(&frame, all + at);
        memcpy(bits + left, all + at + head, (size_t)frame.bytes - head);
        left += (size_t)frame.bytes - head;
        const size_t over = left > most ? left - most : 0;
        memmove(bits, bits + over, left -= over);
    }
    const size_t head = put_silent(&c, TAG_SIZE, data);
    size_t used = head + put_silent(&c, left, data + head);
    memcpy(data + used - left, bits, left);
    for (int64_t i = first; i <= last && smp_mp3_frame_take(&frame, all + at); i++, at += (size_t)frame.bytes) {
        memcpy(data + used, all + at, (size_t)frame.bytes);
        used += (size_t)frame.bytes;
    }
    const int64_t before = begin - (first - 1) * each - DECODER, after = (last + 1) * each - end + DECODER;
    if (before < 0 || before > MOST_NOTED || after > MOST_NOTED)
        return smp_free(data), true;
    put_tag(&c, data, head, used, frames, before, after);
    *to = data;
    *out = used;
    return true;
}
