/* alpha: colour times alpha and back, round stages that mix neighbouring pixels. */
#ifndef SMP_KERNELS_ALPHA_H
#define SMP_KERNELS_ALPHA_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

/* The definitions, in f32 code values: two correctly rounded operations each. The alpha channel itself stays.
 * smp_straight(smp_premultiply(v, a), a) differs from v by at most 2^-22 of it (4 roundings of 2^-24), so a stored 8-
 * or 16-bit v comes back; where alpha is 0 the colour is gone and becomes 0. */
SMP_HOST_DEVICE float smp_premultiply(float v, float alpha, float white)
{
    return smp_one_nan(v * alpha / white);
}
SMP_HOST_DEVICE float smp_straight(float v, float alpha, float white)
{
    float straight = smp_one_nan(v * white / alpha);
    return alpha == 0.f ? 0.f : straight;
}

#ifdef __cplusplus
extern "C" {
#endif
/* No parameters. Pictures without alpha pass unchanged. */
SMP_CPU_DECLARE(premultiply_naive);
SMP_CPU_DECLARE(premultiply_tiled);
SMP_CPU_DECLARE(straight_naive);
SMP_CPU_DECLARE(straight_tiled);
#ifdef __cplusplus
}
#endif

#endif
