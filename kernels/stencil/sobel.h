/* sobel and laplacian: the 3 x 3 derivatives. Parameters and arithmetic.
 *
 * The definitions, the same on every device and for every storage; a b c are the rows above, at and below, l m r the
 * columns left, at and right. All sums are exact for integer code values.
 *   sobel x        v = (a + 2b) + c in each column;  v(r) - v(l)
 *   sobel y        d = c - a in each column;         (d(l) + 2d(m)) + d(r)
 *   magnitude      sqrt(fma(y, y, x*x)), the correctly rounded square root
 *   laplacian 4    ((a + c) + (left + right)) - 4 middle
 *   laplacian 8    v = (a + b) + c in each column;   ((v(l) + v(m)) + v(r)) - 9 middle
 * Alpha passes through. */
#pragma once

#include "lib/tuning.h"
#include "stencil/stencil.h"
#include "stencil/stencil_u8.h"

typedef enum smp_sobel_output {
    SMP_SOBEL_MAGNITUDE,
    SMP_SOBEL_X,
    SMP_SOBEL_Y,
    SMP_LAPLACE_4,
    SMP_LAPLACE_8
} smp_sobel_output;

typedef struct smp_sobel {
    int32_t output; /* smp_sobel_output */
    int32_t edge;   /* smp_edge */
    float fill;     /* of `constant`: a fraction of full scale */
} smp_sobel;

/* Down a column of three. */
SMP_HOST_DEVICE float smp_sobel_smooth(float a, float b, float c)
{
    return fmaf(2.f, b, a) + c;
}
SMP_HOST_DEVICE float smp_sobel_slope(float a, float c)
{
    return c - a;
}
SMP_HOST_DEVICE float smp_laplace_column(float a, float b, float c)
{
    return (a + b) + c;
}

/* Across three columns. */
SMP_HOST_DEVICE float smp_sobel_x(float smooth_l, float smooth_r)
{
    return smooth_r - smooth_l;
}
SMP_HOST_DEVICE float smp_sobel_y(float slope_l, float slope_m, float slope_r)
{
    return fmaf(2.f, slope_m, slope_l) + slope_r;
}
SMP_HOST_DEVICE float smp_sobel_magnitude(float x, float y)
{
    return sqrtf(fmaf(y, y, x * x));
}
SMP_HOST_DEVICE float smp_laplace_4(float up, float down, float left, float right, float middle)
{
    return fmaf(-4.f, middle, (up + down) + (left + right));
}
SMP_HOST_DEVICE float smp_laplace_8(float column_l, float column_m, float column_r, float middle)
{
    return fmaf(-9.f, middle, (column_l + column_m) + column_r);
}

/* One result from a 3 x 3 neighbourhood: p[3 * row + column]. */
SMP_HOST_DEVICE float smp_sobel_at(const float p[9], int output)
{
    if (output == SMP_LAPLACE_4)
        return smp_laplace_4(p[1], p[7], p[3], p[5], p[4]);
    if (output == SMP_LAPLACE_8)
        return smp_laplace_8(smp_laplace_column(p[0], p[3], p[6]), smp_laplace_column(p[1], p[4], p[7]),
                             smp_laplace_column(p[2], p[5], p[8]), p[4]);
    float x = smp_sobel_x(smp_sobel_smooth(p[0], p[3], p[6]), smp_sobel_smooth(p[2], p[5], p[8]));
    float y = smp_sobel_y(smp_sobel_slope(p[0], p[6]), smp_sobel_slope(p[1], p[7]), smp_sobel_slope(p[2], p[8]));
    return output == SMP_SOBEL_X ? x : output == SMP_SOBEL_Y ? y : smp_sobel_magnitude(x, y);
}

/* CPU scratch of the tiled walk: the window, two lines, a row; or, from u8 to u8, two lines and a row without borders.
 */
enum { SMP_SOBEL_PITCH = STENCIL_PITCH + 2 * SMP_MAX_CHANNELS };
SMP_HOST_DEVICE size_t smp_sobel_scratch(void)
{
    size_t floats = (smp_stencil_window(2, smp_stencil_step(2), SMP_SOBEL_PITCH) + 3 * SMP_SOBEL_PITCH) * sizeof(float);
    size_t bytes = smp_bytes_line(2, SMP_MAX_CHANNELS) * (2 * sizeof(int16_t) + sizeof(uint8_t));
    return floats > bytes ? floats : bytes;
}

/* GPU: channels up to which the tiled kernel has a copy of its own. */
enum { SMP_SOBEL_TEMPLATES = 4 };

/* Whether the kernels of sobel_warp.cu, one warp a strip, take this launch. The border value must be zero; offsets in a
 * row have 32 bits. */
SMP_HOST_DEVICE int smp_sobel_warp(const smp_sobel *g, const smp_io *io)
{
    const int channels = io->in.channels;
    return g->output <= SMP_SOBEL_Y && smp_rows_aligned(io) && io->in.format == io->out.format &&
           io->in.format != SMP_U16 && !io->in.alpha && (channels == 1 || channels == 3 || channels == 4) &&
           (g->edge != SMP_CONSTANT || g->fill == 0.f) && io->in.width * channels <= 1 << 30;
}

SMP_CPU_DECLARE(sobel_naive);
SMP_CPU_DECLARE(sobel_tiled);
#ifdef SMP_ISA
int SMP_PASTE(sobel_bytes, SMP_ISA)(const smp_io *io, const smp_sobel *g, void *scratch, int64_t y0, int64_t y1);
#endif
