/* Shared by stages that apply a tone curve. */
#pragma once

#include "stages/shared/samples/elementwise.h"

/* naive and tiled. */
extern const smp_variant smp_tone_curve_variants[];

/* Fills the plan of a stage that applies a curve: kind, one of SMP_TONE_CURVE_*; the exponent is for POWER alone. work:
 * preset to the input's shape. */
smp_code smp_tone_plan(int kind, double exponent, const smp_shape *in, smp_node_plan *work);

/* Fields of the stages between encoded values and linear light. */
extern const smp_param smp_light_rows[];
#define SMP_LIGHT_STAGE                                                                                                \
    .domain = SMP_IMAGE, .traits = SMP_TRAIT_INTERNAL | SMP_TRAIT_KEEPS_ALPHA, .access = SMP_POINT,                    \
    SMP_PARAMS(smp_light_rows, smp_light_params), .variants = smp_tone_curve_variants
