/* What the stages that apply a tone curve share: one pair of kernels, told by its parameters which curve. */
#include "stages/shared/samples/tone.h"

SMP_ELEMENTWISE_VARIANTS(tone_curve, tables);

smp_code smp_tone_plan(int kind, double exponent, const smp_shape *in, smp_node_plan *work)
{
    work->ops = 45;
    return SMP_ELEMENTWISE_PLAN(work, tone_curve, kind, (float)exponent, smp_white(in->format));
}
