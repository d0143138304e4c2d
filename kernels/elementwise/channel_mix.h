/* mix: every output channel a weighted sum of a pixel's input channels: gray, matrix. */
#ifndef SMP_KERNELS_MIX_H
#define SMP_KERNELS_MIX_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_channel_mix {
    int32_t rows, cols; /* output and input channels that the matrix mixes: the first of each pixel */
    int32_t keep_alpha; /* 1: the input's last channel, not among cols, becomes the output's last */
    float weight[SMP_MAX_CHANNELS][SMP_MAX_CHANNELS];
    float constant[SMP_MAX_CHANNELS]; /* fraction of full scale, added */
} smp_channel_mix;

/* The definition, for row r of the matrix: s = constant * white; s = fmaf(weight[c], v[c], s) for c = 0, 1, ... `step`
 * is the distance between channels in samples. `most`: at least mix->cols, a constant, so that GPUs unroll the loop and
 * keep v in registers. */
SMP_HOST_DEVICE float smp_channel_mix_row(const smp_channel_mix *mix, int r, const float *v, int64_t step, float white,
                                          const int most)
{
    float s = mix->constant[r] * white;
    for (int c = 0; c < most; c++)
        if (c < mix->cols)
            s = fmaf(mix->weight[r][c], v[c * step], s);
    return smp_one_nan(s);
}
SMP_HOST_DEVICE float smp_channel_mix_sample(const smp_channel_mix *mix, int r, const float *v, int64_t step,
                                             float white)
{
    return smp_channel_mix_row(mix, r, v, step, white, mix->cols);
}

/* GPU: gray_u8.cu, a warp takes this many pixels of a row at a time; a block has eight warps. */
enum { SMP_GRAY_PIECE = 512, SMP_GRAY_WARPS = 8 };

/* Whether it takes this launch: three bytes into one, by weights that cannot clip (they are not negative and add up to
 * 1 at most, but for rounding) and are far from denormal, so that scaled sums round as plain ones do. */
SMP_HOST_DEVICE int smp_channel_mix_gray(const smp_channel_mix *mix, const smp_io *io)
{
    double most = (double)mix->constant[0];
    int plain = most == 0. || most >= 0x1p-60;
    for (int c = 0; c < 3; c++) {
        const double w = (double)mix->weight[0][c];
        plain = plain && (w == 0. || w >= 0x1p-60);
        most += w;
    }
    return plain && most <= 1 + 1e-6 && mix->rows == 1 && mix->cols == 3 && !mix->keep_alpha && io->in.channels == 3 &&
           io->in.format == SMP_U8 && io->out.format == SMP_U8;
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(channel_mix_naive); /* params: smp_channel_mix */
SMP_CPU_DECLARE(channel_mix_tiled);
#ifdef __cplusplus
}
#endif

#endif
