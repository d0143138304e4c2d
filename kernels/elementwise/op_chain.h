/* op_chain: several operations on single samples in one step. op_list.def lists the operations; each is the formula of
 * its stage, so that a chain gives the bytes of the stages one by one (tests/kernels/op_chain.c). */
#pragma once

#include <string.h>

#include "lib/sample_op.h"
#define OP(NAME, KINDS, GPU)
#include "elementwise/op_list.def" /* the headers of the formulas */
#undef OP

typedef enum smp_sample_op_kind {
    SMP_OP_none,
#define OP(NAME, KINDS, GPU) SMP_OP_##NAME,
#include "elementwise/op_list.def"
#undef OP
    SMP_OP_KINDS
} smp_sample_op_kind;

#define OP(NAME, KINDS, GPU)                                                                                           \
    typedef char smp_##NAME##_fits_an_operation[sizeof(smp_##NAME) <= 4 * SMP_SAMPLE_OP_WORDS ? 1 : -1];
#include "elementwise/op_list.def"
#undef OP

/* One operation on one sample to which it applies. */
SMP_HOST_DEVICE float smp_sample_op_apply(const smp_sample_op *op, float v)
{
    switch (op->kind) {
#define OP(NAME, KINDS, GPU)                                                                                           \
    case SMP_OP_##NAME: {                                                                                              \
        smp_##NAME p;                                                                                                  \
        memcpy(&p, op->params, sizeof p);                                                                              \
        return smp_##NAME##_sample(v, 0, &p);                                                                          \
    }
#include "elementwise/op_list.def"
#undef OP
    default:
        return v;
    }
}

/* The chain on one sample; alpha: the sample is one of alpha. */
SMP_HOST_DEVICE float smp_op_chain_sample(const smp_op_chain *chain, float v, int alpha)
{
    for (int k = 0; k < chain->count; k++)
        if (!alpha || chain->op[k].with_alpha)
            v = smp_sample_op_apply(&chain->op[k], v);
    return v;
}

#ifndef __cplusplus
/* The operation NAME with these parameters: SMP_SAMPLE_OP(invert, .white = 255). */
#define SMP_SAMPLE_OP(NAME, ...) smp_sample_op_of(SMP_OP_##NAME, &(const smp_##NAME){__VA_ARGS__}, sizeof(smp_##NAME))

static inline smp_sample_op smp_sample_op_of(smp_sample_op_kind kind, const void *params, size_t size)
{
    smp_sample_op op = {.kind = (int32_t)kind};
    memcpy(op.params, params, size);
    return op;
}
#endif
