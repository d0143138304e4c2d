/* color: red, green and blue to Lab, HSV or YCbCr, and back. Values are fractions of full scale on both sides. */
#pragma once

#include "elementwise/tone_curve.h"
#include "lib/per_pixel.h"

/* In the order of the stage's choices, first to, then from. */
enum { SMP_TO_LAB, SMP_TO_HSV, SMP_TO_YCBCR, SMP_FROM_LAB, SMP_FROM_HSV, SMP_FROM_YCBCR };

typedef struct smp_color_space {
    int32_t kind; /* SMP_TO_* or SMP_FROM_* */
} smp_color_space;

/* CIE L*a*b* of sRGB (IEC 61966-2-1), white D65, as skimage and OpenCV have it: rows of XYZ divided by the white point,
 * and the inverse times it. */
SMP_FORMULA float smp_lab_row(int row, float r, float g, float b)
{
    const float m[3][3] = {{(float)(0.412453 / 0.95047), (float)(0.357580 / 0.95047), (float)(0.180423 / 0.95047)},
                           {0.212671f, 0.715160f, 0.072169f},
                           {(float)(0.019334 / 1.08883), (float)(0.119193 / 1.08883), (float)(0.950227 / 1.08883)}};
    return fmaf(m[row][2], b, fmaf(m[row][1], g, m[row][0] * r));
}
SMP_FORMULA float smp_lab_back(int row, float x, float y, float z)
{
    const float m[3][3] = {{3.07998030f, -1.53715152f, -0.54282131f},
                           {-0.92124775f, 1.87599000f, 0.04524734f},
                           {0.05289046f, -0.20404134f, 1.15123201f}};
    return fmaf(m[row][2], z, fmaf(m[row][1], y, m[row][0] * x));
}

/* f(t) and its inverse. */
SMP_FORMULA float smp_lab_root(float t)
{
    const float root = smp_powf_(t, 1.f / 3), line = fmaf(7.787f, t, 16.f / 116);
    return t > 0.008856f ? root : line;
}
SMP_FORMULA float smp_lab_cube(float f)
{
    return f > 0.2068966f ? f * f * f : (f - 16.f / 116) / 7.787f;
}

/* The three channels of a pixel. */
typedef struct smp_colour {
    float v[3];
} smp_colour;

SMP_FORMULA smp_colour smp_colour_times(smp_colour of, float white)
{
    const smp_colour to = {{smp_one_nan(of.v[0] * white), smp_one_nan(of.v[1] * white), smp_one_nan(of.v[2] * white)}};
    return to;
}

/* An sRGB value in linear light. */
SMP_FORMULA float smp_lab_light(float v)
{
    return smp_tone_curve_value(SMP_TONE_CURVE_LINEAR, 1.f, v, 1.f);
}
SMP_FORMULA smp_colour smp_light_to_lab(float lr, float lg, float lb)
{
    const float x = smp_lab_root(smp_lab_row(0, lr, lg, lb)), y = smp_lab_root(smp_lab_row(1, lr, lg, lb));
    const float z = smp_lab_root(smp_lab_row(2, lr, lg, lb));
    const smp_colour to = {
        {fmaf(1.16f, y, -0.16f), fmaf(500.f / 255, x - y, 128.f / 255), fmaf(200.f / 255, y - z, 128.f / 255)}};
    return to;
}
SMP_FORMULA smp_colour smp_to_lab(float r, float g, float b)
{
    return smp_light_to_lab(smp_lab_light(r), smp_lab_light(g), smp_lab_light(b));
}
SMP_FORMULA smp_colour smp_from_lab(float l, float a, float b)
{
    const float fy = fmaf(l, 100.f / 116, 16.f / 116);
    const float fx = fmaf(a - 128.f / 255, 255.f / 500, fy), fz = fmaf(128.f / 255 - b, 255.f / 200, fy);
    const float x = smp_lab_cube(fx), y = smp_lab_cube(fy), z = smp_lab_cube(fz > 0.f ? fz : 0.f);
    const smp_colour to = {{smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, 1.f, smp_lab_back(0, x, y, z), 1.f),
                            smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, 1.f, smp_lab_back(1, x, y, z), 1.f),
                            smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, 1.f, smp_lab_back(2, x, y, z), 1.f)}};
    return to;
}

