/* profile: colours of a matrix and three curves to sRGB. Table (f32): of each colour the light of `entries` code values
 * from 0 to full scale, and once more the last, between which light is taken from straight lines. Gray has one colour,
 * and no matrix. */
#ifndef SMP_KERNELS_ELEMENTWISE_PROFILE_H
#define SMP_KERNELS_ELEMENTWISE_PROFILE_H

#include "elementwise/color_space.h"

typedef struct smp_profile {
    float matrix[9]; /* rows: linear light of sRGB */
    int32_t entries; /* of a colour's table */
    int32_t gray;
} smp_profile;

/* The linear light of colour c, for a code value of 0 to full scale; NaN stays. */
SMP_HOST_DEVICE float smp_profile_light(const smp_profile *p, const float *table, int c, float v, float white)
{
    const float last = (float)(p->entries - 1), at = v / white * last;
    const float inside = at > 0.f ? at < last ? at : last : 0.f; /* NaN goes to 0 */
    const int32_t i = (int32_t)inside;
    const float *entry = table + c * (p->entries + 1) + i;
    const float light = fmaf(inside - (float)i, entry[1] - entry[0], entry[0]);
    return v == v ? light : v;
}

/* A row of light as a code value of sRGB. */
SMP_HOST_DEVICE float smp_profile_encoded(float light, float white)
{
    const float inside = light > 1.f ? 1.f : light < 0.f ? 0.f : light;
    return smp_one_nan(smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, 1.f, inside, 1.f) * white);
}
SMP_HOST_DEVICE float smp_profile_row(const smp_profile *p, int row, float r, float g, float b, float white)
{
    const float *m = p->matrix + 3 * row;
    return smp_profile_encoded(fmaf(m[2], b, fmaf(m[1], g, m[0] * r)), white);
}

SMP_HOST_DEVICE smp_colour smp_profile_of(const smp_profile *p, const float *table, float x, float y, float z,
                                          float white)
{
    const float r = smp_profile_light(p, table, 0, x, white), g = smp_profile_light(p, table, 1, y, white),
                b = smp_profile_light(p, table, 2, z, white);
    const smp_colour to = {{smp_profile_row(p, 0, r, g, b, white), smp_profile_row(p, 1, r, g, b, white),
                            smp_profile_row(p, 2, r, g, b, white)}};
    return to;
}

SMP_HOST_DEVICE float smp_profile_pixel(smp_pixel from, int channel, const smp_io *io, const smp_profile *p)
{
    const float *table = (const float *)io->table;
    const float white = io->in.white;
    if (p->gray)
        return channel == 0 ? smp_profile_encoded(smp_profile_light(p, table, 0, from.v[0], white), white) : from.last;
    if (channel > 2)
        return from.last;
    const float r = smp_profile_light(p, table, 0, from.v[0], white),
                g = smp_profile_light(p, table, 1, from.v[from.step], white),
                b = smp_profile_light(p, table, 2, from.v[2 * from.step], white);
    return smp_profile_row(p, channel, r, g, b, white);
}

#endif
