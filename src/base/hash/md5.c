/* MD5: see md5.h. */
#include "base/hash/md5.h"

#include <string.h>

static inline uint32_t left(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

/* A step: MIX of b, c and d, a word, floor(2^32 |sin(i + 1)|), a turn. The four steps of a group take the variables'
 * places in turn, so that none is moved. */
#define STEP(MIX, a, b, c, d, word, sine, turn) a = b + left(a + MIX(b, c, d) + words[word] + (sine), turn)
#define GROUP(MIX, i, j, k, l, s0, s1, s2, s3, t0, t1, t2, t3)                                                         \
    do {                                                                                                               \
        STEP(MIX, a, b, c, d, i, s0, t0);                                                                              \
        STEP(MIX, d, a, b, c, j, s1, t1);                                                                              \
        STEP(MIX, c, d, a, b, k, s2, t2);                                                                              \
        STEP(MIX, b, c, d, a, l, s3, t3);                                                                              \
    } while (0)
#define MIX_1(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define MIX_2(b, c, d) (((d) & (b)) + (~(d) & (c))) /* a sum, of which only the first waits for b */
#define MIX_3(b, c, d) ((b) ^ ((c) ^ (d)))
#define MIX_4(b, c, d) ((c) ^ ((b) | ~(d)))
#define ROUND_1(...)   GROUP(MIX_1, __VA_ARGS__, 7, 12, 17, 22)
#define ROUND_2(...)   GROUP(MIX_2, __VA_ARGS__, 5, 9, 14, 20)
#define ROUND_3(...)   GROUP(MIX_3, __VA_ARGS__, 4, 11, 16, 23)
#define ROUND_4(...)   GROUP(MIX_4, __VA_ARGS__, 6, 10, 15, 21)

static void add_block(smp_md5 *hash, const unsigned char *block)
{
    uint32_t a = hash->state[0], b = hash->state[1], c = hash->state[2], d = hash->state[3], words[16];
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 | (uint32_t)block[4 * i + 2] << 16 |
                   (uint32_t)block[4 * i + 3] << 24;
    ROUND_1(0, 1, 2, 3, 0xD76AA478, 0xE8C7B756, 0x242070DB, 0xC1BDCEEE);
    ROUND_1(4, 5, 6, 7, 0xF57C0FAF, 0x4787C62A, 0xA8304613, 0xFD469501);
    ROUND_1(8, 9, 10, 11, 0x698098D8, 0x8B44F7AF, 0xFFFF5BB1, 0x895CD7BE);
    ROUND_1(12, 13, 14, 15, 0x6B901122, 0xFD987193, 0xA679438E, 0x49B40821);
    ROUND_2(1, 6, 11, 0, 0xF61E2562, 0xC040B340, 0x265E5A51, 0xE9B6C7AA);
    ROUND_2(5, 10, 15, 4, 0xD62F105D, 0x02441453, 0xD8A1E681, 0xE7D3FBC8);
    ROUND_2(9, 14, 3, 8, 0x21E1CDE6, 0xC33707D6, 0xF4D50D87, 0x455A14ED);
    ROUND_2(13, 2, 7, 12, 0xA9E3E905, 0xFCEFA3F8, 0x676F02D9, 0x8D2A4C8A);
    ROUND_3(5, 8, 11, 14, 0xFFFA3942, 0x8771F681, 0x6D9D6122, 0xFDE5380C);
    ROUND_3(1, 4, 7, 10, 0xA4BEEA44, 0x4BDECFA9, 0xF6BB4B60, 0xBEBFBC70);
    ROUND_3(13, 0, 3, 6, 0x289B7EC6, 0xEAA127FA, 0xD4EF3085, 0x04881D05);
    ROUND_3(9, 12, 15, 2, 0xD9D4D039, 0xE6DB99E5, 0x1FA27CF8, 0xC4AC5665);
    ROUND_4(0, 7, 14, 5, 0xF4292244, 0x432AFF97, 0xAB9423A7, 0xFC93A039);
    ROUND_4(12, 3, 10, 1, 0x655B59C3, 0x8F0CCC92, 0xFFEFF47D, 0x85845DD1);
    ROUND_4(8, 15, 6, 13, 0x6FA87E4F, 0xFE2CE6E0, 0xA3014314, 0x4E0811A1);
    ROUND_4(4, 11, 2, 9, 0xF7537E82, 0xBD3AF235, 0x2AD7D2BB, 0xEB86D391);
    hash->state[0] += a;
    hash->state[1] += b;
    hash->state[2] += c;
    hash->state[3] += d;
}

void smp_md5_begin(smp_md5 *hash)
{
    *hash = (smp_md5){.state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476}};
}

void smp_md5_add(smp_md5 *hash, const void *data, size_t size)
{
    const unsigned char *from = data;
    size_t used = (size_t)(hash->length & 63);
    hash->length += size;
    if (used) {
        size_t n = size < 64 - used ? size : 64 - used;
        memcpy(hash->block + used, from, n);
        from += n;
        size -= n;
        if (used + n < 64)
            return;
        add_block(hash, hash->block);
    }
    for (; size >= 64; from += 64, size -= 64)
        add_block(hash, from);
    memcpy(hash->block, from, size);
}

void smp_md5_end(smp_md5 *hash, unsigned char digest[16])
{
    const uint64_t bits = hash->length * 8;
    unsigned char end[8];
    for (int i = 0; i < 8; i++)
        end[i] = (unsigned char)(bits >> 8 * i);
    smp_md5_add(hash, "\x80", 1);
    while ((hash->length & 63) != 56)
        smp_md5_add(hash, "", 1);
    smp_md5_add(hash, end, 8);
    for (int i = 0; i < 16; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> 8 * (i % 4));
}
