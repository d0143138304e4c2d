/* See flac_stream.h. The number of frames in STREAMINFO is written last and may be wrong or missing: a FLAC that was
 * written to a pipe has none. Every block holds its number and two checksums, so the last block can be found from the
 * end. */
#include "io/audio/flac_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum {
    MOST_METADATA = 10000,  /* blocks to walk before the file counts as an attack */
    MOST_HEADER = 16,       /* bytes of a block's header */
    MOST_BLOCK = 65536 * 4, /* bytes of one channel's samples in a block */
    MOST_TRIES = 64         /* places that look like the beginning of a block */
};

void smp_flac_info_take(smp_flac_info *info, const uint8_t b[SMP_FLAC_INFO])
{
    const uint32_t packed = smp_get_be(b + 10, 4);
    *info = (smp_flac_info){.least_block = (int)smp_get_be(b, 2),
                            .most_block = (int)smp_get_be(b + 2, 2),
                            .rate = packed >> 12,
                            .channels = (int)(packed >> 9 & 7) + 1,
                            .bits = (int)(packed >> 4 & 31) + 1,
                            .frames = (int64_t)((uint64_t)(packed & 15) << 32 | smp_get_be(b + 14, 4))};
    memcpy(info->md5, b + 18, sizeof info->md5);
    for (size_t i = 0; i < sizeof info->md5; i++)
        info->has_md5 |= info->md5[i] != 0;
}

void smp_flac_set_frames(uint8_t b[SMP_FLAC_INFO], int64_t frames)
{
    b[SMP_FLAC_TOTAL_AT] = (uint8_t)((b[SMP_FLAC_TOTAL_AT] & 0xF0) | (frames >> 32 & 15));
    smp_put_be(b + SMP_FLAC_TOTAL_AT + 1, (uint64_t)frames, 4);
}

static uint8_t crc8(const uint8_t *at, size_t size)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            sum = (uint8_t)(sum & 0x80 ? sum << 1 ^ 0x07 : sum << 1);
    }
    return sum;
}

/* The CRC over bytes that end with their own CRC: 0 when they are intact. */
static uint16_t crc16(const uint8_t *at, size_t size)
{
    uint16_t table[256], sum = 0;
    for (int i = 0; i < 256; i++) {
        uint16_t v = (uint16_t)(i << 8);
        for (int bit = 0; bit < 8; bit++)
            v = (uint16_t)(v & 0x8000 ? v << 1 ^ 0x8005 : v << 1);
        table[i] = v;
    }
    for (size_t i = 0; i < size; i++)
        sum = (uint16_t)(sum << 8 ^ table[sum >> 8 ^ at[i]]);
    return sum;
}

typedef struct block {
    bool variable; /* number counts frames; false: blocks */
    uint64_t number;
    int size; /* frames */
} block;

/* Decodes the number, coded like UTF-8 with up to 7 bytes. Returns its bytes; 0: invalid. */
static size_t take_number(const uint8_t *at, size_t left, uint64_t *value)
{
    size_t count = 0;
    while (count < 8 && at[0] & 0x80 >> count)
        count++;
    if (count == 1 || count == 8 || (count ? count : 1) > left)
        return 0;
    *value = at[0] & 0xFFu >> (count ? count + 1 : 1);
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        *value = *value << 6 | (at[i] & 0x3F);
    }
    return count ? count : 1;
}

/* Parses a block's header and checks its checksum (RFC 9639, section 9.1). */
static bool take_header(const uint8_t *at, size_t left, block *out)
{
    if (left < 6 || at[0] != 0xFF || (at[1] & 0xFE) != 0xF8)
        return false;
    const int size = at[2] >> 4, rate = at[2] & 15;
    if (!size || rate == 15 || at[3] >> 4 > 10 || (at[3] & 1))
        return false;
    out->variable = at[1] & 1;
    const size_t number = take_number(at + 4, left - 4, &out->number);
    size_t end = 4 + number;
    const size_t wide = size == 6 ? 1 : size == 7 ? 2 : 0, rates = rate == 12 ? 1 : rate == 13 || rate == 14 ? 2 : 0;
    if (!number || end + wide + rates + 1 > left)
        return false;
    out->size = wide ? (int)smp_get_be(at + end, (int)wide) + 1 : size == 1 ? 192 : size <= 5 ? 144 << size : 1 << size;
    end += wide + rates;
    return crc8(at, end) == at[end];
}

