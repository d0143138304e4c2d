/* op_chain: what several stages make of single samples, in one step; the planner joins them. */
#include "stages/shared/samples/elementwise.h"

typedef struct params {
    double black, white, gamma;
    bool negative;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(black, FRACTION, -10, 10, "0%", "what becomes black", 0),
    SMP_PARAM_FLOAT(white, FRACTION, -10, 10, "90%", "what becomes white", 0),
    SMP_PARAM_FLOAT(gamma, NONE, 0.01, 100, "1", "of the middle tones", 0),
    SMP_PARAM_BOOL(negative, "yes", "turned to its negative at the end", 0),
    {0},
};

/* The planner puts the chain of a joined step in place of this one. */
static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const double full = (double)smp_white(in->format), range = (p->white - p->black) * full;
    const float black = (float)(p->black * full);
    smp_op_chain *chain = SMP_PLAN_KERNEL(work, smp_op_chain);
    if (p->black == p->white)
        return smp_fail(err, SMP_E_PIPE, "black and white must differ");
    chain->op[chain->count++] =
        p->gamma == 1 ? SMP_SAMPLE_OP(levels_line, black, (float)(full / range), (float)full)
                      : SMP_SAMPLE_OP(levels_curve, black, (float)(1 / range), (float)(1 / p->gamma), (float)full);
    if (p->negative)
        chain->op[chain->count++] = SMP_SAMPLE_OP(invert, (float)full);
    work->ops = p->gamma == 1 ? 5 : 41;
    return SMP_OK;
}

SMP_ELEMENTWISE_VARIANTS(op_chain, tables);

const smp_stage smp_stage_op_chain = {
    .name = "op_chain",
    .help = "several operations on single samples, one after the other, in one step",
    .about = "What neighbouring stages make of a sample by itself, computed in f32 without a store between them: the "
             "same bytes as the stages one by one. By itself: black and white points, gamma, negative; alpha stays.",
    .example = "op_chain black=10%",
    SMP_PLANNED(SMP_BOTH, SMP_POINT, table, params, smp_op_chain_variants),
    .traits = SMP_TRAIT_INTERNAL | SMP_TRAIT_KEEPS_ALPHA,
    .role = SMP_ROLE_OP_CHAIN,
};
