/* The blur by a bell of weights, for gaussian and the stages that build on it: parameters, the arithmetic of one tap
 * step.
 *
 * The definition, the same on every device and for every storage of the input:
 *   row pass      m = w[0]*p[x];  for k = 1..r:  m = fma(w[k], p[x-k] + p[x+k], m)       f32; p are code values
 *   column pass   s = w[r]*m[y-r];  for i = -r+1..r:  s = fma(w[|i|], m[y+i], s)           f32, from top to bottom
 *   and one rounding at the store. Pair sums of 8- and 16-bit samples are exact in f32, so integer storage may add
 * integers. Outside under `zero` and `constant`: p and m both have that value. */
#ifndef SMP_KERNELS_BELL_H
#define SMP_KERNELS_BELL_H

#include "stencil.h"

enum { SMP_BELL_INLINE = 64 }; /* weights that travel with the parameters; wider filters use smp_io.table */

typedef struct smp_bell {
    int32_t radius;
    int32_t edge;             /* smp_edge */
    float fill;               /* of `constant`: a fraction of full scale */
    float w[SMP_BELL_INLINE]; /* w[k] for distance k, when radius < SMP_BELL_INLINE */
} smp_bell;

/* w[0..radius]. */
SMP_FN const float *smp_bell_weights(const smp_bell *g, const void *table)
{
    return g->radius < SMP_BELL_INLINE ? g->w : (const float *)table;
}

SMP_FN float smp_bell_first(float w, float p)
{
    return w * p;
}
SMP_FN float smp_bell_pair(float s, float w, float left, float right)
{
    return fmaf(w, left + right, s);
}
SMP_FN float smp_bell_tap(float s, float w, float m)
{
    return fmaf(w, m, s);
}

/* One value of the row pass, anywhere: rows outside the picture under `zero` and `constant` too. */
SMP_FN float smp_bell_row(const smp_view *in, const smp_bell *g, const float *w, int64_t x, int64_t y, int c)
{
    const float outside = smp_outside(g->edge, g->fill, in->white);
    if (smp_border(y, in->height, g->edge) < 0)
        return outside;
    float m = smp_bell_first(w[0], smp_at_border(in, x, y, c, g->edge, outside));
    for (int k = 1; k <= g->radius; k++)
        m = smp_bell_pair(m, w[k], smp_at_border(in, x - k, y, c, g->edge, outside),
                          smp_at_border(in, x + k, y, c, g->edge, outside));
    return m;
}

/* CPU scratch of the tiled walk: a window, a line and four output rows. */
SMP_FN size_t smp_bell_scratch(int radius, int channels)
{
    int64_t reach = 2 * (int64_t)radius;
    return (smp_stencil_window(reach, smp_stencil_step(reach), STENCIL_PITCH) +
            smp_stencil_line((int64_t)radius * channels) + 4 * STENCIL_PITCH) *
           sizeof(float);
}

#endif
