/* What the stages that apply a tone curve share. */
#ifndef SMP_STAGES_SHARED_TONE_H
#define SMP_STAGES_SHARED_TONE_H

#include "elementwise/tone_curve.h"
#include "stages/stage.h"

/* naive and tiled. */
extern const smp_variant smp_tone_variants[];

/* Fills the plan of a stage that applies a curve; makes the table for bytes. work: preset to the input's shape. */
smp_code smp_tone_plan(smp_tone_curve curve, const smp_shape *in, smp_node_plan *work, smp_error *err);

#endif
