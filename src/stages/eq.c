/* eq: shelves, bells and notches: one second-order filter. */
#include <math.h>

#include "audio/eq.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/sound/biquads.h"

typedef enum kind { PEAK, LOWSHELF, HIGHSHELF, LOWPASS, HIGHPASS, BANDPASS, NOTCH, ALLPASS } kind;

typedef struct params {
    int kind;
    double freq, gain, q;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(kind, NULL, "peak: a bell; shelves: all below or above; the others have no gain",
                   SMP_P_MAIN | SMP_P_REQUIRED, "peak", "lowshelf", "highshelf", "lowpass", "highpass", "bandpass",
                   "notch", "allpass"),
    SMP_PARAM_FLOAT(freq, HZ, 0, 1e8, NULL,
                    "the middle of a bell, band or notch; of a shelf half its gain; of a pass its corner",
                    SMP_P_REQUIRED | SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(gain, DB, -60, 60, "0dB", "of a bell or shelf", 0),
    SMP_PARAM_FLOAT(q, NONE, 0.01, 1000, "0.7071",
                    "narrowness: a larger one is narrower, and steeper in a shelf or pass", 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (p->gain == 0 || p->kind <= HIGHSHELF)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a %s has no gain", table[0].choices[p->kind]);
    return smp_hint(err, "gain= belongs to peak, lowshelf and highshelf; `gain %.6gdB` changes all frequencies",
                    p->gain);
}

/* Source: Robert Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter coefficients". */
static smp_biquad design(const params *p, double rate)
{
    const double pi = 3.14159265358979323846, w = 2 * pi * p->freq / rate, c = cos(w), alpha = sin(w) / (2 * p->q),
                 a = pow(10, p->gain / 40), root = 2 * sqrt(a) * alpha, sign = p->kind == LOWSHELF ? 1 : -1;
    double b[3] = {alpha, 0, -alpha}, d[3] = {1 + alpha, -2 * c, 1 - alpha};
    switch ((kind)p->kind) {
    case PEAK:
        b[0] = 1 + alpha * a, b[1] = -2 * c, b[2] = 1 - alpha * a;
        d[0] = 1 + alpha / a, d[2] = 1 - alpha / a;
        break;
    case LOWSHELF:
    case HIGHSHELF:
        b[0] = a * ((a + 1) - sign * (a - 1) * c + root);
        b[1] = sign * 2 * a * ((a - 1) - sign * (a + 1) * c);
        b[2] = a * ((a + 1) - sign * (a - 1) * c - root);
        d[0] = (a + 1) + sign * (a - 1) * c + root;
        d[1] = -sign * 2 * ((a - 1) + sign * (a + 1) * c);
        d[2] = (a + 1) + sign * (a - 1) * c - root;
        break;
    case LOWPASS:
        b[0] = b[2] = (1 - c) / 2, b[1] = 1 - c;
        break;
    case HIGHPASS:
        b[0] = b[2] = (1 + c) / 2, b[1] = -(1 + c);
        break;
    case BANDPASS:
        break;
    case NOTCH:
        b[0] = b[2] = 1, b[1] = -2 * c;
        break;
    case ALLPASS:
        b[0] = 1 - alpha, b[1] = -2 * c, b[2] = 1 + alpha;
        break;
    }
    return (smp_biquad){b[0] / d[0], b[1] / d[0], b[2] / d[0], d[1] / d[0], d[2] / d[0]};
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a frequency needs");
    if (p->freq >= in->rate / 2) {
        smp_fail(err, SMP_E_PIPE, "%.6g Hz does not lie below half the sound's rate of %.6g Hz", p->freq, in->rate);
        return smp_hint(err, "give a frequency below %.6g Hz", in->rate / 2);
    }
    smp_eq *eq = SMP_PLAN_KERNEL(work, smp_eq);
    eq->filter = design(p, in->rate);
    work->effect.none = p->kind <= HIGHSHELF && p->gain == 0;
    work->ops = 9;
    SMP_TRY(smp_segments_of(&eq->filter, 1, &eq->segments, err));
    work->rows.up = smp_segments_reach(&eq->segments, in->height);
    work->rows.unit = SMP_BIQUAD_SEGMENT;
    work->values.clips = true;
    return SMP_OK;
}

static int64_t lanes(const smp_io *io, const smp_eq *eq)
{
    const int64_t segment = eq->segments.length, end = io->out.y0 + io->out.rows;
    return (end + segment - 1) / segment - io->out.y0 / segment;
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    enum { THREADS = 32 /* few, so that they lie on many SMs */ };
    smp_grid_line(lanes(io, kernel) * io->in.channels, THREADS, THREADS, grid);
}

static void tiled_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    enum { WARP = 32 };
    smp_grid_line(lanes(io, kernel), WARP / io->in.channels, WARP, grid);
}

static size_t scratch(const smp_io *, const void *)
{
    return smp_eq_scratch();
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive",
              "one segment after the other; on GPUs a thread a segment and channel, which reads its own frames",
              SMP_LAUNCH(eq_naive, .geometry = naive_geometry)),
     .band = SMP_BIQUAD_SEGMENT},
    {SMP_RUNG("tiled",
              "segments and channels side by side in vectors; on GPUs frames turned in shared memory, with conflicts",
              SMP_LAUNCH(eq_tiled, .geometry = tiled_geometry)),
     .scratch = scratch, .band = SMP_BIQUAD_SEGMENT},
    {SMP_RUNG("padded", "a frame more in each row of shared memory: no conflicts (GPU; on a CPU as tiled)",
              SMP_LAUNCH_AS(eq_tiled, .cuda = "eq_padded", .geometry = tiled_geometry)),
     .scratch = scratch, .band = SMP_BIQUAD_SEGMENT},
    {0},
};

const smp_stage smp_stage_eq = {
    .name = "eq",
    .help = "raise or lower a range of frequencies",
    .about =
        "One second-order filter by the formulas of the Audio EQ Cookbook (R. Bristow-Johnson), as equalizers of other "
        "programs have them; several in a row make a parametric equalizer. It delays different frequencies "
        "differently; `lowpass`, `highpass`, `bandpass` and `notch` are longer filters that do not. The recursion runs "
        "in double (transposed direct form II) and is rounded to f32 once. The sound is cut into segments of 16384 "
        "frames or more, and every segment is warmed up until what came before has faded to 2^-32, so that all devices "
        "give the same bytes.",
    .example = "eq highpass freq=1kHz",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .check = check,
    SMP_ALSO({"equalizer anequalizer firequalizer biquad peaking", "eq peak freq=1kHz gain=6dB q=1"},
             {"bass lowshelf", "eq lowshelf freq=100Hz gain=6dB"},
             {"treble highshelf", "eq highshelf freq=3kHz gain=6dB"}, {"allpass", "eq allpass freq=1kHz"},
             {"iirfilter aiir", "eq lowpass freq=4kHz"}, {"tone", "eq lowshelf freq=100Hz gain=3dB"}),
};
