/* Sample types, channel maps, and the samples of WAV and AIFF: see sound.h. */
#include "io/audio/sound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

static const struct {
    int type, bits;
    const char *name;
} types[] = {
    {SMP_SOUND_S8, 8, "8-bit PCM"},
    {SMP_SOUND_U8, 8, "8-bit PCM"},
    {SMP_SOUND_S16, 16, "16-bit PCM"},
    {SMP_SOUND_S24, 24, "24-bit PCM"},
    {SMP_SOUND_S32, 32, "32-bit PCM"},
    {SMP_SOUND_F32, 32, "32-bit float"},
    {SMP_SOUND_F64, 64, "64-bit float"},
    {SMP_SOUND_VORBIS, 0, "Vorbis"},
    {SMP_SOUND_OPUS, 0, "Opus"},
    {SMP_SOUND_IMA_ADPCM, 0, "IMA ADPCM"},
    {SMP_SOUND_MS_ADPCM, 0, "Microsoft ADPCM"},
    {SMP_SOUND_GSM, 0, "GSM 6.10"},
    {SMP_SOUND_ULAW, 8, "mu-law"},
    {SMP_SOUND_ALAW, 8, "A-law"},
    {SMP_SOUND_MPEG_1, 0, "MPEG layer 1"},
    {SMP_SOUND_MPEG_2, 0, "MPEG layer 2"},
    {SMP_SOUND_MPEG_3, 0, "MPEG layer 3"},
};
enum { TYPES = sizeof types / sizeof types[0] };

const char *smp_sound_type_name(int type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].name;
    return NULL;
}

int smp_sound_bits(int type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].bits;
    return 0;
}

bool smp_sound_coded(int type)
{
    return type == SMP_SOUND_ULAW || type == SMP_SOUND_ALAW || (smp_sound_type_name(type) && !smp_sound_bits(type));
}

/* ------------------------------------------------------------------------------------------------ samples */

int32_t smp_sound_round(float v, int bits, uint64_t *clipped)
{
    const double scale = (double)(INT64_C(1) << (bits - 1)), most = scale - 1;
    double x = (double)v * scale;
    const double slack = scale * 0x1p-23 > 0.5 ? scale * 0x1p-23 : 0.5; /* codes; 2^-23: one step of f32 above 1 */
    *clipped += !(x >= -scale - slack && x <= scale + slack);
    x = x > -scale ? x : v == v ? -scale : 0;
    x = x < most ? x : most;
    return (int32_t)((x + 6755399441055744.0) - 6755399441055744.0); /* 1.5 * 2^52: rounds, ties to even */
}

float smp_sound_finite(float v, smp_sound_over *over, uint64_t *clipped)
{
    enum { MOST = 1024 /* 60 dB above full scale; LAME ends the program somewhere above 100 */ };
    const bool fits = fabsf(v) <= MOST;
    const float kept = fits ? v : isnan(v) ? 0.f : copysignf(isinf(v) ? 1.f : MOST, v);
    *clipped += !fits;
    over->count += fabsf(kept) > 1;
    over->peak = fmaxf(over->peak, fabsf(kept));
    return kept;
}

void smp_sound_note_over(smp_writer *writer, smp_sound_over *over)
{
    const double above = over->count ? ceil(200 * log10((double)over->peak)) / 10 : 0; /* dB */
    if (!over->count || over->told)
        return;
    over->told = true;
    smp_note(&writer->notes,
             "%llu sample%s beyond full scale, by up to %.1f dB, which most players clip: end with `gain -%.1fdB`",
             (unsigned long long)over->count, over->count == 1 ? " is" : "s are", above, above);
}

void smp_sound_note_bitrate(smp_writer *writer, int used)
{
    const int asked = smp_write_value(&writer->options.values, &smp_write_bitrate);
    if (used != asked)
        smp_note(&writer->notes, "%s of %d channel%s at %.10g Hz has no %d kbit/s: written with the nearest, %d",
                 writer->format->name, writer->shape.channels, writer->shape.channels == 1 ? "" : "s",
                 writer->shape.rate, asked, used);
}

static uint64_t order(uint64_t value, int bytes, bool big)
{
    if (big == smp_little_endian())
        value = __builtin_bswap64(value) >> (64 - 8 * bytes);
    return value;
}

static inline __attribute__((always_inline)) void decode_codes(float *to, const uint8_t *from, int64_t n, int bytes,
                                                               bool big, uint64_t flip)
{
    const int shift = 64 - 8 * bytes;
    const double scale = 1. / (double)(INT64_C(1) << (8 * bytes - 1));
    for (int64_t i = 0; i < n; i++, from += bytes)
        to[i] = (float)((double)((int64_t)((smp_get_bytes(from, bytes, big) ^ flip) << shift) >> shift) * scale);
}

