/* The lexer: turns text into tokens, one at a time, and drops comments, blanks and continued lines. */
#pragma once

#include "base/text/diag.h"

typedef enum smp_token_kind {
    SMP_TOKEN_WORD,   /* a run of other characters: name, keyword, number with unit */
    SMP_TOKEN_STRING, /* "..." with its quotes */
    SMP_TOKEN_VALUE,  /* $name, with its sigil */
    SMP_TOKEN_TAP,    /* @name, with its sigil */
    SMP_TOKEN_BRACE,  /* {...} with its braces, on one line */
    SMP_TOKEN_EQUALS,
    SMP_TOKEN_OPEN,  /* [ */
    SMP_TOKEN_CLOSE, /* ] */
    SMP_TOKEN_SEMICOLON,
    SMP_TOKEN_ARROW, /* -> */
    SMP_TOKEN_BAD,   /* was reported */
    SMP_TOKEN_LINE,  /* end of a line */
    SMP_TOKEN_END    /* end of the text */
} smp_token_kind;

typedef struct smp_token {
    smp_token_kind kind;
    size_t start, length; /* bytes of the text */
    bool apart;           /* after blanks, or at the beginning of a line */
} smp_token;

typedef struct smp_lexer {
    const char *text;
    size_t length, at;
    int source;
    smp_diags *diags;
    bool begun;   /* a statement, or a value: a # may be a colour */
    bool in_list; /* inside [ ]: line ends are blanks */
    bool quiet;   /* skipping after an error: report nothing */
} smp_lexer;

/* What a # is (docs/design.md, "Colours and comments"). */
#define SMP_COLOR_OR_COMMENT                                                                                           \
    "a colour has 3, 4, 6 or 8 digits from 0 to f, or a name without #; a comment begins with '# '"

smp_token smp_lex(smp_lexer *lexer);

/* The span of a token. */
smp_span smp_lex_span(const smp_lexer *lexer, smp_token token);

/* Whether the text may be a pipeline: UTF-8 without null bytes, at most 1 MiB. Otherwise adds one error. */
bool smp_lex_acceptable(const char *text, size_t length, int source, smp_diags *diags);

/* Whether this is a name of a tap or parameter: letters, digits and _, not beginning with a digit. */
bool smp_is_name(const char *text, size_t length);
