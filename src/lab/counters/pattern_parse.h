/* Shared by the files of the pattern parser: the position in the text, the words, the mistakes. pattern_words.c knows
 * the words, pattern_types.c types and structs, pattern_expression.c operators and operands, pattern_parse.c arrays and
 * the whole. See pattern.h. */
#pragma once

#include "lab/counters/pattern.h"

/* A member: its bytes, and how many of them where it is an array. */
typedef struct smp_pattern_member {
    char name[SMP_PATTERN_NAME];
    int offset, bytes, count;
} smp_pattern_member;

/* Shape and type of an array's elements. */
typedef struct smp_pattern_shape {
    const char *type; /* null: none was given */
    int size, align;
    bool is_struct;
    int member_count; /* 0: it has none */
    smp_pattern_member members[SMP_PATTERN_MEMBERS];
} smp_pattern_shape;

enum { SMP_PATTERN_STRUCTS = 4 };

typedef struct smp_pattern_parser {
    const char *text;
    size_t length, at;
    int source;
    smp_diags *diags;
    smp_pattern *out;
    const smp_pattern_define *defines;
    size_t define_count;
    int depth;
    struct {
        size_t start, end; /* its name */
        smp_pattern_shape shape;
    } structs[SMP_PATTERN_STRUCTS];
    int struct_count;
} smp_pattern_parser;

enum { SMP_PATTERN_NONE = -1 }; /* no node: a mistake was reported */

/* ------------------------------------------------------------------------------------------------ words */

typedef struct smp_pattern_type {
    const char *name;
    int bytes, count; /* of a component; components */
} smp_pattern_type;

enum { SMP_PATTERN_MOST_TYPES = 120 };

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

/* Takes this word, or this character, and the blanks around it, where it stands here. */
bool smp_pattern_skip_word(smp_pattern_parser *p, const char *word);
bool smp_pattern_skip_mark(smp_pattern_parser *p, char mark);
/* Takes the mark that ends an expression. False: it is not here, and that was reported. */
bool smp_pattern_close(smp_pattern_parser *p, char mark);

/* ------------------------------------------------------------------------------------------------ types */

typedef enum smp_pattern_found {
    SMP_PATTERN_NOT_THERE, /* nothing was taken */
    SMP_PATTERN_FOUND,
    SMP_PATTERN_WRONG /* a mistake was reported */
} smp_pattern_found;

/* Qualifiers are taken in any case. */
smp_pattern_found smp_pattern_read_type(smp_pattern_parser *p, smp_pattern_shape *out);
/* ".y" behind an element: the pattern is this member's access. */
smp_pattern_found smp_pattern_read_member(smp_pattern_parser *p, const smp_pattern_shape *shape);
/* The accesses that an element of this shape takes become the pattern's. */
void smp_pattern_take_shape(smp_pattern *out, const smp_pattern_shape *shape);
void smp_pattern_name_struct(smp_pattern_parser *p, size_t start, size_t end, const smp_pattern_shape *shape);

/* Whether an array's name is more likely a type that was mistyped or does not exist: half8, flaot4. */
bool smp_pattern_seems_type(const smp_pattern_parser *p, size_t start, size_t end);
void smp_pattern_unknown_type(smp_pattern_parser *p, size_t start, size_t end);

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
/* One that is the same number in all lanes, and the mark behind it. *node is the expression's. */
bool smp_pattern_number(smp_pattern_parser *p, char mark, int64_t *value, int *node);
