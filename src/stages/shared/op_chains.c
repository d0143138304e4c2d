/* Shorter programs of operations on single samples: see op_chains.h. */
#include "stages/shared/op_chains.h"

#include <stdbool.h>
#include <string.h>

#include "elementwise/op_chain.h"

/* Larger values never give smaller results, in f32 as computed; NaN gives NaN, or 0 in a step. Alpha passes. */
static bool rises(const smp_sample_op *op)
{
    return !op->with_alpha &&
           (op->kind == SMP_SAMPLE_OP_STEP || (op->kind == SMP_SAMPLE_OP_LINE && op->b > 0.f && op->b < INFINITY));
}

/* The floats in their order are the numbers -0x7f800000 (-infinity) .. 0x7f800000. */
static float float_at(int64_t place)
{
    return smp_from_bits(place < 0 ? (uint32_t)-place | 0x80000000u : (uint32_t)place);
}

/* The least value that the program makes white; NaN, which nothing reaches, when there is none. */
static float first_white(const smp_op_chain *map, float white)
{
    int64_t low = -0x7f800000 - 1, high = 0x7f800000; /* not white (or no value); white */
    if (smp_op_chain_sample(map, float_at(high), 0) != white)
        return NAN;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (smp_op_chain_sample(map, float_at(middle), 0) == white)
            high = middle;
        else
            low = middle;
    }
    return float_at(high);
}

void smp_op_chain_shorten(smp_op_chain *map)
{
    int steps = 0; /* operations up to the last step that is reached by rising ones only */
    for (int k = 0; k < map->count && rises(&map->op[k]); k++)
        if (map->op[k].kind == SMP_SAMPLE_OP_STEP && map->op[k].white > 0.f)
            steps = k + 1;
    if (steps < 2)
        return;
    smp_op_chain head = *map;
    head.count = steps;
    smp_sample_op step = map->op[steps - 1];
    step.a = first_white(&head, step.white);
    map->op[0] = step;
    memmove(&map->op[1], &map->op[steps], (size_t)(map->count - steps) * sizeof map->op[0]);
    map->count -= steps - 1;
}
