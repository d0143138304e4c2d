/* invert: full scale minus the sample; alpha stays. Parameters and kernels. */
#ifndef SMP_KERNELS_INVERT_H
#define SMP_KERNELS_INVERT_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

/* The definition: one exact subtraction in code values (float pictures: one rounding of f32). */
SMP_HOST_DEVICE float smp_invert(float v, float white)
{
    return smp_one_nan(white - v);
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(invert_naive);
SMP_CPU_DECLARE(invert_tiled);
#ifdef __cplusplus
}
#endif

#endif
