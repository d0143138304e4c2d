/* The topics of `smempipe help`. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

typedef struct smp_topic {
    const char *name, *help;
    void (*print)(FILE *to);
    const unsigned char *text; /* instead: see smp_help_expand */
} smp_topic;

/* topics/NAME.txt, by CMakeLists.txt. */
extern const unsigned char smp_topic_language[], smp_topic_draws[], smp_topic_banks[], smp_topic_formats_text[];

void smp_topic_formats(FILE *to);
/* Prints the formats that this build reads and writes, in three lines. */
void smp_formats_brief(FILE *to);

/* Null past the last. */
const smp_topic *smp_topic_at(size_t index);
void smp_topic_print(const smp_topic *topic, FILE *to);

/* The manual pages, made from the tables that --help is made from. */

/* smempipe(1): every command with its options and examples. */
smp_code smp_man_commands(FILE *to, smp_error *err);

/* smempipe-pipe(5): the language, and every stage with its parameters. */
smp_code smp_man_language(FILE *to, smp_error *err);
