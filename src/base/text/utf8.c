/* UTF-8, a code point at a time: see utf8.h. */
#include "base/text/utf8.h"

#include <string.h>

size_t smp_utf8_decode(const char *bytes, size_t length, uint32_t *code)
{
    const unsigned char *b = (const unsigned char *)bytes;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    *code = b[0];
    if (b[0] < 0x80)
        return 1;
    size_t more = b[0] >= 0xF0 && b[0] < 0xF8 ? 3 : b[0] >= 0xE0 ? 2 : 1;
    *code = SMP_UTF8_INVALID;
    if (b[0] < 0xC2 || b[0] >= 0xF8 || more >= length)
        return 1;
    uint32_t value = b[0] & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (b[i] & 0x3Fu);
    }
    if (value < least[more] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return 1;
    *code = value;
    return more + 1;
}

size_t smp_utf8_encode(char *to, uint32_t code)
{
    static const uint8_t first[] = {0, 0xC0, 0xE0, 0xF0};
    const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    to[0] = (char)(first[more] | code >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3F));
    return more + 1;
}

static uint32_t unit_at(const uint8_t *at, bool big)
{
    return (uint32_t)at[!big] << 8 | at[big];
}

size_t smp_utf16_decode(const uint8_t *bytes, size_t length, bool big, uint32_t *code)
{
    const uint32_t high = unit_at(bytes, big), low = length > 3 ? unit_at(bytes + 2, big) : 0;
    const bool pair = (high & 0xFC00) == 0xD800 && (low & 0xFC00) == 0xDC00;
    *code = pair ? 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF) : high;
    return pair ? 4 : 2;
}

bool smp_utf8_unprintable(uint32_t code)
{
    return code == SMP_UTF8_INVALID || (code < 0x20 && code != '\t') || (code >= 0x7F && code < 0xA0) ||
           code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void smp_utf8_clean(char *text)
{
    char *to = text;
    const size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        uint32_t code;
        const size_t size = smp_utf8_decode(text + at, length - at, &code);
        const bool controls = smp_utf8_unprintable(code) && code != '\n';
        if (controls)
            *to++ = '?';
        else {
            memmove(to, text + at, size);
            to += size;
        }
        at += size;
    }
    *to = '\0';
}
