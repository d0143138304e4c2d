/* Shared by stages that apply a tone curve: one pair of kernels, whose parameters say which curve. */
#include "stages/shared/samples/tone.h"

SMP_ELEMENTWISE_VARIANTS(tone_curve, tables);

const smp_param smp_light_rows[] = {
    {"curve", offsetof(smp_light_params, curve), SMP_T_FLOAT, SMP_UNIT_NONE, 0, 100, "0",
     "the exponent of files whose curve is a power; 0: sRGB", NULL, SMP_P_MAIN},
    {0},
};

smp_code smp_tone_plan(int kind, double exponent, const smp_shape *in, smp_node_plan *work)
{
    work->ops = 45;
    return SMP_ELEMENTWISE_PLAN(work, tone_curve, kind, (float)exponent, smp_white(in->format));
}
