/* Values: what follows an '=' after names are looked up and arithmetic is done as far as possible without a picture;
 * and how they become fields of a stage's parameter struct. */
#pragma once

#include "base/text/diag.h"
#include "base/text/text.h"
#include "pipe/arena.h"
#include "pipe/draw.h"
#include "pipe/language/ast.h"
#include "pipe/values/units.h"

typedef enum smp_value_kind {
    SMP_VALUE_BAD, /* was reported */
    SMP_VALUE_NUMBER,
    SMP_VALUE_WORD,   /* a bare word that is no number */
    SMP_VALUE_STRING, /* a text in quotes */
    SMP_VALUE_EXPR,   /* arithmetic that needs the input's shape */
    SMP_VALUE_LIST,
    SMP_VALUE_TAP
} smp_value_kind;

typedef struct smp_value {
    smp_value_kind kind;
    smp_span span;    /* the place of its use: diagnostics point there */
    const char *text; /* as written; a string without its quotes */
    size_t length;
    smp_quantity number;           /* NUMBER */
    const struct smp_expr *expr;   /* EXPR */
    const struct smp_value *items; /* LIST */
    size_t count;
    int row;           /* of an item */
    int node;          /* TAP */
    const char *param; /* the name of the $parameter it came from, or null */
    uint32_t draw;     /* of the word `random`: its place (pipe/draw.h) */
} smp_value;

/* The context of a check: messages, memory, shape. */
typedef struct smp_check {
    smp_diags *diags;
    smp_arena *arena;
    const smp_shape *shape; /* null: not known yet */
    const smp_draw *draw;   /* the same */
    const int *example;     /* without a draw: binds smp_eval_for.example of what can be drawn; null: nothing */
    bool element;           /* the value is an element of a matrix */
    const char *loudness;   /* the stage's parameter for a loudness; null: it has none */
    const smp_param *all;   /* the stage's parameters; null: not told */
} smp_check;

/* One field of a parameter struct. */
typedef union smp_field {
    double number;
    int64_t integer;
    bool flag;
    int choice;
    const char *string;
    smp_matrix matrix;
    smp_operand operand;
} smp_field;

typedef enum smp_bound {
    SMP_BOUND_DONE,
    SMP_BOUND_LATER, /* needs a shape or a draw; the units are right */
    SMP_BOUND_WRONG  /* was reported, or out of memory (arena and diags tell) */
} smp_bound;

/* Checks a value against a row of a parameter table and makes the field. The arena of `check` owns matrices. */
smp_bound smp_value_bind(smp_check *check, const smp_param *param, const smp_value *value, smp_field *field);

/* Writes the field at its offset; reads it. */
void smp_field_put(const smp_param *param, const smp_field *field, void *params);
smp_field smp_field_get(const smp_param *param, const void *params);
void smp_field_text(smp_text *text, const smp_param *param, const smp_field *field); /* "35px" */

/* Describes a value for messages: "'35px'", "'$paper' (35px)"; into text, cut to fit. */
void smp_value_describe(const smp_value *value, char *text, size_t size);

/* Reports that the parameter does not accept the value. */
smp_diag *smp_value_not_accepted(smp_check *check, const smp_param *param, const smp_value *value);

/* Reports a bare word in the place of a number. */
void smp_value_not_a_number(smp_check *check, const smp_param *param, const smp_value *value);

/* Whether a value in this unit fits the parameter; reports it if not. */
bool smp_value_unit_fits(smp_check *check, const smp_param *param, const smp_value *value, smp_unit unit);

/* Whether a value in dB is of the parameter's kind, a level or a loudness, which are not the same; reports it if not.
 */
bool smp_value_is_its_level(smp_check *check, const smp_param *param, const smp_value *value);
