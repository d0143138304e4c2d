/* Stages whose table says what becomes of a value, or of a luma: kernels/elementwise/equalize.h. */
#pragma once

#include "elementwise/equalize.h"
#include "stages/stage.h"

/* naive and tiled. */
extern const smp_variant smp_equalize_variants[];
