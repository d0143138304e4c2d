/* channel_mix: every output channel a weighted sum of a pixel's input channels: gray, matrix, remix. */
#pragma once

#include "lib/exact_math.h"
#include "lib/per_pixel.h"

typedef struct smp_channel_mix {
    int32_t rows, cols; /* output and input channels that the matrix mixes: the first of each pixel */
    int32_t keep_alpha; /* 1: the input's last channel, not among cols, becomes the output's last */
    float weight[SMP_MAX_CHANNELS][SMP_MAX_CHANNELS];
    float constant[SMP_MAX_CHANNELS]; /* fraction of full scale, added */
} smp_channel_mix;

/* Row r: s = constant * white; s = fmaf(weight[c], v[c], s) for c = 0, 1, ... */
SMP_HOST_DEVICE float smp_channel_mix_pixel(smp_pixel from, int r, const smp_io *io, const smp_channel_mix *mix)
{
    float s = mix->constant[r] * io->in.white;
    for (int c = 0; c < from.most; c++)
        if (c < from.channels)
            s = fmaf(mix->weight[r][c], from.v[c * from.step], s);
    return r < mix->rows ? smp_one_nan(s) : from.last;
}

/* Whether gray_u8.cu takes this launch: three bytes into one, by weights that cannot clip (they are not negative and
 * add up to 1 at most, but for rounding) and are far from denormal, so that scaled sums round as plain ones do. */
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
