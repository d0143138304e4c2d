/* Shared by the files of the pattern parser: the position in the text, the words, the mistakes. pattern_words.c knows
 * the words, pattern_expression.c operators and operands, pattern.c arrays and the whole. See pattern.h. */
#ifndef SMP_COUNTERS_PATTERN_PARSE_H
#define SMP_COUNTERS_PATTERN_PARSE_H

#include "counters/pattern.h"

typedef struct smp_pattern_parser {
    const char *text;
    size_t length, at;
    int source;
    smp_diags *diags;
    smp_pattern *out;
    int depth;
} smp_pattern_parser;

enum { SMP_PATTERN_NONE = -1 }; /* no node: a mistake was reported */

/* ------------------------------------------------------------------------------------------------ words */

typedef struct smp_pattern_type {
    const char *name;
    int width;
} smp_pattern_type;

typedef struct smp_pattern_name {
    const char *name;
    int op;
    int64_t number;
} smp_pattern_name;

typedef struct smp_pattern_function {
    const char *name;
    int op, least, most; /* arguments */
} smp_pattern_function;

typedef struct smp_pattern_walk {
    const char *name;
    smp_walk walk;
} smp_pattern_walk;

/* Each table ends with a null name. */
extern const smp_pattern_type smp_pattern_types[];
extern const smp_pattern_name smp_pattern_names[];
extern const smp_pattern_function smp_pattern_functions[];
extern const smp_pattern_walk smp_pattern_walks[];

/* Skips blanks; where a word that begins here ends (here: there is none); whether start..end is this word. */
void smp_pattern_blanks(smp_pattern_parser *p);
size_t smp_pattern_word_end(const smp_pattern_parser *p);
bool smp_pattern_is_word(const smp_pattern_parser *p, size_t start, size_t end, const char *word);

/* ------------------------------------------------------------------------------------------------ mistakes */

smp_span smp_pattern_span(const smp_pattern_parser *p, size_t start, size_t end);

/* Bytes of the token at `start`, for a message: one character, number or word; 0 at the end. */
size_t smp_pattern_bad_length(const smp_pattern_parser *p, size_t start);

/* Reports that another token was expected here, or that a name is unknown. Returns SMP_PATTERN_NONE. */
int smp_pattern_expected(smp_pattern_parser *p, const char *what);
int smp_pattern_unknown(smp_pattern_parser *p, size_t start, size_t end);

/* ------------------------------------------------------------------------------------------------ expressions */

/* A whole expression: its node, or SMP_PATTERN_NONE after a mistake. */
int smp_pattern_expression(smp_pattern_parser *p);

#endif
