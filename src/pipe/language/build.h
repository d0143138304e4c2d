/* The builder: turns statements into a program's nodes. Defines the scope of a text, and what the builder's files
 * (scope.c, declare.c, bind.c, include.c, statement.c) call of each other. */
#pragma once

#include <stdatomic.h>

#include "base/text/text.h"
#include "pipe/catalog.h"
#include "pipe/language/ast.h"
#include "pipe/limits.h"
#include "pipe/program.h"
#include "pipe/values/expr.h"
#include "pipe/values/value.h"

/* The value of a node's parameter: known, or computed for each shape. */
struct smp_argument {
    const smp_param *param;
    smp_value value;
    bool later;      /* depends on the shape, or on a draw */
    smp_field field; /* when not later */
};

/* A matrix computed for a shape; lives as long as the program. */
typedef struct smp_kept {
    struct smp_kept *next;
    smp_matrix matrix;
} smp_kept;

/* The target of smp_program.owned. */
typedef struct smp_owned {
    smp_arena arena;
    uint32_t draws;           /* so far: see pipe/draw.h */
    _Atomic(smp_kept *) kept; /* a list that only grows, so that threads may share a program */
} smp_owned;

typedef struct smp_scope_param {
    const char *name;
    smp_span span;
    smp_value value;
    bool used;
} smp_scope_param;

typedef struct smp_scope_tap {
    const char *name;
    smp_span span;
    int node;
    bool used;
} smp_scope_tap;

/* A parameter's value from outside: --set name=value, or an include's name=value. */
typedef struct smp_given {
    const char *name;
    smp_span span;   /* of the name */
    bool raw;        /* from --set: the value is the rest of the source's text, */
    size_t at;       /* which begins here */
    smp_value value; /* of an include */
    bool used;
} smp_given;

/* One text being bound. An include has its own. */
typedef struct smp_scope {
    const struct smp_scope *outer;
    int source;
    const smp_ast *ast;
    size_t next; /* statements from here on are not bound yet */
    int input;   /* the node that @input means here */
    int current; /* the node that the next stage reads */
    smp_light light;
    smp_scope_param *params;
    size_t param_count, param_capacity;
    smp_scope_tap *taps;
    size_t tap_count, tap_capacity;
    smp_given *givens;
    size_t given_count, given_capacity;
} smp_scope;

typedef struct smp_node_info {
    smp_kind kind; /* of the output, as far as it is known */
    bool used, tapped;
} smp_node_info;

typedef struct smp_file {
    int source;
    char *path; /* the including file's folder joined with the path as written */
    smp_ast ast;
} smp_file;

typedef struct smp_builder {
    smp_program *program;
    smp_owned *owned;
    smp_diags *diags;
    smp_loader *loader;
    void *context;
    smp_node_info *infos; /* as many as nodes */
    size_t info_capacity;
    smp_file *files;
    size_t file_count, file_capacity;
    size_t includes, text_bytes;
    int depth;
    smp_kind input_kind; /* the kind of the pipeline's input: declared, or that of the first stages */
    bool full;           /* a limit was reached and reported: no more nodes */
    bool out_of_memory;
} smp_builder;

/* scope.c. Each function returns false only when out of memory. */
bool smp_resolve(smp_builder *b, smp_scope *scope, const smp_ast_value *from, smp_value *to);
bool smp_define_tap(smp_builder *b, smp_scope *scope, const char *name, smp_span span);
bool smp_find_tap(smp_builder *b, smp_scope *scope, const char *name, smp_span span, int *node);
/* The value of the parameter whose name `text` (size bytes) begins with, and the length of that name; null: none. */
const smp_value *smp_scope_value(const smp_scope *scope, const char *text, size_t size, size_t *length);
/* The kind of a node's output, or of the input, as far as it is known; and setting an unknown one. */
smp_kind smp_kind_of(const smp_builder *b, int node);
void smp_kind_note(smp_builder *b, int node, smp_kind kind);
/* The parameter of the pipeline whose default a value is, which --set would give; null: none. */
const char *smp_scope_default(const smp_scope *scope, const smp_value *value);
void smp_scope_finish(smp_builder *b, smp_scope *scope); /* warns about unused names, frees */

/* declare.c */
bool smp_declare(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement);
bool smp_give_settings(smp_builder *b, smp_scope *scope, const smp_setting *settings, size_t count);
void smp_check_givens(smp_builder *b, const smp_scope *scope, const char *where);

