/* Shared by stages that change the format. */
#pragma once

#include "stages/stage.h"

/* naive and tiled. */
extern const smp_variant smp_convert_variants[];

/* Fills the plan of a conversion to `format`; work is preset to the input's shape. */
void smp_convert_plan(smp_format format, const smp_shape *in, smp_node_plan *work);
