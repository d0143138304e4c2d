/* What becomes of one sample by itself, as a short program: a stage whose result for a sample depends on that sample
 * alone says so in an operation (smp_node_plan.map), and the planner strings the operations of neighbouring steps
 * together, so that samples cross memory once for all of them. Operations compute in f32 code values, as the stages do;
 * what each one is stands in op_chain.h, by the definitions of the stages' own families. */
#ifndef SMP_KERNELS_MAP_H
#define SMP_KERNELS_MAP_H

#include <stdint.h>

enum { SMP_SAMPLE_OP_MOST = 8 }; /* operations of a program */

typedef enum smp_sample_op_kind {
    SMP_SAMPLE_OP_NONE,
    SMP_SAMPLE_OP_LINE,     /* (v - a) * b, clamped to 0..c */
    SMP_SAMPLE_OP_POWER,    /* (v - a) * b, clamped to 0..1, to the power c, times full scale */
    SMP_SAMPLE_OP_STEP,     /* full scale from a on, else 0 */
    SMP_SAMPLE_OP_NEGATIVE, /* full scale less v */
    SMP_SAMPLE_OP_CONVERT,  /* to the full scale a */
    SMP_SAMPLE_OP_CURVE,    /* the tone curve `what` with the exponent a */
    SMP_SAMPLE_OP_NUMBER    /* the arithmetic operation `what`, add to divide, with the code value a */
} smp_sample_op_kind;

typedef struct smp_sample_op {
    int32_t kind, what;
    int32_t with_alpha; /* 1: alpha is a channel like the others; 0: it passes through */
    float white;        /* full scale of what comes in */
    float a, b, c;
} smp_sample_op;

typedef struct smp_op_chain {
    int32_t count;
    smp_sample_op op[SMP_SAMPLE_OP_MOST]; /* in order */
} smp_op_chain;

#endif
