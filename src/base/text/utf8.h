/* UTF-8 and UTF-16, a code point at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMP_UTF8_INVALID UINT32_MAX

/* Decodes one code point of length > 0 bytes; returns the bytes it takes. Invalid UTF-8 (also overlong forms and
 * surrogates) gives SMP_UTF8_INVALID and takes one byte. */
size_t smp_utf8_decode(const char *bytes, size_t length, uint32_t *code);

/* Encodes a code point below 2^21; returns the bytes, at most 4, without a zero behind them. */
size_t smp_utf8_encode(char *to, uint32_t code);

/* Decodes one code point of UTF-16, of length > 1 bytes; returns the bytes it takes, 2 or 4. Half of a pair alone is
 * given as it is. */
size_t smp_utf16_decode(const uint8_t *bytes, size_t length, bool big, uint32_t *code);

/* Whether a reader must not see this character as it is: C0 and C1 controls except tab, ends of lines, and the marks,
 * overrides and isolates of direction, which make text read differently from what it is. */
bool smp_utf8_unprintable(uint32_t code);

/* Replaces what would control a terminal by '?': control characters other than tabs and ends of lines, marks that turn
 * the direction of text, bytes that are no UTF-8. */
void smp_utf8_clean(char *text);