/* bind.c */
#define SMP_PROBABILITY "probability"
bool smp_bind_stage(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement);
/* A file's number, as smp_node has it. False: out of memory. */
bool smp_bind_file(smp_builder *b, const smp_scope *scope, const smp_value *value, int *node);
bool smp_bind_default(smp_arena *arena, const smp_stage *stage, const smp_param *param, smp_argument *argument,
                      smp_error *err);

/* place.c: the arguments of a statement so far. */
typedef struct smp_placed {
    const smp_ast_arg *before; /* the argument before this one, or null */
    const smp_ast_arg *main;   /* the first without a name, or null */
    bool positional;           /* one of them had no name */
    bool wrong;                /* one of them was told to be */
    uint64_t named;            /* bits of parameters that were suggested for others */
} smp_placed;

size_t smp_param_count(const smp_stage *stage);
/* `resize 50% nearest`: the parameter that alone has the word among its choices, where the main one takes no such word;
 * null: there is none, or several. */
const smp_param *smp_row_of_word(const smp_stage *stage, const smp_ast_value *value);
/* The parameter that an argument is for; null after reporting that there is none. */
const smp_param *smp_row_for(smp_builder *b, const smp_stage *stage, const smp_node *node, const smp_ast_arg *arg,
                             smp_placed *so_far);

/* forms.c: values without names that a stage knows (smp_hints.forms). *args becomes the arguments with names, where
 * they can be read in one way; *told: they cannot, and that was reported. False: out of memory. */
bool smp_name_values(smp_builder *b, const smp_stage *stage, smp_kind kind, smp_ast_arg **args, size_t *count,
                     bool *told);
/* Writes what the stage says to write instead of one value that its main parameter refuses. False: nothing. */
bool smp_write_instead(const smp_stage *stage, const smp_ast_value *value, char *text, size_t size);

/* first.c: what the first statement makes from nothing; null: it is a stage. */
const smp_origin *smp_origin_meant(smp_builder *b, const smp_scope *scope, const smp_ast_statement *statement);
/* False: out of memory. */
bool smp_keep_origin(smp_builder *b, const smp_origin *origin, const smp_node *node);
/* Reports one that is not the first statement. */
bool smp_origin_misplaced(smp_builder *b, const smp_ast_statement *statement);
/* Whether the values without names are of a form of the stage that means something; whether its main parameter takes a
 * value. */
bool smp_has_form(const smp_stage *stage, const smp_ast_statement *statement);
bool smp_main_takes(smp_builder *b, const smp_stage *stage, const smp_ast_value *value);

/* unknown.c: reports an unknown stage, and suggests one for what it is given: by what other tools call it, or by the
 * nearest spelling of either. False: out of memory. */
bool smp_unknown_stage(smp_builder *b, const smp_ast_statement *statement, smp_kind kind);

/* amount.c: what does the same as another tool's stage with these numbers: `volume 2`, `pow 2.2`, `modulate 100,150`.
 * Null: no such stage. */
const char *smp_same_amount(const char *name, const smp_ast_statement *statement, char text[SMP_INSTEAD]);

/* meant.c: adds to a diagnostic without a fix what a refused value, or an unknown stage's name, was probably meant as;
 * the second says whether it did. */
void smp_mend_value(smp_builder *b, const smp_stage *stage, const smp_param *param, const smp_value *value,
                    smp_diag *diag);
bool smp_mend_stage(smp_builder *b, const smp_ast_statement *statement, smp_diag *diag);
bool smp_names_stage(const char *text, size_t length);
/* Tells how to write a stage that stands behind another, in this text. */
const char *smp_own_line(const smp_builder *b, int source);

/* numbers.c: a string for a matrix names a text file of numbers, a row a line. *value becomes the list, or bad after a
 * reported mistake. False: out of memory. */
bool smp_load_numbers(smp_builder *b, const smp_scope *scope, smp_value *value);

/* include.c */
bool smp_include(smp_builder *b, smp_scope *scope, const smp_ast_statement *statement);

/* The path relative to where the including file's path is relative to; null: out of memory. */
char *smp_join_path(smp_arena *arena, const char *including, const char *path);

/* statement.c: all statements of scope->ast. */
bool smp_bind_statements(smp_builder *b, smp_scope *scope);
/* Reports `from "FILE"` that no stage follows. */
void smp_check_from(smp_builder *b, const smp_scope *scope, smp_span span);

/* Words for messages: "a picture", "a sound". */
const char *smp_kind_words(smp_kind kind);
