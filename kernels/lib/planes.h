/* A channel of a sound on a CPU as a plane: its frames end to end. */
#pragma once

#include <string.h>

#include "lib/cpu_kernel.h"

/* Loads count frames of channel c from frame y on, zeros for those that are not there. */
SMP_INLINE void smp_plane_load(float *restrict plane, const smp_view *in, int c, int64_t y, int64_t count)
{
    const int64_t first = in->y0 - y, last = first + in->rows;
    const int64_t before = first < count ? first : count, end = last < count ? last : count;
    int64_t i = 0;
    for (; i < before; i++)
        plane[i] = 0.f;
    if (i < end) {
        const char *row = (const char *)smp_row(in, y + i) + c * (int64_t)sizeof(float);
        const int64_t step = in->stride / (int64_t)sizeof(float);
        const float *from = (const float *)(const void *)row;
        float *restrict to = plane + i;
        const int64_t n = end - i;
        switch (step) { /* a constant step is vectorised */
        case 1:
            memcpy(to, from, (size_t)n * sizeof(float));
            break;
        case 2:
            for (int64_t q = 0; q < n; q++)
                to[q] = from[2 * q];
            break;
        default:
            for (int64_t q = 0; q < n; q++)
                to[q] = from[step * q];
            break;
        }
        i = end;
    }
    for (; i < count; i++)
        plane[i] = 0.f;
}
