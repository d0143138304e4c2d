/* MD5: see md5.h. */
#include "base/md5.h"

#include <string.h>

static uint32_t left(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t sines[64] = {
    0xD76AA478, 0xE8C7B756, 0x242070DB, 0xC1BDCEEE, 0xF57C0FAF, 0x4787C62A, 0xA8304613, 0xFD469501,
    0x698098D8, 0x8B44F7AF, 0xFFFF5BB1, 0x895CD7BE, 0x6B901122, 0xFD987193, 0xA679438E, 0x49B40821,
    0xF61E2562, 0xC040B340, 0x265E5A51, 0xE9B6C7AA, 0xD62F105D, 0x02441453, 0xD8A1E681, 0xE7D3FBC8,
    0x21E1CDE6, 0xC33707D6, 0xF4D50D87, 0x455A14ED, 0xA9E3E905, 0xFCEFA3F8, 0x676F02D9, 0x8D2A4C8A,
    0xFFFA3942, 0x8771F681, 0x6D9D6122, 0xFDE5380C, 0xA4BEEA44, 0x4BDECFA9, 0xF6BB4B60, 0xBEBFBC70,
    0x289B7EC6, 0xEAA127FA, 0xD4EF3085, 0x04881D05, 0xD9D4D039, 0xE6DB99E5, 0x1FA27CF8, 0xC4AC5665,
    0xF4292244, 0x432AFF97, 0xAB9423A7, 0xFC93A039, 0x655B59C3, 0x8F0CCC92, 0xFFEFF47D, 0x85845DD1,
    0x6FA87E4F, 0xFE2CE6E0, 0xA3014314, 0x4E0811A1, 0xF7537E82, 0xBD3AF235, 0x2AD7D2BB, 0xEB86D391,
};

static void add_block(smp_md5 *hash, const unsigned char *block)
{
    static const int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = hash->state[0], b = hash->state[1], c = hash->state[2], d = hash->state[3], words[16];
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 | (uint32_t)block[4 * i + 2] << 16 |
                   (uint32_t)block[4 * i + 3] << 24;
    for (int i = 0; i < 64; i++) {
        const int round = i / 16;
        uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                         : round == 1 ? (d & b) | (~d & c)
                         : round == 2 ? b ^ c ^ d
                                      : c ^ (b | ~d);
        const int word = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
        mixed += a + sines[i] + words[word & 15];
        a = d;
        d = c;
        c = b;
        b += left(mixed, turns[round][i & 3]);
    }
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
