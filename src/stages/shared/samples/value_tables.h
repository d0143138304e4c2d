/* Stages whose table says what becomes of a value, or of a luma: kernels/elementwise/equalize.h. */
#ifndef SMP_STAGES_SHARED_SAMPLES_VALUE_TABLES_H
#define SMP_STAGES_SHARED_SAMPLES_VALUE_TABLES_H

#include "elementwise/equalize.h"
#include "stages/stage.h"

/* naive and tiled. */
extern const smp_variant smp_equalize_variants[];

#endif
