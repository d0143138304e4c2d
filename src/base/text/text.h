/* Text for people: a growing string, and as much UTF-8 as carets and columns need. */
#pragma once

#include "base/error.h"
#include "base/text/utf8.h"

typedef struct smp_text {
    char *data;
    size_t length, capacity;
    bool failed; /* memory ran out */
} smp_text;

void smp_text_put(smp_text *text, const char *bytes, size_t length);
void smp_text_print(smp_text *text, const char *format, ...) SMP_PRINTF(2, 3);

/* The string, from smp_alloc; null: out of memory. *text is empty afterwards. */
char *smp_text_take(smp_text *text);

/* Terminal cells of a code point: 0 (combining, zero-width), 1, or 2 (East Asian wide, emoji), after Unicode Standard
 * Annex 11 for the ranges that occur in practice. Control characters count 1: their replacement is shown. */
int smp_utf8_width(uint32_t code);

/* The edit distance of two words: letters missing, added, changed, or swapped with their neighbour. Ignores case.
 * SIZE_MAX when one is too long to be a name. */
size_t smp_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length);

enum { SMP_SHOWN = 88 };

/* A user's text for a message: at most 60 bytes, cut between characters, then "...". Returns buffer. */
const char *smp_shown(char buffer[SMP_SHOWN], const char *text, size_t length);
