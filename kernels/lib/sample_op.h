/* One operation on single samples, and a chain of them. A stage whose result for a sample depends on that sample alone
 * puts its operation into smp_node_plan.values.op; the planner joins the operations of neighbouring steps into one
 * chain, so that samples cross memory once for all of them. elementwise/op_chain.h gives operations their meaning. */
#pragma once

#include <stdint.h>

enum {
    SMP_SAMPLE_OP_MOST = 8, /* operations of a chain */
    SMP_SAMPLE_OP_WORDS = 5 /* of 32 bits: the largest parameters of an operation */
};

typedef struct smp_sample_op {
    int32_t kind;                        /* smp_sample_op_kind of elementwise/op_chain.h; 0: none */
    int32_t with_alpha;                  /* 1: alpha is a channel like the others; 0: alpha passes through */
    int32_t params[SMP_SAMPLE_OP_WORDS]; /* the bytes of the parameters of its formula */
} smp_sample_op;

typedef struct smp_op_chain {
    int32_t count;
    smp_sample_op op[SMP_SAMPLE_OP_MOST]; /* in order */
} smp_op_chain;