/* Finds where the first block begins. */
static smp_code find_blocks(smp_source *source, uint64_t *at, smp_error *err)
{
    uint8_t header[4];
    *at = 4;
    for (int i = 0; i < MOST_METADATA; i++) {
        if (!smp_sound_look(source, *at, header, sizeof header))
            return smp_check_size(source, *at + sizeof header, err);
        *at += sizeof header + smp_get_be(header + 1, 3);
        if (header[0] & 0x80)
            return SMP_OK;
    }
    return smp_fail(err, SMP_E_LIMIT, "the FLAC has more than %d blocks of metadata", MOST_METADATA);
}

static int64_t begins_at(const block *b, const smp_flac_info *info, const block *first)
{
    const int size = info->least_block == info->most_block ? info->most_block : first->size;
    int64_t at;
    return b->number > INT64_MAX / 65536                               ? -1
           : b->variable                                               ? (int64_t)b->number
           : smp_mul_i64((int64_t)b->number, size > 0 ? size : 1, &at) ? at
                                                                       : -1;
}

smp_code smp_flac_find_end(smp_source *source, const smp_flac_info *info, int64_t *frames, smp_error *err)
{
    uint8_t begin[MOST_HEADER];
    uint64_t from;
    block first, last;
    *frames = 0;
    SMP_TRY(find_blocks(source, &from, err));
    const size_t begun = (size_t)smp_min_u64(sizeof begin, source->size > from ? source->size - from : 0);
    if (!smp_sound_look(source, from, begin, begun) || !take_header(begin, begun, &first))
        return SMP_OK;
    const uint64_t whole = source->size - from;
    const size_t have = (size_t)smp_min_u64(whole, (uint64_t)MOST_BLOCK * (uint64_t)info->channels);
    uint8_t *end = smp_alloc_raw(have);
    SMP_NEED(end, "a FLAC's last block", have, err);
    if (!smp_sound_look(source, source->size - have, end, have)) {
        smp_free(end);
        return SMP_OK;
    }
    size_t stop = have; /* an ID3v1 tag of 128 bytes may follow */
    if (have > 128 && memcmp(end + have - 128, "TAG", 3) == 0)
        stop -= 128;
    int tries = 0;
    for (size_t at = stop; at-- > 0 && !*frames && tries < MOST_TRIES;) {
        if (end[at] != 0xFF || !take_header(end + at, stop - at, &last) || last.variable != first.variable)
            continue;
        tries++;
        if (crc16(end + at, stop - at) == 0) {
            int64_t zero = begins_at(&first, info, &first), to = begins_at(&last, info, &first);
            *frames = zero >= 0 && to >= zero ? to - zero + last.size : 0;
        }
    }
    smp_free(end);
    return SMP_OK;
}

void smp_flac_md5_add(smp_md5 *hash, const int32_t *codes, int64_t count, int bits)
{
    enum { SAMPLES = 1024 };
    uint8_t packed[SAMPLES * 4];
    const int bytes = (bits + 7) / 8, shift = 32 - bits;
    for (int64_t i = 0, n; i < count; i += n) {
        uint8_t *to = packed;
        n = smp_min_i64(count - i, SAMPLES);
        if (bytes == 2 && smp_little_endian()) {
            uint16_t some[SAMPLES];
            for (int64_t k = 0; k < n; k++)
                some[k] = (uint16_t)(codes[i + k] >> shift);
            smp_md5_add(hash, some, (size_t)n * sizeof *some);
            continue;
        }
        for (int64_t k = 0; k < n; k++) {
            const uint32_t code = (uint32_t)(codes[i + k] >> shift);
            for (int b = 0; b < bytes; b++)
                *to++ = (uint8_t)(code >> 8 * b);
        }
        smp_md5_add(hash, packed, (size_t)(to - packed));
    }
}
