/* The language of access patterns: which element of shared memory lane `tid` of a warp accesses. Pure; mistakes go into
 * diagnostics.
 *
 *   tid*2                            an index: C's integer expressions in tid
 *   float4 tid ^ 5                   with the type of the elements in front
 *   [32][33] column                  a walk through an array: row, column, diagonal, antidiagonal; and which: column 3
 *   float s[32][33]; s[tid][0]       an array, and the index of each dimension
 *   tile[threadIdx.x * 2]            the same as its index
 *
 * Names: tid (also lane), threadIdx.x and threadIdx.y (tx, ty) of a block whose rows hold block_width threads,
 * blockDim.x, warpSize. Operators: those of C, with C's precedence, on 64-bit integers: ?: || && | ^ & == != < <= > >=
 * << >> + - * / % and unary - + ~ !. Functions: min(a,b), max(a,b), abs(a), brev(a,bits): the low bits in reversed
 * order, and random(n) or random(n,seed): the same numbers below n on every machine. */
#ifndef SMP_COUNTERS_PATTERN_H
#define SMP_COUNTERS_PATTERN_H

#include "counters/elements.h"
#include "pipe/diag.h"

enum { SMP_PATTERN_TEXT = 1000, SMP_PATTERN_NODES = 256, SMP_PATTERN_DEPTH = 64 };

/* One operation of an expression; its operands are indices of other nodes. */
typedef struct smp_pattern_node {
    int op;
    int operands[3];
    int64_t number;
    smp_span span;
} smp_pattern_node;

typedef struct smp_pattern {
    const char *type; /* the name of the type in this language, "float"; null: none given */
    int width;        /* bytes of the type; 0: none given */
    int dims;         /* sizes that were given; 0: only an index */
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

/* The elements that the active lanes access, for elements of `width` bytes. Reports, with SMP_E_USAGE, an index outside
 * its dimension, below 0 or past SMP_ELEMENT_BYTES, division by zero, and overflow. */
smp_code smp_pattern_elements(const smp_pattern *pattern, int64_t block_width, uint32_t active, int width,
                              smp_diags *diags, smp_elements *out);

/* The active lanes: a number (bit n: lane n), or a condition in tid: tid < 16. */
smp_code smp_pattern_mask(const char *name, const char *text, int64_t block_width, smp_diags *diags, uint32_t *out);

/* The value of a node in a lane. For pattern.c and its parts. */
enum {
    SMP_PN_NUMBER,
    SMP_PN_TID,
    SMP_PN_TX,
    SMP_PN_TY,
    SMP_PN_BLOCK,
    SMP_PN_NEGATE,
    SMP_PN_NOT,
    SMP_PN_INVERT,
    SMP_PN_MULTIPLY,
    SMP_PN_DIVIDE,
    SMP_PN_REMAINDER,
    SMP_PN_ADD,
    SMP_PN_SUBTRACT,
    SMP_PN_LEFT,
    SMP_PN_RIGHT,
    SMP_PN_LESS,
    SMP_PN_LESS_EQUAL,
    SMP_PN_GREATER,
    SMP_PN_GREATER_EQUAL,
    SMP_PN_EQUAL,
    SMP_PN_UNEQUAL,
    SMP_PN_AND,
    SMP_PN_XOR,
    SMP_PN_OR,
    SMP_PN_BOTH,
    SMP_PN_EITHER,
    SMP_PN_CHOOSE,
    SMP_PN_MIN,
    SMP_PN_MAX,
    SMP_PN_ABS,
    SMP_PN_BREV,
    SMP_PN_RANDOM
};
bool smp_pattern_value(const smp_pattern *pattern, int node, int lane, int64_t block_width, smp_diags *diags,
                       int64_t *out);

#endif
