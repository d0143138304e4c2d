/* Portable bytes: see pack.h. */
#include "base/pack.h"

#include <string.h>

#include "base/alloc.h"

enum { PART = 7 /* bits a byte */, MOST = 10 /* bytes of a number */ };

void smp_pack_bytes(smp_packer *to, const void *bytes, size_t size)
{
    if (to->failed || size > SIZE_MAX - to->size || !smp_grow(&to->data, &to->capacity, to->size + size, 1)) {
        to->failed = true;
        return;
    }
    if (size)
        memcpy(to->data + to->size, bytes, size);
    to->size += size;
}

void smp_pack_uint(smp_packer *to, uint64_t value)
{
    uint8_t bytes[MOST];
    size_t count = 0;
    for (; value >> PART; value >>= PART)
        bytes[count++] = (uint8_t)(value | 1 << PART);
    bytes[count++] = (uint8_t)value;
    smp_pack_bytes(to, bytes, count);
}

/* 0, -1, 1, -2, ... are 0, 1, 2, 3, ... */
void smp_pack_int(smp_packer *to, int64_t value)
{
    smp_pack_uint(to, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void smp_pack_double(smp_packer *to, double value)
{
    uint64_t bits;
    uint8_t bytes[sizeof bits];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    smp_pack_bytes(to, bytes, sizeof bytes);
}

void smp_pack_text(smp_packer *to, const char *text)
{
    const size_t length = strlen(text);
    smp_pack_uint(to, length);
    smp_pack_bytes(to, text, length);
}

static size_t left(const smp_unpacker *from)
{
    return from->failed ? 0 : from->size - from->at;
}

/* Only the shortest form of a number, so that equal values are equal bytes in this direction too. */
uint64_t smp_unpack_uint(smp_unpacker *from)
{
    uint64_t value = 0;
    for (int i = 0; i < MOST && left(from) > 0; i++) {
        const uint8_t byte = from->data[from->at++];
        const bool last = !(byte >> PART);
        if (i == MOST - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << PART * i;
        if (last && (byte || i == 0))
            return value;
        if (last)
            break;
    }
    from->failed = true;
    return 0;
}

int64_t smp_unpack_int(smp_unpacker *from)
{
    const uint64_t value = smp_unpack_uint(from);
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

double smp_unpack_double(smp_unpacker *from)
{
    uint64_t bits = 0;
    double value;
    if (left(from) < sizeof bits) {
        from->failed = true;
        return 0;
    }
    for (size_t i = 0; i < sizeof bits; i++)
        bits |= (uint64_t)from->data[from->at++] << 8 * i;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t smp_unpack_upto(smp_unpacker *from, uint64_t most)
{
    const uint64_t value = smp_unpack_uint(from);
    from->failed |= value > most;
    return from->failed ? 0 : value;
}

size_t smp_unpack_count(smp_unpacker *from, size_t bytes)
{
    const uint64_t count = smp_unpack_uint(from);
    from->failed |= count > left(from) / bytes;
    return from->failed ? 0 : (size_t)count;
}

/* The next text's bytes, and their number. */
static const char *text_of(smp_unpacker *from, size_t *length)
{
    *length = smp_unpack_count(from, 1);
    const char *text = (const char *)from->data + from->at;
    from->failed |= *length && memchr(text, '\0', *length);
    if (from->failed)
        *length = 0;
    from->at += *length;
    return text;
}

void smp_unpack_text(smp_unpacker *from, char *text, size_t size)
{
    size_t length;
    const char *bytes = text_of(from, &length);
    from->failed |= length >= size;
    if (from->failed)
        length = 0;
    if (length)
        memcpy(text, bytes, length);
    text[length] = '\0';
}

char *smp_unpack_copy(smp_unpacker *from)
{
    size_t length;
    const char *bytes = text_of(from, &length);
    char *copy = from->failed ? NULL : smp_strndup(length ? bytes : "", length);
    from->no_memory |= !copy && !from->failed;
    from->failed |= !copy;
    return copy;
}
