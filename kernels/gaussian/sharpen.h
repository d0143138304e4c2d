/* sharpen: unsharp masking with the blur of gaussian_weights.h. Parameters and arithmetic.
 *
 * The definition: g is the blurred sample (row pass, column pass, unrounded f32), d = v - g;
 * where |d| > threshold (in code values, or d is NaN): fma(amount, d, v), else v; alpha, too. */
#pragma once

#include "gaussian/gaussian_weights.h"

typedef struct smp_sharpen {
    smp_gaussian blur;
    float amount;
    float threshold; /* a fraction of full scale */
} smp_sharpen;

SMP_HOST_DEVICE float smp_sharpen_mask(float v, float blurred, float amount, float threshold)
{
    const float d = v - blurred;
    return fabsf(d) <= threshold ? v : fmaf(amount, d, v);
}

/* CPU scratch: naive keeps the row pass of 2r+1 rows; tiled has the blur's walk and a line of sharp samples. */
SMP_HOST_DEVICE size_t smp_sharpen_ring(const smp_sharpen *s, const smp_view *in)
{
    return (2 * (size_t)s->blur.radius + 1) * (size_t)in->width * (size_t)in->channels * sizeof(float);
}
SMP_HOST_DEVICE size_t smp_sharpen_scratch(const smp_sharpen *s, int channels)
{
    return smp_gaussian_scratch(s->blur.radius, channels);
}

/* GPU: the kernels of sharpen_warp.cuh take the radii of gaussian_warp.cuh up to 8, and amounts whose products fit 16
 * bits. */
enum { SMP_SHARPEN_WARP_RADIUS = 8, SMP_SHARPEN_WARP_AMOUNT = 100 };

/* The radius of the kernel for this launch, or 0: none. */
SMP_HOST_DEVICE int smp_sharpen_warp(const smp_sharpen *s, const smp_io *io)
{
    const int radius = smp_gaussian_warp(&s->blur, io);
    const int fits = radius <= SMP_SHARPEN_WARP_RADIUS && s->amount <= (float)SMP_SHARPEN_WARP_AMOUNT;
    return io->in.format == io->out.format && io->in.format != SMP_U16 && fits ? radius : 0;
}

SMP_CPU_DECLARE(sharpen_naive);
SMP_CPU_DECLARE(sharpen_tiled);
