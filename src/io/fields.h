/* What is known of a file by its header, each by a word: for names of outputs and for `info --format`. */
#pragma once

#include "io/media.h"

enum { SMP_FIELD_TEXT = 400 /* bytes of one, with its end */ };

/* The words, with blanks between them. */
void smp_field_list(char *text, size_t size);

/* Whether there is a word of this length. */
bool smp_is_field(const char *word, size_t length);

/* Writes it as text; "": the file does not say. path: of the file. */
void smp_field(const char *word, size_t length, const char *path, const smp_media *media, char text[SMP_FIELD_TEXT]);

/* A tag's field in its whole length, from smp_alloc; null: the word is none. False: out of memory. */
bool smp_field_whole(const char *word, size_t length, const smp_media *media, char **whole);

/* The same as a part of a file's name, in which strangers' texts change no folder and no terminal: no slash, no control
 * characters, no dot in front; "no-date" where the file does not say. */
void smp_field_name(const char *word, size_t length, const char *path, const smp_media *media,
                    char text[SMP_FIELD_TEXT]);
