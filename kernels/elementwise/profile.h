/* profile: colours of a matrix and three curves to sRGB. Table (f32): of each colour the light of `entries` code values
 * from 0 to full scale, and once more the last, between which light is taken from straight lines. Gray has one colour,
 * and no matrix. Colours of tables: a grid of 33^3 encoded colours of sRGB, 0 to 1, the first colour the slowest, and
 * between them tetrahedra. */
#pragma once

#include "elementwise/color_space.h"

typedef struct smp_profile {
    float matrix[9]; /* rows: linear light of sRGB */
    int32_t entries; /* of a colour's table */
    int32_t gray;
    int32_t grid; /* 1: the table is a grid */
} smp_profile;

enum { SMP_PROFILE_POINTS = 33 }; /* of the grid along each colour */

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

/* Returns how far a code value lies behind the first corner of its cell of the grid. */
SMP_HOST_DEVICE float smp_profile_step(float v, float white, int32_t *cell)
{
    const float last = (float)(SMP_PROFILE_POINTS - 1), at = v / white * last;
    const float inside = at > 0.f ? at < last ? at : last : 0.f; /* NaN goes to 0 */
    const int32_t i = (int32_t)inside;
    *cell = i < SMP_PROFILE_POINTS - 1 ? i : SMP_PROFILE_POINTS - 2;
    return inside - (float)*cell;
}

/* Channel `row` of a colour, from the cell's first corner to its last along the edges, the longest way first. */
SMP_HOST_DEVICE float smp_profile_grid(const float *table, int row, float x, float y, float z, float white)
{
    enum { Z = 3, Y = Z * SMP_PROFILE_POINTS, X = Y * SMP_PROFILE_POINTS };
    int32_t i, j, k;
    const float a = smp_profile_step(x, white, &i), b = smp_profile_step(y, white, &j),
                c = smp_profile_step(z, white, &k);
    const float *at = table + (i * X + j * Y + k * Z + row);
    const int32_t longest = a >= b ? (a >= c ? X : Z) : b >= c ? Y : Z, least = a < b ? (a < c ? X : Z) : b < c ? Y : Z;
    const float more = a >= b ? a : b, less = a >= b ? b : a, high = more >= c ? more : c, low = less < c ? less : c,
                rest = more < c ? more : c, middle = less >= rest ? less : rest;
    const float p = at[0], q = at[longest], r = at[X + Y + Z - least], s = at[X + Y + Z];
    const float v = fmaf(low, s - r, fmaf(middle, r - q, fmaf(high, q - p, p))) * white;
    return x == x && y == y && z == z ? v : smp_one_nan(x + y + z);
}

SMP_HOST_DEVICE float smp_profile_pixel(smp_pixel from, int channel, const smp_io *io, const smp_profile *p)
{
    const float *table = (const float *)io->table;
    const float white = io->in.white;
    if (p->gray)
        return channel == 0 ? smp_profile_encoded(smp_profile_light(p, table, 0, from.v[0], white), white) : from.last;
    if (channel > 2)
        return from.last;
    if (p->grid)
        return smp_profile_grid(table, channel, from.v[0], from.v[from.step], from.v[2 * from.step], white);
    const float r = smp_profile_light(p, table, 0, from.v[0], white),
                g = smp_profile_light(p, table, 1, from.v[from.step], white),
                b = smp_profile_light(p, table, 2, from.v[2 * from.step], white);
    return smp_profile_row(p, channel, r, g, b, white);
}
