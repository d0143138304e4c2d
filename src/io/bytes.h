/* Numbers in the bytes of a file, of either byte order; they need no alignment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number of 28 bits in four bytes of ID3, whose highest bits do not count. */
static inline uint32_t smp_get_syncsafe(const uint8_t *at)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v = v << 7 | (at[i] & 127);
    return v;
}

/* A number of up to 8 bytes in the order that a file says. */
static inline uint64_t smp_get_bytes(const uint8_t *at, int bytes, bool big)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)at[i] << 8 * (big ? bytes - 1 - i : i);
    return v;
}

/* A number of up to 4 bytes, the lowest (highest) first. */
static inline uint32_t smp_get_le(const uint8_t *at, int bytes)
{
    return (uint32_t)smp_get_bytes(at, bytes, false);
}

static inline uint32_t smp_get_be(const uint8_t *at, int bytes)
{
    return (uint32_t)smp_get_bytes(at, bytes, true);
}

/* Stores up to 8 bytes of a number. */
static inline void smp_put_bytes(uint8_t *at, uint64_t value, int bytes, bool big)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

static inline void smp_put_le(uint8_t *at, uint64_t value, int bytes)
{
    smp_put_bytes(at, value, bytes, false);
}

static inline void smp_put_be(uint8_t *at, uint64_t value, int bytes)
{
    smp_put_bytes(at, value, bytes, true);
}

/* Turns the order of the bytes in each word; bytes behind the last whole word stay. */
static inline void smp_reverse_words(uint8_t *data, size_t size, size_t word)
{
    for (size_t i = 0; i + word <= size; i += word)
        for (size_t a = i, b = i + word - 1; a < b; a++, b--) {
            const uint8_t byte = data[a];
            data[a] = data[b];
            data[b] = byte;
        }
}

/* Bytes of base64, which may take the text's place; what is no letter of it ends it. Returns how many. */
static inline size_t smp_from_base64(uint8_t *to, const char *text, size_t length)
{
    size_t count = 0;
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : c >= '0' && c <= '9' ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0)
            break;
        bits = bits << 6 | (uint32_t)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[count++] = (uint8_t)(bits >> have);
        }
    }
    return count;
}

/* The four letters of base64 for three bytes, or for the `left` < 3 that there are. */
static inline void smp_to_base64(char four[4], const uint8_t *data, size_t left)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; k++)
        bits = bits << 8 | (k < left ? data[k] : 0);
    for (size_t k = 0; k < 4; k++)
        four[k] = k > left ? '=' : letters[bits >> (18 - 6 * k) & 63];
}
