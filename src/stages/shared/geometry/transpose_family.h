/* Shared by stages that turn and mirror: their variants and the shape of their output. */
#pragma once

#include "geometry/transpose.h"
#include "stages/stage.h"

/* naive, tiled, padded and swizzled; the last two differ from tiled on GPUs alone. */
extern const smp_variant smp_transpose_variants[];
extern const smp_variant smp_reverse_variants[]; /* the same, told of sounds */

/* Fills the plan of a stage that moves samples as `how` says (SMP_TRANSPOSE_*). work: preset to the input's shape. */
void smp_transpose_plan(int32_t orientation, const smp_shape *in, smp_node_plan *work);
