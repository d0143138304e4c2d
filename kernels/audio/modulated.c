/* tremolo, vibrato, chorus and flanger on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  where the frames of a block read is worked out in vectors, for all channels at once where they swing alike;
 *          then four loads a sample and tap. */
#include "audio/modulated.h"

enum { BLOCK = 256 /* frames */ };

static void each_sample(const smp_io *io, const smp_modulated *p, int64_t y0, int64_t y1)
{
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < io->in.channels; c++)
            ((float *)smp_row(&io->out, y))[c] = smp_modulated_sample(io, p, y, c);
}

SMP_CPU_KERNEL(modulated_naive)
{
    each_sample(io, params, y0, y1);
}

/* smp_tap_at of the frames of a block, one array a field. */
typedef struct places {
    int32_t n[BLOCK];
    float w[4][BLOCK], gain[BLOCK];
} places;

SMP_INLINE void place_block(places *to, const smp_modulated_tap *tap, uint32_t phase, const int shape)
{
    smp_modulated_tap own = *tap;
    own.shape = shape;
    for (int i = 0; i < BLOCK; i++) {
        const smp_tap_at at = smp_tap_place(&own, phase + (uint32_t)i * own.step);
        to->n[i] = at.n;
        to->gain[i] = at.gain;
        for (int k = 0; k < 4; k++)
            to->w[k][i] = at.w[k];
    }
}

/* Adds a tap to `count` sums. x: the frame of the first, `step` floats apart. */
SMP_INLINE void add_tap(float *restrict sum, const places *at, const smp_modulated_tap *tap, const float *restrict x,
                        int64_t count, const int64_t step)
{
    x -= tap->whole * step;
    if (tap->still)
        for (int64_t i = 0; i < count; i++)
            sum[i] = fmaf(at->gain[i], x[i * step], sum[i]);
    else
        for (int64_t i = 0; i < count; i++) {
            const float *b = x + (i - at->n[i]) * step;
            const smp_tap_at one = {at->n[i], {at->w[0][i], at->w[1][i], at->w[2][i], at->w[3][i]}, at->gain[i]};
            sum[i] = fmaf(one.gain, smp_tap_value(&one, b[step], b[0], b[-step], b[-2 * step]), sum[i]);
        }
}

/* Frames y .. y + count - 1, all of whose taps lie in the rows that are there. */
SMP_INLINE void block(const smp_io *io, const smp_modulated *p, int64_t y, int64_t count)
{
    places at;
    float sum[SMP_MAX_CHANNELS][BLOCK];
    const int channels = io->in.channels;
    const int64_t step = io->in.stride / (int64_t)sizeof(float), out = io->out.stride / (int64_t)sizeof(float);
    const float *from = smp_row(&io->in, y);
    float *to = smp_row(&io->out, y);
    for (int c = 0; c < channels; c++)
        for (int64_t i = 0; i < count; i++)
            sum[c][i] = p->dry * from[i * step + c];
    for (int k = 0; k < p->taps; k++)
        for (int c = 0; c < channels; c++) {
            const smp_modulated_tap *tap = &p->tap[k];
            if (c == 0 || tap->spread) {
                if (tap->shape == SMP_SWING_SINE)
                    place_block(&at, tap, smp_tap_phase(tap, y, c), SMP_SWING_SINE);
                else
                    place_block(&at, tap, smp_tap_phase(tap, y, c), SMP_SWING_TRIANGLE);
            }
            if (step == 1)
                add_tap(sum[c], &at, tap, from + c, count, 1);
            else if (step == 2)
                add_tap(sum[c], &at, tap, from + c, count, 2);
            else
                add_tap(sum[c], &at, tap, from + c, count, step);
        }
    for (int c = 0; c < channels; c++)
        for (int64_t i = 0; i < count; i++)
            to[i * out + c] = smp_one_nan(sum[c][i]);
}

SMP_CPU_KERNEL(modulated_tiled)
{
    const smp_modulated *p = params;
    int64_t up = 0;
    for (int k = 0; k < p->taps; k++) {
        const int64_t reach = smp_tap_reach(&p->tap[k]);
        up = reach > up ? reach : up;
    }
    for (int64_t y = y0; y < y1; y += BLOCK) {
        const int64_t count = y1 - y < BLOCK ? y1 - y : BLOCK;
        if (y - up >= io->in.y0 && y + count < io->in.y0 + io->in.rows)
            block(io, p, y, count);
        else
            each_sample(io, p, y, y + count);
    }
}