/* Smith 1978. Hue in turns, 0 for grays; ties in the order red, green, blue. */
SMP_FORMULA smp_colour smp_to_hsv(float r, float g, float b)
{
    const float gb = g >= b ? g : b, low = g <= b ? g : b, most = r >= gb ? r : gb, least = r <= low ? r : low;
    const float span = most - least, base = most == r ? 0.f : most == g ? 2.f : 4.f;
    const float apart = most == r ? g - b : most == g ? b - r : r - g;
    const float hue = (base + apart / (span == 0.f ? 1.f : span)) / 6.f, turned = hue < 0.f ? hue + 1.f : hue;
    const smp_colour to = {{span == 0.f ? 0.f : turned, most == 0.f ? 0.f : span / (most == 0.f ? 1.f : most), most}};
    return to;
}
/* v (1 - s t): t goes from 0 to 1 with the distance of the hue from that of the channel, from 1/6 to 1/3 of a turn. */
SMP_FORMULA float smp_hsv_channel(float h, float s, float v)
{
    const float turns = h + 0.5f, apart = fmaf(smp_abs(turns - floorf(turns) - 0.5f), 6.f, -1.f);
    const float t = apart > 1.f ? 1.f : apart > 0.f ? apart : 0.f;
    return v * fmaf(-s, t, 1.f);
}
SMP_FORMULA smp_colour smp_from_hsv(float h, float s, float v)
{
    const smp_colour to = {
        {smp_hsv_channel(h, s, v), smp_hsv_channel(h - 1.f / 3, s, v), smp_hsv_channel(h - 2.f / 3, s, v)}};
    return to;
}

/* JPEG (JFIF): ITU-R BT.601, full range. */
SMP_FORMULA smp_colour smp_to_ycbcr(float r, float g, float b)
{
    const float y = fmaf(0.114f, b, fmaf(0.587f, g, 0.299f * r));
    const smp_colour to = {{y, (b - y) / 1.772f + 128.f / 255, (r - y) / 1.402f + 128.f / 255}};
    return to;
}
SMP_FORMULA smp_colour smp_from_ycbcr(float y, float cb, float cr)
{
    const float b = cb - 128.f / 255, r = cr - 128.f / 255;
    const float green = fmaf((float)(-0.299 * 1.402 / 0.587), r, fmaf((float)(-0.114 * 1.772 / 0.587), b, y));
    const smp_colour to = {{fmaf(1.402f, r, y), green, fmaf(1.772f, b, y)}};
    return to;
}

/* Fractions to fractions. */
SMP_FORMULA smp_colour smp_color_space_fractions(int32_t kind, float a, float b, float c)
{
    return kind == SMP_TO_LAB     ? smp_to_lab(a, b, c)
           : kind == SMP_TO_HSV   ? smp_to_hsv(a, b, c)
           : kind == SMP_TO_YCBCR ? smp_to_ycbcr(a, b, c)
           : kind == SMP_FROM_LAB ? smp_from_lab(a, b, c)
           : kind == SMP_FROM_HSV ? smp_from_hsv(a, b, c)
                                  : smp_from_ycbcr(a, b, c);
}

/* Code values to code values. */
SMP_FORMULA smp_colour smp_color_space_of(int32_t kind, float x, float y, float z, float white)
{
    return smp_colour_times(smp_color_space_fractions(kind, x / white, y / white, z / white), white);
}

SMP_HOST_DEVICE float smp_color_space_pixel(smp_pixel from, int channel, const smp_io *io, const smp_color_space *p)
{
    const smp_colour to =
        smp_color_space_of(p->kind, from.v[0], from.v[from.step], from.v[2 * from.step], io->in.white);
    return channel == 0 ? to.v[0] : channel == 1 ? to.v[1] : channel == 2 ? to.v[2] : from.last;
}
