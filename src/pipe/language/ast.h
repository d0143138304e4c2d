/* The output of the parser: statements with their values and arguments, each with its place. Names are not looked up
 * yet. All of it lives in one arena. */
#pragma once

#include "base/text/diag.h"
#include "pipe/arena.h"

typedef enum smp_ast_kind {
    SMP_AST_BAD,    /* a diagnostic was reported */
    SMP_AST_WORD,   /* a bare word or number: text */
    SMP_AST_STRING, /* text: without quotes and escapes */
    SMP_AST_PARAM,  /* $name: text is the name */
    SMP_AST_TAP,    /* @name: text is the name */
    SMP_AST_BRACE,  /* {...}: text is what is inside */
    SMP_AST_LIST    /* [...]: items */
} smp_ast_kind;

typedef struct smp_ast_value {
    smp_ast_kind kind;
    smp_span span;
    const char *text; /* null-terminated */
    size_t length;
    struct smp_ast_value *items; /* of a list, row by row */
    size_t count;
    int row; /* of an item: 0, 1, ... */
} smp_ast_value;

typedef struct smp_ast_arg {
    smp_span name_span;
    const char *name; /* null: the value stands alone */
    size_t name_length;
    smp_ast_value value;
} smp_ast_arg;

typedef struct smp_ast_statement {
    smp_span span;      /* all of it */
    smp_span name_span; /* its first word */
    const char *name;
    smp_ast_arg *args; /* in order; of `param x = 1`, the first is x */
    size_t arg_count;
    const char *tap; /* of `-> @tap`, or null */
    smp_span tap_span;
    bool broken; /* a diagnostic was reported inside it, so what it lacks may be a consequence */
} smp_ast_statement;

typedef struct smp_ast {
    smp_ast_statement *statements;
    size_t count;
} smp_ast;

/* Parses the text of a source. False: out of memory. Mistakes become diagnostics. */
bool smp_ast_parse(smp_arena *arena, smp_diags *diags, int source, smp_ast *ast);

/* Parses [start, end) of a source as exactly one value: the default of a stage's parameter, or the value of --set. A
 * mistake gives a diagnostic and SMP_AST_BAD. */
bool smp_ast_parse_value(smp_arena *arena, smp_diags *diags, int source, size_t start, smp_ast_value *value);

/* The parameter that the value at this place was taken for; null: none, or a stage's form spread it over several. */
struct smp_node;
const struct smp_param *smp_node_param_at(const struct smp_node *node, smp_span value);
