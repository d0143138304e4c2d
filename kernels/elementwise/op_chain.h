/* op_chain: programs of operations on single samples (sample_op.h): what each operation is, on any device, and on a CPU
 * over blocks of samples. Every operation is the definition of the stage that says it, called, not written again;
 * tests/kernels/op_chain.c holds every stage that has one against its naive kernel. */
#ifndef SMP_KERNELS_SAMPLE_MAP_H
#define SMP_KERNELS_SAMPLE_MAP_H

#include "elementwise/arithmetic.h"
#include "elementwise/convert.h"
#include "elementwise/invert.h"
#include "elementwise/levels.h"
#include "elementwise/threshold.h"
#include "elementwise/tone_curve.h"
#include "lib/sample_op.h"

/* One operation on a sample that it applies to. */
SMP_HOST_DEVICE float smp_sample_op_apply(const smp_sample_op *op, float v)
{
    switch (op->kind) {
    case SMP_SAMPLE_OP_LINE:
        return smp_one_nan(smp_levels_line(v, op->a, op->b, op->c));
    case SMP_SAMPLE_OP_POWER:
        return smp_one_nan(smp_levels_curve(smp_levels_line(v, op->a, op->b, 1.f), op->c, op->white));
    case SMP_SAMPLE_OP_STEP:
        return smp_threshold_sample(v, op->a, op->white);
    case SMP_SAMPLE_OP_NEGATIVE:
        return smp_invert(v, op->white);
    case SMP_SAMPLE_OP_CONVERT:
        return smp_convert(v, op->white, op->a);
    case SMP_SAMPLE_OP_CURVE:
        return smp_tone_curve_value(op->what, op->a, v, op->white);
    default:
        return smp_arithmetic(op->what, v, op->a, op->white);
    }
}

/* The whole program on one sample; alpha: it is one of alpha. */
SMP_HOST_DEVICE float smp_op_chain_sample(const smp_op_chain *map, float v, int alpha)
{
    for (int k = 0; k < map->count; k++)
        if (!alpha || map->op[k].with_alpha)
            v = smp_sample_op_apply(&map->op[k], v);
    return v;
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(op_chain_naive); /* params: smp_op_chain */
SMP_CPU_DECLARE(op_chain_tiled);
#ifdef __cplusplus
}
#endif

#ifdef SMP_ISA
#define SMP_SAMPLE_OP_LOOP(expression)                                                                                 \
    for (int64_t i = 0; i < n; i++)                                                                                    \
    v[i] = expression

/* One operation on every sample: a loop for each kind, which vectorises. */
SMP_INLINE void smp_sample_op_apply_all(const smp_sample_op *op, float *restrict v, int64_t n)
{
    const float a = op->a, b = op->b, c = op->c, white = op->white;
    switch (op->kind) {
    case SMP_SAMPLE_OP_LINE:
        SMP_SAMPLE_OP_LOOP(smp_one_nan(smp_levels_line(v[i], a, b, c)));
        break;
    case SMP_SAMPLE_OP_POWER:
        SMP_SAMPLE_OP_LOOP(smp_one_nan(smp_levels_curve(smp_levels_line(v[i], a, b, 1.f), c, white)));
        break;
    case SMP_SAMPLE_OP_STEP:
        SMP_SAMPLE_OP_LOOP(smp_threshold_sample(v[i], a, white));
        break;
    case SMP_SAMPLE_OP_NEGATIVE:
        SMP_SAMPLE_OP_LOOP(smp_invert(v[i], white));
        break;
    case SMP_SAMPLE_OP_CONVERT:
        SMP_SAMPLE_OP_LOOP(smp_convert(v[i], white, a));
        break;
    case SMP_SAMPLE_OP_CURVE:
        if (op->what == SMP_TONE_CURVE_POWER)
            SMP_SAMPLE_OP_LOOP(smp_tone_curve_value(SMP_TONE_CURVE_POWER, a, v[i], white));
        else if (op->what == SMP_TONE_CURVE_LINEAR)
            SMP_SAMPLE_OP_LOOP(smp_tone_curve_value(SMP_TONE_CURVE_LINEAR, a, v[i], white));
        else
            SMP_SAMPLE_OP_LOOP(smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, a, v[i], white));
        break;
    default:
        if (op->what == SMP_ADD)
            SMP_SAMPLE_OP_LOOP(smp_arithmetic(SMP_ADD, v[i], a, white));
        else if (op->what == SMP_SUBTRACT)
            SMP_SAMPLE_OP_LOOP(smp_arithmetic(SMP_SUBTRACT, v[i], a, white));
        else if (op->what == SMP_MULTIPLY)
            SMP_SAMPLE_OP_LOOP(smp_arithmetic(SMP_MULTIPLY, v[i], a, white));
        else
            SMP_SAMPLE_OP_LOOP(smp_arithmetic(SMP_DIVIDE, v[i], a, white));
        break;
    }
}
#undef SMP_SAMPLE_OP_LOOP

/* The program on n samples, whole pixels of so many channels. kept: n floats. */
SMP_INLINE void smp_op_chain_all(const smp_op_chain *map, float *restrict v, float *restrict kept, int64_t n,
                                 int channels, int alpha)
{
    for (int k = 0; k < map->count; k++) {
        const smp_sample_op *op = &map->op[k];
        const int keeps = alpha && !op->with_alpha;
        if (keeps)
            for (int64_t i = channels - 1; i < n; i += channels)
                kept[i] = v[i];
        smp_sample_op_apply_all(op, v, n);
        if (keeps)
            for (int64_t i = channels - 1; i < n; i += channels)
                v[i] = kept[i];
    }
}
#endif

#endif
