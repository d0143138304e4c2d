/* Tone curves on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  bytes through the plan's table (and to bytes through one of bytes made from it), all else computed in
 *          vectorised blocks: about 40 operations a sample cost less than a look-up in 65536 entries. Alpha is put back
 *          after each block. */
#include "elementwise/tone_curve.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(tone_curve_naive)
{
    (void)scratch;
    const smp_tone_curve *curve = params;
    const smp_view *in = &io->in;
    int channels = in->channels, colours = channels - in->alpha;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < in->width; x++)
            for (int c = 0; c < channels; c++) {
                float v = smp_load(smp_row(in, y), x * channels + c, in->format);
                if (c < colours)
                    v = smp_tone_curve_value(curve->kind, curve->exponent, v, in->white);
                smp_put(io, smp_row(&io->out, y), x * channels + c, v);
            }
}

SMP_INLINE void tone_curve_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                                 int64_t pixels)
{
    const smp_tone_curve *curve = params;
    const float white = io->in.white, exponent = curve->exponent;
    int64_t n = pixels * io->in.channels;
    switch (curve->kind) {
    case SMP_TONE_CURVE_POWER:
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_tone_curve_value(SMP_TONE_CURVE_POWER, exponent, from[i], white);
        break;
    case SMP_TONE_CURVE_LINEAR:
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_tone_curve_value(SMP_TONE_CURVE_LINEAR, 0, from[i], white);
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_tone_curve_value(SMP_TONE_CURVE_ENCODED, 0, from[i], white);
    }
    if (io->in.alpha)
        for (int64_t i = io->in.channels - 1; i < n; i += io->in.channels)
            to[i] = from[i];
}

/* Bytes in: everything they can become is known. */
static void look_up(const smp_io *io, int64_t y0, int64_t y1)
{
    const smp_view *in = &io->in, *out = &io->out;
    const float *values = io->table;
    uint8_t bytes[SMP_TONE_CURVE_TABLE];
    for (int i = 0; i < SMP_TONE_CURVE_TABLE; i++)
        bytes[i] = smp_to_u8(values[i]);
    int64_t rows = smp_joined_rows(io, y0, y1), n = in->width * in->channels * rows;
    for (int64_t y = y0; y < y1; y += rows) {
        const uint8_t *restrict from = smp_row(in, y);
        if (out->format == SMP_U8) {
            uint8_t *restrict to = smp_row(out, y);
            for (int64_t i = 0; i < n; i++)
                to[i] = bytes[from[i]];
            for (int64_t i = in->channels - 1; in->alpha && i < n; i += in->channels)
                to[i] = from[i];
        } else {
            float *restrict to = smp_row(out, y);
            for (int64_t i = 0; i < n; i++)
                to[i] = values[from[i]];
            for (int64_t i = in->channels - 1; in->alpha && i < n; i += in->channels)
                to[i] = (float)from[i];
        }
    }
}

SMP_CPU_KERNEL(tone_curve_tiled)
{
    (void)scratch;
    if (io->table && io->in.format == SMP_U8 && (io->out.format == SMP_U8 || io->out.format == SMP_F32))
        look_up(io, y0, y1);
    else
        smp_point_rows(io, params, y0, y1, tone_curve_block);
}