/* 16 bits: f32 holds them, and times 2^-15, exactly. */
static void decode_16(float *restrict to, const uint8_t *restrict from, int64_t n, bool big)
{
    enum { SOME = 256 };
    for (int64_t at = 0; at < n; at += SOME) {
        const int count = (int)smp_min_i64(SOME, n - at);
        uint16_t codes[SOME];
        memcpy(codes, from + 2 * at, 2 * (size_t)count);
        if (big == smp_little_endian())
            for (int i = 0; i < count; i++)
                codes[i] = (uint16_t)(codes[i] << 8 | codes[i] >> 8);
        for (int i = 0; i < count; i++)
            to[at + i] = (float)(int16_t)codes[i] * 0x1p-15f;
    }
}

static void decode_32(float *restrict to, const uint8_t *restrict from, int64_t n, bool big, smp_inexact *inexact)
{
    uint64_t rounded = 0;
    for (int64_t i = 0; i < n; i++) {
        const double value = (double)(int32_t)smp_get_bytes(from + 4 * i, 4, big) * 0x1p-31;
        to[i] = (float)value;
        rounded += (double)to[i] != value;
    }
    inexact->rounded += rounded;
}

static void decode_double(float *to, const uint8_t *from, int64_t n, bool big, smp_inexact *inexact)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = smp_get_bytes(from + 8 * i, 8, big);
        double value;
        memcpy(&value, &bits, 8);
        to[i] = (float)value;
        smp_inexact_add(inexact, value, to[i]);
    }
}

/* ITU-T G.711, as 16-bit codes. */
static int code_of_ulaw(uint8_t byte)
{
    const int v = ~byte & 0xFF, size = (((v & 15) << 3) + 0x84) << (v >> 4 & 7);
    return v & 0x80 ? 0x84 - size : size - 0x84;
}

static int code_of_alaw(uint8_t byte)
{
    const int v = byte ^ 0x55, segment = v >> 4 & 7, low = (v & 15) << 4;
    const int size = segment ? (low + 0x108) << (segment - 1) : low + 8;
    return v & 0x80 ? size : -size;
}

static void decode_law(float *to, const uint8_t *from, int64_t n, bool ulaw)
{
    float table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (float)(ulaw ? code_of_ulaw((uint8_t)i) : code_of_alaw((uint8_t)i)) / 32768.f;
    for (int64_t i = 0; i < n; i++)
        to[i] = table[from[i]];
}

void smp_sound_decode(float *to, const uint8_t *from, int64_t n, int type, bool big, smp_inexact *inexact)
{
    switch (type) {
    case SMP_SOUND_U8:
        decode_codes(to, from, n, 1, false, 0x80);
        break;
    case SMP_SOUND_S8:
        decode_codes(to, from, n, 1, false, 0);
        break;
    case SMP_SOUND_S16:
        decode_16(to, from, n, big);
        break;
    case SMP_SOUND_S24:
        if (big)
            decode_codes(to, from, n, 3, true, 0);
        else
            decode_codes(to, from, n, 3, false, 0);
        break;
    case SMP_SOUND_S32:
        decode_32(to, from, n, big, inexact);
        break;
    case SMP_SOUND_ULAW:
    case SMP_SOUND_ALAW:
        decode_law(to, from, n, type == SMP_SOUND_ULAW);
        break;
    case SMP_SOUND_F32:
        for (int64_t i = 0; i < n; i++) {
            uint32_t bits = (uint32_t)smp_get_bytes(from + 4 * i, 4, big);
            memcpy(to + i, &bits, 4);
            inexact->bad += (bits & 0x7F800000) == 0x7F800000;
        }
        break;
    default:
        decode_double(to, from, n, big, inexact);
        break;
    }
}

