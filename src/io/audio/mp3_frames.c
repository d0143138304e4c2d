/* Walks over the frames of an MPEG sound: see mp3_frames.h. */
#include "io/audio/mp3_frames.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_GAP = 1 << 16, /* bytes in front of the first frame, and behind the last */
    ID3V1 = 128,        /* bytes of an ID3v1 tag, at the end of a file */
    APE_HEADER = 32
};

static int bit_rate(int version, int layer, int index)
{
    static const short rates[5][15] = {
        /* kbit/s: MPEG-1 layers 1 to 3; lower rates: layer 1, layers 2 and 3 */
        {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
        {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
        {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
        {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
        {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
    };
    return rates[version == 1 ? layer - 1 : layer == 1 ? 3 : 4][index] * 1000;
}

bool smp_mp3_frame_take(smp_mp3_frame *frame, const uint8_t *b)
{
    static const int rates[] = {44100, 48000, 32000};
    static const int versions[] = {3, 0, 2, 1}; /* by the header's two bits */
    const int version = versions[b[1] >> 3 & 3], layer = 4 - (b[1] >> 1 & 3), index = b[2] >> 4, rate = b[2] >> 2 & 3;
    if (b[0] != 0xFF || (b[1] & 0xE0) != 0xE0 || !version || layer == 4 || index == 0 || index == 15 || rate == 3 ||
        (b[3] & 3) == 2)
        return false;
    const int padding = b[2] >> 1 & 1, bits = bit_rate(version, layer, index);
    *frame = (smp_mp3_frame){.version = version,
                             .layer = layer,
                             .rate = rates[rate] >> (version - 1),
                             .channels = b[3] >> 6 == 3 ? 1 : 2,
                             .samples = layer == 1                  ? 384
                                        : layer == 3 && version > 1 ? 576
                                                                    : 1152};
    frame->bytes =
        layer == 1 ? (12 * bits / frame->rate + padding) * 4 : frame->samples / 8 * bits / frame->rate + padding;
    return frame->bytes > SMP_MP3_HEADER;
}

/* Layer, rate and channels stay the same from frame to frame; bits a second need not. */
static bool alike(const smp_mp3_frame *a, const smp_mp3_frame *b)
{
    return a->version == b->version && a->layer == b->layer && a->rate == b->rate && a->channels == b->channels;
}

/* A header is 11 set bits and some that must not be: other data may begin so (a text of 16-bit characters does). Where
 * the next frame can be seen, it has the last word. Layer 1 looks like text most, and must be seen. */
bool smp_mp3_sniff(const uint8_t *head, size_t size)
{
    smp_mp3_frame one, next;
    if (size < SMP_MP3_HEADER || !smp_mp3_frame_take(&one, head))
        return false;
    if ((size_t)one.bytes + SMP_MP3_HEADER > size)
        return one.layer != 1;
    return smp_mp3_frame_take(&next, head + one.bytes) && alike(&one, &next);
}

/* Bytes of a tag that begins here, with all of its header in sight; 0: none. */
static uint64_t tag_bytes(const uint8_t *b, size_t size, uint64_t left)
{
    enum { VERSION_AND_FLAGS = 12 };
    const uint64_t id3 = smp_id3_size(b, size);
    if (id3)
        return id3;
    if (size >= 3 && memcmp(b, "TAG", 3) == 0 && left >= ID3V1)
        return ID3V1;
    if (size >= APE_HEADER && memcmp(b, "APETAGEX", 8) == 0)
        return APE_HEADER + (uint64_t)smp_get_le(b + VERSION_AND_FLAGS, 4);
    return 0;
}

/* Whether a frame that ends here is one: another one like it follows and then a third, or a tag, or the end does. Two
 * headers alike are found in a megabyte of anything; three are not. */
static bool followed(const smp_mp3_frame *frame, const uint8_t *b, size_t end, size_t have)
{
    smp_mp3_frame next, third;
    if (end == have)
        return true;
    if (end + SMP_MP3_HEADER > have)
        return false;
    if (!smp_mp3_frame_take(&next, b + end) || !alike(frame, &next))
        return tag_bytes(b + end, have - end, have - end) > 0;
    end += (size_t)next.bytes;
    return end + SMP_MP3_HEADER > have || (smp_mp3_frame_take(&third, b + end) && alike(frame, &third)) ||
           tag_bytes(b + end, have - end, have - end);
}

/* The distance to the next place where a frame begins that is followed by others, or by the end; at most MOST_GAP,
 * which also says that there is none. *found: that frame. */
static size_t gap_to_frame(smp_source *source, smp_mp3_frame *found)
{
    const uint8_t *b;
    const size_t have = smp_source_peek(source, &b, MOST_GAP + (1 << 13)); /* a frame has at most 5 KB */
    for (size_t at = 0; at + SMP_MP3_HEADER <= have && at < MOST_GAP; at++) {
        if (b[at] == 0xFF && smp_mp3_frame_take(found, b + at) && followed(found, b, at + (size_t)found->bytes, have))
            return at;
    }
    return MOST_GAP;
}

bool smp_mp3_find(smp_source *source)
{
    smp_mp3_frame frame, next;
    const uint8_t *b;
    const size_t at = gap_to_frame(source, &frame);
    if (at == MOST_GAP || frame.layer == 1)
        return false;
    const size_t have = smp_source_peek(source, &b, MOST_GAP + (1 << 13));
    size_t end = at + (size_t)frame.bytes;
    for (int more = 0; more < 2; more++, end += (size_t)next.bytes)
        if (end + SMP_MP3_HEADER > have || !smp_mp3_frame_take(&next, b + end) || !alike(&frame, &next))
            return false;
    return true;
}

size_t smp_mp3_side_bytes(const smp_mp3_frame *frame)
{
    return frame->version == 1 ? (frame->channels == 1 ? 17 : 32) : (frame->channels == 1 ? 9 : 17);
}

size_t smp_mp3_tag_at(const smp_mp3_frame *frame, const uint8_t *b, size_t size)
{
    const size_t at = SMP_MP3_HEADER + smp_mp3_side_bytes(frame);
    const bool tag = frame->layer == 3 && at + SMP_MP3_TAG_FRAMES + 4 <= size &&
                     (memcmp(b + at, "Xing", 4) == 0 || memcmp(b + at, "Info", 4) == 0);
    return tag ? at : 0;
}

/* Frames that the first one promises, at *at of its bytes, which then holds no sound; -1: it is a frame like others. */
static int64_t promised_frames(const uint8_t *b, size_t size, const smp_mp3_frame *frame, size_t *at)
{
    enum { HAS_FRAMES = 1 };
    const size_t tag = smp_mp3_tag_at(frame, b, size);
    if (!tag)
        return -1;
    *at = tag + SMP_MP3_TAG_FRAMES;
    return smp_get_be(b + tag + SMP_MP3_TAG_FLAGS, 4) & HAS_FRAMES ? (int64_t)smp_get_be(b + *at, 4) : 0;
}

static const char *channel_word(const smp_mp3_frame *frame)
{
    return frame->channels == 1 ? "mono" : "stereo";
}

/* Something else than the next frame stands here: a tag is passed over, other bytes are judged. *end: nothing follows
 * that belongs to the sound. */
static smp_code pass_over(smp_source *source, smp_mp3_chain *chain, bool *end, smp_notes *notes, smp_error *err)
{
    const uint64_t at = source->position, left = source->size - at;
    const uint8_t *b;
    smp_mp3_frame next;
    const size_t have = smp_source_peek(source, &b, APE_HEADER);
    const uint64_t tag = tag_bytes(b, have, left);
    if (tag) {
        *end = smp_source_skip(source, tag) < tag; /* a tag that is cut costs no sound */
        chain->end = source->position;
        return SMP_OK;
    }
    const size_t gap = gap_to_frame(source, &next);
    if (gap == 0)
        return smp_fail(err, SMP_E_DECODE, "the MP3 changes from %s at %d Hz to %s at %d Hz after %lld frames",
                        channel_word(&chain->first), chain->first.rate, channel_word(&next), next.rate,
                        (long long)chain->frames),
               smp_hint(err, "make one sound of it: ffmpeg -i IN.mp3 OUT.flac");
    if (gap < MOST_GAP || left > MOST_GAP)
        return smp_fail(err, SMP_E_DECODE, "the MP3 is damaged: at byte %llu, after %lld frames, no frame begins",
                        (unsigned long long)at, (long long)chain->frames),
               smp_sound_hint_saved(err);
    smp_note(notes, "%llu bytes behind the MP3's last frame are left out", (unsigned long long)left);
    *end = true;
    return SMP_OK;
}

/* It ends too early. */
static smp_code cut(const smp_mp3_chain *chain, int64_t promised, bool saves, smp_notes *notes, smp_error *err)
{
    char text[120];
    if (promised > chain->frames)
        snprintf(text, sizeof text, "the MP3 says that it has %lld frames, but ends after %lld: it is truncated",
                 (long long)promised, (long long)chain->frames);
    else
        snprintf(text, sizeof text, "the MP3 ends within frame %lld: it is truncated", (long long)chain->frames);
    if (!saves)
        return smp_fail(err, SMP_E_DECODE, "%s", text), smp_hint_no_verify(err);
    smp_note(notes, "%s: what there is of it is read", text);
    return SMP_OK;
}

/* Whether so many bytes in front of the first frame are worth a word: a tag may be filled up with zeros. */
static bool chain_begins_late(smp_source *source, size_t bytes, uint64_t from)
{
    const uint8_t *b;
    bool zeros = true;
    const size_t have = smp_source_peek(source, &b, bytes);
    for (size_t i = 0; i < have; i++)
        zeros = zeros && b[i] == 0;
    return !from || !zeros;
}

smp_code smp_mp3_walk(smp_source *source, uint64_t from, bool saves, smp_mp3_chain *chain, smp_notes *notes,
                      smp_error *err)
{
    const uint8_t *b;
    *chain = (smp_mp3_chain){.frames = 0};
    if (!smp_source_seek(source, from))
        return smp_fail(err, SMP_E_READ, "cannot go back to the beginning");
    size_t have = gap_to_frame(source, &chain->first);
    if (have == MOST_GAP)
        return source->failed || source->over_limit
                   ? smp_source_ended(source, err)
                   : smp_fail(err, SMP_E_DECODE, "the MP3 holds no sound: no whole frame begins in its first %d bytes",
                              MOST_GAP);
    if (have && chain_begins_late(source, have, from))
        smp_note(notes, "%zu bytes in front of the MP3's first frame are left out", have);
    smp_source_skip(source, have);
    chain->begin = chain->end = source->position;
    have = smp_source_peek(source, &b, (size_t)chain->first.bytes);
    size_t at = 0;
    const int64_t promised = promised_frames(b, have, &chain->first, &at);
    if (promised >= 0)
        chain->end += chain->coded = smp_source_skip(source, (uint64_t)chain->first.bytes);
    bool end = false, whole = true;
    while (!end) {
        smp_mp3_frame frame;
        smp_code code = SMP_OK;
        have = smp_source_peek(source, &b, SMP_MP3_HEADER);
        if (!have)
            end = true;
        else if (have == SMP_MP3_HEADER && smp_mp3_frame_take(&frame, b) && alike(&frame, &chain->first)) {
            whole = smp_source_skip(source, (uint64_t)frame.bytes) == (uint64_t)frame.bytes;
            if (!whole)
                break;
            chain->frames++;
            chain->coded += (uint64_t)frame.bytes;
            chain->end = chain->last = source->position;
        } else {
            code = pass_over(source, chain, &end, notes, err);
        }
        if (code != SMP_OK)
            return code;
    }
    if (source->failed || source->over_limit)
        return smp_source_ended(source, err);
    chain->promise = promised > chain->frames ? chain->begin + at : 0;
    return whole && promised <= chain->frames ? SMP_OK : cut(chain, promised, saves, notes, err);
}
