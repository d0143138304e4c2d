/* Shorter chains of operations on single samples: see op_chains.h. */
#include "stages/shared/samples/op_chains.h"

#include <stdbool.h>
#include <string.h>

#include "elementwise/op_chain.h"

static smp_levels_line line_of(const smp_sample_op *op)
{
    smp_levels_line line;
    memcpy(&line, op->params, sizeof line);
    return line;
}

static smp_threshold_step step_of(const smp_sample_op *op)
{
    smp_threshold_step step;
    memcpy(&step, op->params, sizeof step);
    return step;
}

/* Whether larger values never give smaller results, in f32 as computed. NaN gives NaN, or 0 in a threshold. Alpha
 * passes. */
static bool rises(const smp_sample_op *op)
{
    const float scale = op->kind == SMP_OP_levels_line ? line_of(op).scale : 0.f;
    return !op->with_alpha && (op->kind == SMP_OP_threshold_step || (scale > 0.f && scale < INFINITY));
}

/* The floats in their order are the numbers -0x7f800000 (-infinity) .. 0x7f800000. */
static float float_at(int64_t place)
{
    return smp_from_bits(place < 0 ? (uint32_t)-place | 0x80000000u : (uint32_t)place);
}

/* The least value that the chain makes white; NaN, which nothing reaches, when there is none. */
static float first_white(const smp_op_chain *chain, float white)
{
    int64_t low = -0x7f800000 - 1, high = 0x7f800000; /* not white (or no value); white */
    if (smp_op_chain_sample(chain, float_at(high), 0) != white)
        return NAN;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (smp_op_chain_sample(chain, float_at(middle), 0) == white)
            high = middle;
        else
            low = middle;
    }
    return float_at(high);
}

void smp_op_chain_shorten(smp_op_chain *chain)
{
    int steps = 0; /* operations up to the last threshold that only rising ones come before */
    for (int k = 0; k < chain->count && rises(&chain->op[k]); k++)
        if (chain->op[k].kind == SMP_OP_threshold_step && step_of(&chain->op[k]).white > 0.f)
            steps = k + 1;
    if (steps < 2)
        return;
    smp_op_chain head = *chain;
    head.count = steps;
    const float white = step_of(&chain->op[steps - 1]).white;
    chain->op[0] = SMP_SAMPLE_OP(threshold_step, first_white(&head, white), white);
    memmove(&chain->op[1], &chain->op[steps], (size_t)(chain->count - steps) * sizeof chain->op[0]);
    chain->count -= steps - 1;
}
