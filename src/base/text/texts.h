/* Texts that live and die together, one behind the other in large blocks: a text costs its own bytes. */
#pragma once

#include <stddef.h>

struct smp_text_block;

typedef struct smp_texts {
    struct smp_text_block *last; /* null: none yet */
} smp_texts;

/* A copy of `length` bytes with an end behind it, valid until smp_texts_free; null without memory. */
char *smp_texts_add(smp_texts *texts, const char *text, size_t length);
void smp_texts_free(smp_texts *texts);
