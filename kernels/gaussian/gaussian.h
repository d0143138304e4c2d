/* gaussian: the blur of gaussian_weights.h as a stage. Its kernel parameters are smp_gaussian. */
#pragma once

#include "gaussian/gaussian_weights.h"

SMP_CPU_DECLARE(gaussian_rows);    /* naive, first launch: to an f32 picture */
SMP_CPU_DECLARE(gaussian_columns); /* naive, second launch */
SMP_CPU_DECLARE(gaussian_tiled);
