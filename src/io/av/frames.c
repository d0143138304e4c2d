/* The frames of bare AAC (ADTS), AC-3 and AMR, each of which says how long it is: decoders step over what is none, and
 * make up what a cut one lacks. Sources: ISO/IEC 13818-7, 6.2 (ADTS); ATSC A/52:2018, 5.4.1 and E.2.3.1 (AC-3, E-AC-3);
 * RFC 4867, 5 (AMR); 3GPP TS 26.101 and 26.201 (its sizes). */
#include <string.h>

#include "base/alloc.h"
#include "io/audio/tags.h"
#include "io/av/whole.h"
#include "io/bytes.h"
#include "io/format.h"

enum { HEAD = 10 /* bytes that say how long a frame or a tag is, at most */, PIECE = 1 << 16 };

static size_t aac_bytes(const uint8_t *b, int)
{
    enum { LEAST = 7 };
    const size_t size = (size_t)(b[3] & 3) << 11 | (size_t)b[4] << 3 | b[5] >> 5;
    return b[0] == 0xFF && (b[1] & 0xF6) == 0xF0 && size >= LEAST ? size : 0;
}

static size_t ac3_bytes(const uint8_t *b, int)
{
    enum { NEWER = 11 /* versions from here on are E-AC-3 */, FRAME = 1536 /* samples */, WORD = 16 /* bits */ };
    static const int kbits[] = {32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640},
                     rates[] = {48000, 44100, 32000};
    const size_t code = b[4] & 63, rate = b[4] >> 6;
    if (b[0] != 0x0B || b[1] != 0x77)
        return 0;
    if (b[5] >> 3 >= NEWER)
        return 2 * ((size_t)(b[2] & 7) << 8 | b[3]) + 2;
    if (rate >= sizeof rates / sizeof rates[0] || code / 2 >= sizeof kbits / sizeof kbits[0])
        return 0;
    const size_t words = (size_t)kbits[code / 2] * 1000 * FRAME / WORD / (size_t)rates[rate];
    return 2 * (words + (rates[rate] == 44100 ? code & 1 : 0));
}

static size_t amr_bytes(const uint8_t *b, int wide)
{
    enum { KINDS = 16, PADDING = 0x83 /* bits of the first byte that are 0 */ };
    static const uint8_t sizes[2][KINDS] = {{13, 14, 16, 18, 20, 21, 27, 32, 6, 0, 0, 0, 0, 0, 0, 1},
                                            {18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 0, 0, 0, 0, 1, 1}};
    return b[0] & PADDING ? 0 : sizes[wide][b[0] >> 3 & (KINDS - 1)];
}

typedef struct bare {
    const char *kind;
    const char *magic; /* that the file begins with */
    size_t (*bytes)(const uint8_t *head, int wide);
    int wide;
} bare;

static const bare *bare_of(const smp_source *source, const char *kind)
{
    enum { MAGIC = 16 };
    static const bare kinds[] = {{"aac", "", aac_bytes, 0},
                                 {"ac3", "", ac3_bytes, 0},
                                 {"amr", "#!AMR\n", amr_bytes, 0},
                                 {"amr", "#!AMR-WB\n", amr_bytes, 1}};
    uint8_t head[MAGIC] = {0};
    (void)smp_source_look(source, 0, head, source->size < MAGIC ? (size_t)source->size : MAGIC);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kinds[i].kind, kind) && !memcmp(head, kinds[i].magic, strlen(kinds[i].magic)))
            return &kinds[i];
    return NULL;
}

static smp_code fail_frame(uint64_t at, uint64_t end, size_t size, smp_error *err)
{
    if (size)
        return smp_fail(err, SMP_E_DECODE, "the file is truncated: its last frame has %llu of %zu bytes",
                        (unsigned long long)(end - at), size);
    return smp_fail(err, SMP_E_DECODE, "the file is damaged: the last %llu bytes are not a frame of sound",
                    (unsigned long long)(end - at));
}

smp_code smp_av_check_frames(const smp_source *source, const char *kind, smp_error *err)
{
    const bare *of = bare_of(source, kind);
    const uint64_t end = smp_tail_tags_begin(source);
    if (!of)
        return SMP_OK;
    uint8_t *piece = smp_alloc(PIECE + HEAD);
    smp_code code = piece ? SMP_OK : smp_fail_memory(err, "a piece of a file", PIECE);
    uint64_t begin = 0, have = 0; /* of the piece */
    for (uint64_t at = strlen(of->magic); !code && at < end;) {
        if (at + HEAD > begin + have && begin + have < end) {
            begin = at;
            have = end - begin < PIECE ? end - begin : PIECE;
            memset(piece, 0, PIECE + HEAD);
            if (!smp_source_look(source, begin, piece, (size_t)have)) {
                code = smp_source_ended(source, err);
                break;
            }
        }
        const uint8_t *head = piece + (at - begin);
        const uint64_t tag = smp_id3_size(head, HEAD); /* parts of a stream that were put together have some */
        const size_t size = tag ? (size_t)tag : of->bytes(head, of->wide);
        if (!size || size > end - at)
            code = fail_frame(at, end, size, err);
        at += size;
    }
    smp_free(piece);
    return code;
}