/* Each sample as the code whose value is nearest, the smaller one of two. */
static uint64_t encode_law(uint8_t *to, const float *from, int64_t n, bool ulaw)
{
    enum { HALF = 128 };
    int values[HALF]; /* of positive codes, from the smallest; their bytes */
    uint8_t bytes[HALF];
    uint64_t clipped = 0;
    for (int i = 0; i < HALF; i++) { /* positive codes fall in mu-law's bytes, and follow even bits of A-law's */
        bytes[i] = (uint8_t)(ulaw ? 0xFF - i : (i | 0x80) ^ 0x55);
        values[i] = ulaw ? code_of_ulaw(bytes[i]) : code_of_alaw(bytes[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        const int32_t v = smp_sound_round(from[i], 16, &clipped), size = v < 0 ? -v : v;
        int low = 0, high = HALF - 1;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (values[middle] <= size)
                low = middle;
            else
                high = middle;
        }
        const uint8_t byte = bytes[values[high] - size < size - values[low] ? high : low];
        to[i] = (uint8_t)(v < 0 ? byte ^ 0x80 : byte);
    }
    return clipped;
}

/* smp_sound_round to 16 bits, in f32: codes and their rounding are exact there too. */
static uint64_t encode_16(uint8_t *to, const float *from, int64_t n, bool big)
{
    enum { SOME = 256 };
    uint64_t clipped = 0;
    for (int64_t at = 0; at < n; at += SOME) {
        const int count = (int)smp_min_i64(SOME, n - at);
        uint16_t codes[SOME];
        uint32_t over = 0;
        for (int i = 0; i < count; i++) {
            float x = from[at + i] * 32768;
            over += (uint32_t) !(x >= -32768.5f && x <= 32768.5f);
            x = x > -32768 ? x : x == x ? -32768 : 0;
            x = x < 32767 ? x : 32767;
            const int32_t code = (int32_t)((x + 12582912.f) - 12582912.f); /* 1.5 * 2^23: rounds, ties to even */
            codes[i] = (uint16_t)code;
        }
        if (big == smp_little_endian())
            for (int i = 0; i < count; i++)
                codes[i] = (uint16_t)(codes[i] << 8 | codes[i] >> 8);
        memcpy(to + 2 * at, codes, 2 * (size_t)count);
        clipped += over;
    }
    return clipped;
}

uint64_t smp_sound_encode(uint8_t *to, const float *from, int64_t n, int type, bool big)
{
    uint64_t clipped = 0;
    const int bits = smp_sound_bits(type), bytes = bits / 8;
    if (type == SMP_SOUND_ULAW || type == SMP_SOUND_ALAW)
        return encode_law(to, from, n, type == SMP_SOUND_ULAW);
    if (type == SMP_SOUND_S16)
        return encode_16(to, from, n, big);
    if (type == SMP_SOUND_F32 && big != smp_little_endian()) {
        memcpy(to, from, (size_t)n * sizeof *from);
        return 0;
    }
    for (int64_t i = 0; i < n; i++, to += bytes) {
        uint64_t value = 0;
        if (type == SMP_SOUND_F32) {
            memcpy(&value, from + i, 4);
            value = smp_little_endian() ? value : value >> 32;
        } else if (type == SMP_SOUND_F64) {
            double wide = (double)from[i];
            memcpy(&value, &wide, 8);
        } else {
            value = (uint64_t)(int64_t)smp_sound_round(from[i], bits, &clipped);
            value ^= type == SMP_SOUND_U8 ? 0x80 : 0;
        }
        value = order(value << (64 - bits) >> (64 - bits), bytes, big);
        memcpy(to, (const uint8_t *)&value + (smp_little_endian() ? 0 : 8 - bytes), (size_t)bytes);
    }
    return clipped;
}

/* ------------------------------------------------------------------------------------------------ headers */

enum { MOST_RATE = 100000000 /* Hz */ };

smp_code smp_sound_header(smp_reader *reader, int64_t frames, int64_t channels, double rate, int type, smp_error *err)
{
    smp_media *media = &reader->media;
    if (channels < 1 || channels > SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_DECODE, "the sound has %lld channels; 1 to %d can be read", (long long)channels,
                        SMP_MAX_CHANNELS),
               smp_hint(err,
                        channels < 1 ? "copy or download it again" : "keep some of them: sox IN OUT.wav remix 1 2");
    if (!(rate >= 1 && rate <= MOST_RATE))
        return smp_fail(err, SMP_E_DECODE, "the sound's rate is %.10g Hz, which cannot be right", rate),
               smp_hint(err, "copy or download it again, or set it: sox -r 44100 IN OUT.wav");
    if (frames < 1)
        return smp_fail(err, SMP_E_DECODE, "the sound has no frames"),
               smp_hint(err, "what was to record or write it may have failed: copy or download it again");
    media->open_end = frames == SMP_OPEN_HEIGHT && smp_sound_may_be_open(reader);
    SMP_TRY(media->open_end ? SMP_OK : smp_check_frames(&reader->options.limits, frames, err));
    media->shape = (smp_shape){
        .kind = SMP_AUDIO, .width = 1, .height = frames, .channels = (int)channels, .format = SMP_F32, .rate = rate};
    media->bits = smp_sound_bits(type);
    smp_coding_begin(&media->meta.coding, SMP_CODING_SOUND);
    media->meta.coding.sound.type = type;
    return SMP_OK;
}

/* The order of the bits of dwChannelMask (Microsoft, "WAVEFORMATEXTENSIBLE"). */
static const char *const speakers[] = {"L",  "R",  "C",  "LFE", "BL",  "BR",  "FLC", "FRC", "BC",
                                       "SL", "SR", "TC", "TFL", "TFC", "TFR", "TBL", "TBC", "TBR"};
enum { SPEAKERS = sizeof speakers / sizeof speakers[0] };

bool smp_sound_mask_fits(uint32_t mask, int channels)
{
    return mask && !(mask >> SPEAKERS) && __builtin_popcount(mask) == channels;
}

static void put_speakers(char *text, size_t size, uint32_t mask)
{
    for (int i = 0; i < SPEAKERS && strlen(text) < size; i++)
        if (mask >> i & 1)
            snprintf(text + strlen(text), size - strlen(text), " %s", speakers[i]);
}

uint32_t smp_sound_unusual(const smp_writer *writer)
{
    const int channels = writer->shape.channels;
    const uint32_t mask = smp_coding_sound(&writer->coding)->mask;
    return channels > 2 && smp_sound_mask_fits(mask, channels) && mask != smp_usual_speakers(channels) ? mask : 0;
}

void smp_sound_note_speakers(smp_writer *writer, bool nameless)
{
    char had[80] = "", has[80] = "";
    const uint32_t mask = smp_sound_unusual(writer);
    put_speakers(had, sizeof had, mask);
    put_speakers(has, sizeof has, smp_usual_speakers(writer->shape.channels));
    if (!mask && nameless && writer->shape.channels > 2 &&
        smp_sound_mask_fits(smp_coding_sound(&writer->coding)->mask, writer->shape.channels) && *has)
        smp_note(&writer->notes, "that its channels are%s is told by their order alone: %s %s names no speakers", has,
                 smp_article(writer->format->name), writer->format->name);
    if (mask)
        smp_note(&writer->notes, "the speakers%s become%s: %s %s cannot say otherwise", had, has,
                 smp_article(writer->format->name), writer->format->name);
}

void smp_sound_describe(smp_media *media, const char *container)
{
    const int type = media->meta.coding.sound.type;
    const uint32_t mask = media->meta.coding.sound.mask;
    const char *name = smp_sound_type_name(type);
    size_t size = sizeof media->detail, used = (size_t)snprintf(media->detail, size, "%s", name ? name : "?");
    if (container)
        used += (size_t)snprintf(media->detail + used, size - used, ", %s", container);
    if (!smp_sound_mask_fits(mask, media->shape.channels) || media->shape.channels == 1)
        return;
    used += (size_t)snprintf(media->detail + used, size - used, ", channels");
    put_speakers(media->detail, size, mask);
}

smp_code smp_sound_can_write(const char *format, const smp_shape *shape, int most, smp_error *err)
{
    if (shape->channels > most)
        return smp_fail(err, SMP_E_WRITE, "%s %s holds up to %d channels, not %d", smp_article(format), format, most,
                        shape->channels);
    if (!(shape->rate >= 1 && shape->rate <= MOST_RATE && shape->rate == (double)(int64_t)shape->rate))
        return smp_fail(err, SMP_E_WRITE, "%s %s cannot have a rate of %.10g Hz", smp_article(format), format,
                        shape->rate);
    return SMP_OK;
}

smp_code smp_sound_write_shape(const smp_file_format *format, const char *, smp_shape *shape, smp_error *err)
{
    return smp_sound_can_write(format->name, shape, SMP_MAX_CHANNELS, err);
}

void smp_sound_note_inexact(smp_reader *reader, const smp_inexact *inexact)
{
    const smp_shape *shape = &reader->media.shape;
    const unsigned long long all =
        (unsigned long long)smp_min_i64(shape->height, reader->end) * (unsigned long long)shape->channels;
    if (inexact->rounded)
        smp_note(&reader->notes, "sound is read as 32-bit float: %llu of %llu samples were rounded to its 24 bits",
                 (unsigned long long)inexact->rounded, all);
    if (inexact->bad)
        smp_note(&reader->notes,
                 "%llu of %llu samples are not finite (NaN, infinity), and stages that look at neighbours spread them: "
                 "mend the file first",
                 (unsigned long long)inexact->bad, all);
    if (inexact->infinite)
        smp_note(&reader->notes,
                 "sound is read as 32-bit float: %llu of %llu samples are beyond its range and became infinite",
                 (unsigned long long)inexact->infinite, all);
}

void smp_sound_note_unread(smp_reader *reader, uint64_t bytes)
{
    enum { LEAST = 1024 };
    if (bytes >= LEAST)
        smp_note(&reader->notes, "%llu bytes behind its samples are not read", (unsigned long long)bytes);
}

void smp_sound_note_behind(smp_reader *reader, uint64_t at)
{
    const uint64_t size = reader->source.size;
    smp_sound_note_unread(reader, size != UINT64_MAX && size > at ? size - at : 0);
}

static bool is_law(int type)
{
    return type == SMP_SOUND_ALAW || type == SMP_SOUND_ULAW;
}

void smp_sound_note_type(smp_writer *writer, int type)
{
    const int had = smp_coding_sound(&writer->coding)->type, asked = smp_asked_sound_type(&writer->options);
    const bool wider = had == SMP_SOUND_S32 || had == SMP_SOUND_F32 || had == SMP_SOUND_F64;
    const char *format = writer->format->name, *name = smp_sound_type_name(had);
    if (asked && asked != SMP_SOUND_S32) /* who asked for it is told that the option does nothing */
        return;
    if (is_law(had) ? type != had : wider && type == SMP_SOUND_S24)
        smp_note(&writer->notes, "the samples become %s: %s %s holds no %s", smp_sound_type_name(type),
                 smp_article(format), format, name);
}

bool smp_sound_look(smp_source *source, uint64_t position, void *to, size_t size)
{
    const uint8_t *at;
    if (source->seekable)
        return smp_source_look(source, position, to, size);
    if (position > SMP_SOURCE_BUFFER || size > SMP_SOURCE_BUFFER - position)
        return false;
    if (smp_source_peek(source, &at, (size_t)position + size) < (size_t)position + size)
        return false;
    memcpy(to, at + position, size);
    return true;
}

smp_code smp_chunk_reach(smp_source *source, uint64_t end, smp_error *err)
{
    return source->seekable || end <= SMP_SOURCE_BUFFER ? SMP_OK : smp_source_spool(source, err);
}

smp_code smp_chunk_next(smp_chunks *c, smp_source *source, smp_error *err)
{
    uint8_t size[8];
    c->body = c->at + (uint64_t)(c->name + c->bytes);
    c->found = c->count < SMP_MOST_CHUNKS;
    const smp_code code = c->found ? smp_chunk_reach(source, c->body, err) : SMP_OK;
    c->found = c->found && !code && smp_sound_look(source, c->at, c->id, (size_t)c->name) &&
               smp_sound_look(source, c->at + (uint64_t)c->name, size, (size_t)c->bytes);
    if (c->found)
        c->size = smp_get_bytes(size, c->bytes, c->big);
    c->count += c->found;
    return code;
}

smp_code smp_chunks_ended(const smp_chunks *c, const smp_source *source, const char *what, smp_error *err)
{
    if (c->count == SMP_MOST_CHUNKS)
        return smp_fail(err, SMP_E_LIMIT, "the %s has more than %d chunks before its samples", c->kind, c->count);
    if (source->failed || source->over_limit)
        return smp_source_ended(source, err);
    smp_fail(err, SMP_E_DECODE, "the %s ends before its %s: it is truncated, or holds none", c->kind, what);
    return smp_hint(err, "copy or download it again");
}

void smp_bytes_chunk(smp_bytes *out, const char *name, uint64_t size, int count, bool big)
{
    uint8_t bytes[8];
    smp_put_bytes(bytes, size, count, big);
    smp_bytes_add(out, name, 4);
    smp_bytes_add(out, bytes, (size_t)count);
}

void smp_bytes_add(smp_bytes *bytes, const void *data, size_t size)
{
    if (bytes->failed || !size)
        return;
    if (!smp_grow(&bytes->data, &bytes->capacity, bytes->size + size, 1)) {
        bytes->failed = true;
        return;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void smp_bytes_le(smp_bytes *bytes, uint64_t value, int count)
{
    uint8_t text[8];
    smp_put_le(text, value, count);
    smp_bytes_add(bytes, text, (size_t)count);
}

void smp_bytes_be(smp_bytes *bytes, uint64_t value, int count)
{
    uint8_t text[8];
    smp_put_be(text, value, count);
    smp_bytes_add(bytes, text, (size_t)count);
}
