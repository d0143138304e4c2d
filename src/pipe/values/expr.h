/* Arithmetic in braces, compiled to a short postfix program with a known unit. So `px` plus `Hz` is an error before any
 * picture is opened, and evaluation needs no recursion. */
#pragma once

#include "base/text/diag.h"
#include "pipe/arena.h"
#include "pipe/draw.h"
#include "pipe/values/units.h"
#include "pipe/values/value.h"

typedef enum smp_op_code {
    SMP_OP_NUMBER,
    SMP_OP_WIDTH,
    SMP_OP_HEIGHT,
    SMP_OP_CHANNELS,
    SMP_OP_RATE,
    SMP_OP_ADD,
    SMP_OP_SUBTRACT,
    SMP_OP_MULTIPLY,
    SMP_OP_DIVIDE,
    SMP_OP_NEGATE,
    SMP_OP_MIN,
    SMP_OP_MAX,
    SMP_OP_ROUND,
    SMP_OP_RANDOM, /* between the second value of the stack and its top */
    SMP_OP_PICK,   /* one of the top `count` values */
    SMP_OP_WITHIN  /* the top of the stack must lie within a parameter's min and max */
} smp_op_code;

typedef struct smp_bounds {
    const char *name; /* of the parameter */
    double min, max;
    smp_unit unit;
} smp_bounds;

typedef struct smp_op {
    smp_op_code code;
    double number; /* RANDOM: what the second value is in, where it has no unit of its own */
    int count;
    uint32_t place; /* RANDOM, PICK: of the draw */
    const smp_bounds *bounds;
} smp_op;

typedef struct smp_expr {
    const smp_op *ops;
    size_t count;
    smp_unit unit;
    bool constant; /* needs no shape, and draws nothing */
    bool random;
} smp_expr;

/* The value of $name; null after reporting that there is none. */
typedef const smp_value *smp_expr_lookup(void *context, const char *name, size_t length, smp_span span);

/* Compiles the text between the braces of `brace`, or a word: "random(...)", or a range "8..100%", of which evaluation
 * without a draw gives the ends. draws: of the pipeline so far. Null after a reported mistake or without memory
 * (arena->failed). */
const smp_expr *smp_expr_compile(smp_arena *arena, smp_diags *diags, const smp_ast_value *brace,
                                 smp_expr_lookup *lookup, void *context, uint32_t *draws);

typedef enum smp_eval {
    SMP_EVAL_DONE,
    SMP_EVAL_SHAPE,    /* needs a shape, and shape is null */
    SMP_EVAL_ZERO,     /* division by zero */
    SMP_EVAL_INFINITE, /* too large */
    SMP_EVAL_RATE,     /* a picture has no rate */
    SMP_EVAL_BOUNDS,   /* a parameter is outside its bounds: see *outside, *value */
    SMP_EVAL_RANGE     /* a range ends below its beginning, or holds no whole or odd number */
} smp_eval;

/* What an expression is evaluated for. */
typedef struct smp_eval_for {
    const smp_shape *shape;
    const smp_draw *draw; /* null: each draw gives an example of what it can: */
    int example;          /* 0: the least, 1: the most, 2 and more: a list its first, second, ... value or the last */
    int step;             /* of a range that is all of the expression: 1: whole numbers, its ends included; 2: odd
                             ones; 0: any */
} smp_eval_for;

smp_eval smp_expr_evaluate(const smp_expr *expr, const smp_eval_for *with, double *value, const smp_bounds **outside);

/* Reports the failure of an evaluation (neither DONE nor SHAPE). */
void smp_expr_report(smp_diags *diags, smp_span span, smp_eval what, double value, const smp_bounds *outside);

/* expr followed by a check of its bounds; null: out of memory. */
const smp_expr *smp_expr_within(smp_arena *arena, const smp_expr *expr, const smp_bounds *bounds);
