/* The best few colours for a picture, of counts. */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* values: double[count][colours], fractions of full scale, from what palette_count counted (elementwise/palette.h).
 * Where the picture has fewer colours, the last one fills the rest. */
smp_code smp_color_cut(const uint64_t *counts, int colours, int count, double *values, smp_error *err);
