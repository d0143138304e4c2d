/* tremolo, vibrato, chorus, flanger: taps of a delay line whose delay and gain swing.
 *
 * Tap k of channel c has the phase t = start + c spread + y step at frame y: 32-bit numbers that go round, so that a
 * phase depends on the frame's number alone. Its first 24 bits a, in turns, give u from 0 to 1: sin^2(pi a), or
 * 1 - |1 - 2a|. The delay is whole + e frames, e = fma(swing, u, part): with n = floor(e) and r = e - n its value s is
 * Lagrange's cubic through frames b + 1, b, b - 1, b - 2 at b - r, b = y - whole - n; a tap that is `still` takes
 * frame b = y - whole. The result is dry x, then fma(gain fma(-dip, u, 1), s, sum) for one tap after the other. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_MODULATED_MOST = 16 /* taps */ };
typedef enum smp_swing { SMP_SWING_SINE, SMP_SWING_TRIANGLE } smp_swing;

typedef struct smp_modulated_tap {
    uint32_t start, step, spread; /* turns, times 2^32: at the beginning, a frame, a channel */
    int32_t shape;                /* smp_swing */
    int32_t still;                /* 1: the delay is whole */
    int32_t whole;                /* frames, */
    float part, swing;            /* and these */
    float gain, dip;
} smp_modulated_tap;

typedef struct smp_modulated {
    float dry;
    int32_t taps;
    smp_modulated_tap tap[SMP_MODULATED_MOST];
} smp_modulated;

/* sin(pi c) for c = 0 .. 1/2: a fit in odd powers, error 2e-7. */
SMP_FORMULA float smp_half_sine(float c)
{
    const float q = c * c;
    return c * fmaf(fmaf(fmaf(fmaf(0.07765766f, q, -0.5982913f), q, 2.5500774f), q, -5.1677103f), q, 3.1415927f);
}

SMP_FORMULA float smp_swing_of(uint32_t phase, int32_t shape)
{
    const float a = (float)(phase >> 8) * 0x1p-24f, away = 0.5f - smp_abs(a - 0.5f), sine = smp_half_sine(away);
    return shape == SMP_SWING_SINE ? sine * sine : away + away;
}

/* Where a tap reads, and by what weights. */
typedef struct smp_tap_at {
    int32_t n;  /* frames before y - whole */
    float w[4]; /* of frames b + 1, b, b - 1, b - 2 */
    float gain;
} smp_tap_at;

SMP_FORMULA smp_tap_at smp_tap_place(const smp_modulated_tap *tap, uint32_t phase)
{
    const float u = smp_swing_of(phase, tap->shape), e = fmaf(tap->swing, u, tap->part), n = floorf(e), r = e - n;
    const float before = r + 1.f, next = r - 1.f, last = r - 2.f;
    const smp_tap_at at = {(int32_t)n,
                           {r * next * last * (-1.f / 6), before * next * last * 0.5f, before * r * last * -0.5f,
                            before * r * next * (1.f / 6)},
                           tap->gain * fmaf(-tap->dip, u, 1.f)};
    return at;
}

SMP_FORMULA float smp_tap_value(const smp_tap_at *at, float ahead, float here, float back, float further)
{
    return fmaf(at->w[3], further, fmaf(at->w[2], back, fmaf(at->w[1], here, at->w[0] * ahead)));
}

SMP_HOST_DEVICE uint32_t smp_tap_phase(const smp_modulated_tap *tap, int64_t y, int channel)
{
    return tap->start + (uint32_t)channel * tap->spread + (uint32_t)y * tap->step;
}

/* Frames before y that a tap reads at most. */
SMP_HOST_DEVICE int64_t smp_tap_reach(const smp_modulated_tap *tap)
{
    return tap->whole + (int64_t)(tap->part + tap->swing * 1.000001f) + 3;
}

/* The definition. */
SMP_HOST_DEVICE float smp_modulated_sample(const smp_io *io, const smp_modulated *p, int64_t y, int channel)
{
    float sum = p->dry * smp_frame_at(&io->in, y, channel);
    for (int k = 0; k < p->taps; k++) {
        const smp_modulated_tap *tap = &p->tap[k];
        const smp_tap_at at = smp_tap_place(tap, smp_tap_phase(tap, y, channel));
        const int64_t b = y - tap->whole - at.n;
        const float s =
            tap->still ? smp_frame_at(&io->in, y - tap->whole, channel)
                       : smp_tap_value(&at, smp_frame_at(&io->in, b + 1, channel), smp_frame_at(&io->in, b, channel),
                                       smp_frame_at(&io->in, b - 1, channel), smp_frame_at(&io->in, b - 2, channel));
        sum = fmaf(at.gain, s, sum);
    }
    return smp_one_nan(sum);
}

SMP_CPU_DECLARE(modulated_naive);
SMP_CPU_DECLARE(modulated_tiled);
