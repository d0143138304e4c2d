/* convert: from one storage format and full scale to another: depth, and the last step before a file. */
#pragma once

#include "lib/exact_math.h"
#include "lib/per_pixel.h"

typedef struct smp_convert {
    float white_in, white_out;
} smp_convert;

/* In code values: v * (white_out / white_in), written so that each case is one correctly rounded operation. Stored as
 * integers that is exactly
 *     8 to 16 bits    v * 257
 *     16 to 8 bits    (v * 255 + 32895) >> 16, the nearest of v / 257 (there are no ties)
 *     to float        v / white, rounded once
 *     from float      v * white, rounded to nearest even, clamped, clamped samples counted
 * Equal full scales leave v as it is. tests/kernels/convert.c checks every 8- and 16-bit value. */
SMP_HOST_DEVICE float smp_convert_value(float v, float white_in, float white_out)
{
    if (white_in == white_out)
        return v;
    return smp_one_nan(white_out > white_in ? v * (white_out / white_in) : v / (white_in / white_out));
}

SMP_HOST_DEVICE float smp_convert_sample(float v, int channel, const smp_convert *p)
{
    (void)channel;
    return smp_convert_value(v, p->white_in, p->white_out);
}

/* Alpha is a channel like the others. The input's last channel is dropped where the output has one less. */
SMP_HOST_DEVICE float smp_convert_pixel(smp_pixel from, int channel, const smp_io *io, const void *params)
{
    (void)params;
    return smp_convert_value(from.v[channel * from.step], io->in.white, io->out.white);
}
