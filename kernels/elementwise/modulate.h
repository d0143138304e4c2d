/* modulate: lightness, saturation and hue in HSL.
 *
 * Of fractions of full scale, with M the largest and m the least: L = (M + m) / 2, C = M - m, and the hue h in turns as
 * in HSV (color_space.h). Saturation in HSL is C / (2 min(L, 1 - L)). So with L' = L brightness, h' = h + hue and
 * C' = C saturation min(L', 1 - L') / min(L, 1 - L), channel k becomes L' + C' w(h' - k / 3), where w falls from 1/2 to
 * -1/2 as the hue goes from 1/6 to 1/3 of a turn away. */
#pragma once

#include "elementwise/color_space.h"

typedef struct smp_modulate {
    float brightness, saturation, hue; /* factors; turns */
} smp_modulate;

/* Half of the greatest difference that channels of a lightness have in the range. */
SMP_FORMULA float smp_modulate_room(float l)
{
    return l < 0.5f ? l : 1.f - l;
}

SMP_HOST_DEVICE float smp_modulate_pixel(smp_pixel from, int channel, const smp_io *io, const smp_modulate *p)
{
    const float white = io->in.white;
    const float r = from.v[0] / white, g = from.v[from.step] / white, b = from.v[2 * from.step] / white;
    const float gb = g >= b ? g : b, low = g <= b ? g : b, most = r >= gb ? r : gb, least = r <= low ? r : low;
    const float l = (most + least) * 0.5f, to = l * p->brightness, room = smp_modulate_room(l);
    const float across = (most - least) * p->saturation * smp_modulate_room(to) / (room == 0.f ? 1.f : room);
    const float hue = smp_to_hsv(r, g, b).v[0] + p->hue - (float)channel * (1.f / 3);
    const float made = fmaf(across, smp_hsv_channel(hue, 1.f, 1.f) - 0.5f, to);
    return channel < 3 ? smp_one_nan(made * white) : from.last;
}
