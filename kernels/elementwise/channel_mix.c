/* Channel mixing on the CPU.
 *   naive  pixel by pixel: the definition.
 *   tiled  a block of pixels is parted into one plane a channel, in the first-level cache; sums then run along planes,
 *          vectorised whatever the number of channels, and are interleaved again. */
#include "elementwise/channel_mix.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(channel_mix_naive)
{
    (void)scratch;
    const smp_channel_mix *mix = params;
    const smp_view *in = &io->in, *out = &io->out;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < in->width; x++) {
            float v[SMP_MAX_CHANNELS];
            for (int c = 0; c < in->channels; c++)
                v[c] = smp_load(smp_row(in, y), x * in->channels + c, in->format);
            for (int r = 0; r < mix->rows; r++)
                smp_put(io, smp_row(out, y), x * out->channels + r, smp_channel_mix_sample(mix, r, v, 1, in->white));
            if (mix->keep_alpha)
                smp_put(io, smp_row(out, y), x * out->channels + mix->rows, v[in->channels - 1]);
        }
}

/* Channel c of pixel i from from[i * channels + c] to planes[c * pixels + i]; channels is a constant in usual cases. */
SMP_INLINE void part(float *restrict planes, const float *restrict from, int64_t pixels, const int channels)
{
    for (int64_t i = 0; i < pixels; i++)
        for (int c = 0; c < channels; c++)
            planes[c * pixels + i] = from[i * channels + c];
}

SMP_INLINE void join(float *restrict to, const float *restrict plane, int64_t pixels, const int channels)
{
    for (int64_t i = 0; i < pixels; i++)
        to[i * channels] = plane[i];
}

#define BY_CHANNELS(channels, fn, a, b, pixels)                                                                        \
    switch (channels) {                                                                                                \
    case 1:                                                                                                            \
        fn(a, b, pixels, 1);                                                                                           \
        break;                                                                                                         \
    case 2:                                                                                                            \
        fn(a, b, pixels, 2);                                                                                           \
        break;                                                                                                         \
    case 3:                                                                                                            \
        fn(a, b, pixels, 3);                                                                                           \
        break;                                                                                                         \
    case 4:                                                                                                            \
        fn(a, b, pixels, 4);                                                                                           \
        break;                                                                                                         \
    default:                                                                                                           \
        fn(a, b, pixels, channels);                                                                                    \
    }

/* Row r of the matrix for every pixel; the sum in the definition's order. cols is a constant in the usual cases. */
SMP_INLINE void sum_of(float *restrict sum, const float *restrict planes, const smp_channel_mix *mix, int r,
                       const int cols, int64_t pixels, float white)
{
    float start = mix->constant[r] * white, w[SMP_MAX_CHANNELS];
    for (int c = 0; c < SMP_MAX_CHANNELS; c++)
        w[c] = mix->weight[r][c];
    for (int64_t i = 0; i < pixels; i++) {
        float s = start;
        for (int c = 0; c < cols; c++)
            s = fmaf(w[c], planes[c * pixels + i], s);
        sum[i] = smp_one_nan(s);
    }
}

SMP_INLINE void channel_mix_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                                  int64_t pixels)
{
    const smp_channel_mix *mix = params;
    float planes[SMP_BLOCK] __attribute__((aligned(64))), sum[SMP_BLOCK] __attribute__((aligned(64)));
    int in_channels = io->in.channels, out_channels = io->out.channels;
    float white = io->in.white;
    BY_CHANNELS(in_channels, part, planes, from, pixels)
    for (int r = 0; r < mix->rows; r++) {
        switch (mix->cols) {
        case 1:
            sum_of(sum, planes, mix, r, 1, pixels, white);
            break;
        case 2:
            sum_of(sum, planes, mix, r, 2, pixels, white);
            break;
        case 3:
            sum_of(sum, planes, mix, r, 3, pixels, white);
            break;
        case 4:
            sum_of(sum, planes, mix, r, 4, pixels, white);
            break;
        default:
            sum_of(sum, planes, mix, r, mix->cols, pixels, white);
        }
        BY_CHANNELS(out_channels, join, to + r, sum, pixels)
    }
    if (mix->keep_alpha)
        BY_CHANNELS(out_channels, join, to + mix->rows, planes + (in_channels - 1) * pixels, pixels)
}

SMP_CPU_KERNEL(channel_mix_tiled)
{
    (void)scratch;
    smp_point_rows(io, params, y0, y1, channel_mix_block);
}
