/* The language of access patterns: which element of shared memory lane `tid` of a warp accesses. Pure; mistakes go into
 * diagnostics.
 *
 *   tid*2                            an index: C's integer expressions in tid
 *   float4 tid ^ 5                   with the type of the elements in front
 *   [32][33] column                  a walk through an array: row, column, diagonal, antidiagonal; and which: column 3
 *   float s[32][33]; s[tid][0]       an array, and the index of each dimension; extern __shared__ float s[]; s[tid]
 *   tile[threadIdx.x * 2]            the same as its index
 *   float4 s[32]; s[tid].y           a member; struct { float x, y; } s[32]; s[tid].y
 *
 * An element that no one instruction moves (float3, a struct) is as many accesses: the pattern's parts.
 *
 * Names: tid (also lane), threadIdx.x, .y and .z (tx, ty, tz) and blockDim.x, .y and .z of a block's shape, warpSize,
 * and those that the caller defines. Operators: those of C, with C's precedence, on 64-bit integers: ?: || && | ^ & ==
 * != < <= > >=
 * << >> + - * / % and unary - + ~ !. Functions: min(a,b), max(a,b), abs(a), brev(a,bits): the low bits in reversed
 * order, and random(n) or random(n,seed): the same numbers below n on every machine. */
#pragma once

#include "base/text/diag.h"
#include "lab/counters/elements.h"

enum {
    SMP_PATTERN_TEXT = 1000,
    SMP_PATTERN_NODES = 256,
    SMP_PATTERN_DEPTH = 64,
    SMP_PATTERN_MEMBERS = 16, /* of a struct */
    SMP_PATTERN_NAME = 24     /* bytes of a member's name that are kept */
};

/* A name with a value. */
typedef struct smp_pattern_define {
    const char *name;
    int64_t value;
} smp_pattern_define;

/* Threads of a block; y 0: as many rows as the warp has. */
typedef struct smp_pattern_block {
    int64_t x, y, z;
} smp_pattern_block;

/* One of the accesses that an element takes: bytes from its start, bytes a lane, and the member's name, or "". */
typedef struct smp_pattern_part {
    int offset, width;
    char name[SMP_PATTERN_NAME];
} smp_pattern_part;

/* One operation of an expression; its operands are indices of other nodes. */
typedef struct smp_pattern_node {
    int op;
    int operands[3];
    int64_t number;
    smp_span span;
} smp_pattern_node;

typedef struct smp_pattern {
    const char *type; /* the name of the type in this language, "float"; null: none given */
    int width;        /* bytes of its first access; 0: none given */
    int size;         /* bytes from one element to the next; 0: no type was given */
    smp_pattern_part parts[SMP_PATTERN_MEMBERS];
    int part_count;
    int dims; /* sizes that were given; 0: only an index */
    int64_t dim[SMP_ELEMENT_DIMS];
    smp_walk walk;
    int64_t walk_from;
    int index[SMP_ELEMENT_DIMS]; /* nodes, where walk is SMP_WALK_INDEX: dims of them, or one */
    bool random;                 /* it calls random() */
    bool tid;                    /* it depends on the lane */
    smp_span span;               /* all of it */
    smp_pattern_node nodes[SMP_PATTERN_NODES];
    int node_count;
} smp_pattern;

/* Parses a pattern. name stands for the text in diagnostics ("PATTERN"). Reports at most one mistake, with SMP_E_USAGE.
 */
smp_code smp_pattern_parse(const char *name, const char *text, smp_diags *diags, smp_pattern *out);
/* The same with names of the caller's. */
smp_code smp_pattern_parse_with(const char *name, const char *text, const smp_pattern_define *defines, size_t count,
                                smp_diags *diags, smp_pattern *out);

/* Whether the language has this word: no name for a define. */
bool smp_pattern_has_word(const char *word);

/* The elements that the active lanes access, for elements of `size` bytes. block: null is a block of 32. Reports, with
 * SMP_E_USAGE, an index outside its dimension, below 0 or past SMP_ELEMENT_BYTES, division by zero, and overflow. */
smp_code smp_pattern_elements(const smp_pattern *pattern, const smp_pattern_block *block, uint32_t active, int size,
                              smp_diags *diags, smp_elements *out);

/* The active lanes: a number (bit n: lane n), or a condition in tid: tid < 16. */
smp_code smp_pattern_mask(const char *name, const char *text, const smp_pattern_block *block, smp_diags *diags,
                          uint32_t *out);

/* The value of a node in a lane. For pattern_parse.c and its parts. */
enum {
#define LEAF(op, value)                         SMP_PN_##op,
#define PREFIX(op, mark, effect)                SMP_PN_##op,
#define OPERATOR(op, text, level, effect)       SMP_PN_##op,
#define FUNCTION(op, name, least, most, effect) SMP_PN_##op,
#include "lab/counters/pattern_op_list.def"
    SMP_PN_CHOOSE
};
bool smp_pattern_value(const smp_pattern *pattern, int node, int lane, const smp_pattern_block *block, smp_diags *diags,
                       int64_t *out);
