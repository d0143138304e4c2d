/* Finds the angle by which the lines of a page are turned. */
#pragma once

#include "stages/stage.h"

/* sums: what kernels/reduce/brightness.h makes of a picture. *angle: degrees, clockwise, within +-limit; 0 where
 * there is nothing to see. */
smp_code smp_skew_find(const uint16_t *sums, int64_t width, int64_t height, double limit, double *angle,
                       smp_error *err);
