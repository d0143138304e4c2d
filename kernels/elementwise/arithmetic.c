/* arithmetic on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  in blocks: both pictures as f32 code values in the first-level cache, one vectorised loop for each
 * operation. Three bytes cross memory for one operation or two: bandwidth is the bound, but for the divisions of
 * multiply. */
#include "elementwise/arithmetic.h"

#include "lib/elementwise.h"

SMP_CPU_KERNEL(arithmetic_naive)
{
    const smp_arithmetic_params *p = params;
    const smp_view *in = &io->in, *by = &io->second;
    const int by_colours = by->data ? by->channels - by->alpha : 0;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < in->width; x++) {
            float weight = p->opacity;
            if (by->data && by->alpha)
                weight *= smp_load(smp_row(by, y), (x + 1) * by->channels - 1, by->format) / by->white;
            for (int c = 0; c < in->channels; c++) {
                float a = smp_load(smp_row(in, y), x * in->channels + c, in->format), b = p->number, r = a;
                if (!(in->alpha && c == in->channels - 1)) {
                    if (by->data)
                        b = smp_load(smp_row(by, y), x * by->channels + (by_colours > 1 ? c : 0), by->format) *
                            p->scale;
                    r = smp_arithmetic(p->operation, a, b, in->white);
                    if (p->operation >= SMP_BLEND_NORMAL)
                        r = smp_arithmetic_mix(a, r, weight);
                }
                smp_put(io, smp_row(&io->out, y), x * in->channels + c, r);
            }
        }
}

/* One loop an operation. */
static void operate(int operation, float *restrict to, const float *restrict a, const float *restrict b, int64_t n,
                    float white)
{
    switch (operation) {
    default:
#define O(name)                                                                                                        \
    case SMP_##name:                                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                                                \
            to[i] = smp_arithmetic(SMP_##name, a[i], b[i], white);                                                     \
        break;
        SMP_OPERATION_LIST(O)
#undef O
    }
}

/* A block of the second picture: its samples for each sample of the first, at the first's scale, and the weights. */
SMP_INLINE void second_block(const smp_io *io, const smp_arithmetic_params *p, const void *from, int64_t pixels,
                             float *restrict b, float *restrict weight)
{
    const smp_view *by = &io->second;
    const int channels = io->in.channels, by_channels = by->channels, by_colours = by_channels - by->alpha;
    const int64_t n = pixels * channels;
    float row[SMP_BLOCK];
    smp_load_row(row, from, by->format, pixels * by_channels);
    const float scale = p->scale, opacity = p->opacity, by_white = by->white;
    if (by_channels == channels && by->alpha == io->in.alpha)
        for (int64_t i = 0; i < n; i++)
            b[i] = row[i] * scale;
    else
        for (int64_t i = 0; i < pixels; i++)
            for (int c = 0; c < channels; c++)
                b[i * channels + c] = row[i * by_channels + (by_colours > 1 && c < by_channels ? c : 0)] * scale;
    if (!by->alpha)
        return;
    for (int64_t i = 0; i < pixels; i++) {
        float w = opacity * (row[(i + 1) * by_channels - 1] / by_white);
        for (int c = 0; c < channels; c++)
            weight[i * channels + c] = w;
    }
}

SMP_CPU_KERNEL(arithmetic_tiled)
{
    const smp_arithmetic_params *p = params;
    const smp_view *in = &io->in, *by = &io->second;
    const int channels = in->channels, most = by->data && by->channels > channels ? by->channels : channels;
    const int64_t in_size = smp_sample_size(in->format) * channels,
                  out_size = smp_sample_size(io->out.format) * channels;
    const int64_t by_size = by->data ? smp_sample_size(by->format) * by->channels : 0, block = SMP_BLOCK / most;
    float a[SMP_BLOCK], b[SMP_BLOCK], to[SMP_BLOCK], weight[SMP_BLOCK];
    for (int i = 0; i < SMP_BLOCK; i++) {
        b[i] = p->number;
        weight[i] = p->opacity;
    }
    const int mixes = p->operation >= SMP_BLEND_NORMAL && (p->opacity != 1.f || (by->data && by->alpha));
    const int64_t joined = !by->data || by->stride == by->width * by_size ? smp_joined_rows(io, y0, y1) : 1;
    for (int64_t y = y0; y < y1; y += joined) {
        const char *from = smp_row(in, y), *second = by->data ? smp_row(by, y) : NULL;
        char *out = smp_row(&io->out, y);
        const int64_t pixels = in->width * joined;
        for (int64_t x = 0; x < pixels; x += block) {
            const int64_t left = pixels - x < block ? pixels - x : block, n = left * channels;
            smp_load_row(a, from + x * in_size, in->format, n);
            if (second)
                second_block(io, p, second + x * by_size, left, b, weight);
            operate(p->operation, to, a, b, n, in->white);
            if (mixes)
                for (int64_t i = 0; i < n; i++)
                    to[i] = smp_arithmetic_mix(a[i], to[i], weight[i]);
            if (in->alpha)
                for (int64_t i = channels - 1; i < n; i += channels)
                    to[i] = a[i];
            smp_store_row(out + x * out_size, io->out.format, to, n, io->clipped);
        }
    }
}
