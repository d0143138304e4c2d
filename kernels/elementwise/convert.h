/* convert: from one storage format and full scale to another (depth, and the last step before a file). */
#ifndef SMP_KERNELS_CONVERT_H
#define SMP_KERNELS_CONVERT_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

/* The definition, in code values: v * (white_out / white_in), written so that each case is one correctly rounded
 * operation. Stored as integers that is exactly
 *     8 to 16 bits    v * 257
 *     16 to 8 bits    (v * 255 + 32895) >> 16, the nearest of v / 257 (there are no ties)
 *     to float        v / white, rounded once
 *     from float      v * white, rounded to nearest even, clamped, clamped samples counted
 * Equal full scales leave v as it is. tests/kernels/convert.c checks every 8- and 16-bit value. */
SMP_HOST_DEVICE float smp_convert(float v, float white_in, float white_out)
{
    if (white_in == white_out)
        return v;
    return smp_one_nan(white_out > white_in ? v * (white_out / white_in) : v / (white_in / white_out));
}

#ifdef __cplusplus
extern "C" {
#endif
/* No parameters: the views say all. Where the output has one channel less, the input's last one (alpha) is dropped. */
SMP_CPU_DECLARE(convert_naive);
SMP_CPU_DECLARE(convert_tiled);
#ifdef __cplusplus
}
#endif

#endif
