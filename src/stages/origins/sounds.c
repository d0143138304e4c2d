/* tone, sweep, silence, impulse: sounds by formula. Sines and powers are of this file, since C libraries differ in
 * their last bits. */
#include <math.h>

#include "stages/origins/origin.h"

typedef struct params {
    smp_origin_sound sound;
    double freq, to, level, at;
    int wave, curve;
} params;

#define FREQ(name, fallback, help, flags) SMP_PARAM_FLOAT(name, HZ, 0, 1e6, fallback, help, SMP_P_POSITIVE | (flags))

/* sin(2 pi t), by the series around multiples of an eighth turn: error below 1e-15. */
static double sine_of_turns(double t)
{
    static const double pi2 = 6.283185307179586;
    const double turn = t - floor(t), eighth = floor(8 * turn), half = floor((eighth + 1) / 2); /* quarters, rounded */
    const double x = (turn - half / 4) * pi2, z = x * x;
    const double sine =
        x * (1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156 * (1 - z / 210)))))));
    const double cosine =
        1 - z / 2 * (1 - z / 12 * (1 - z / 30 * (1 - z / 56 * (1 - z / 90 * (1 - z / 132 * (1 - z / 182))))));
    const int quarter = (int)half & 3;
    return quarter == 0 ? sine : quarter == 1 ? cosine : quarter == 2 ? -sine : -cosine;
}

/* e^x - 1, x >= 0: the series of x/2^k, squared k times. */
static double exp_less_one(double x)
{
    enum { TERMS = 18 };
    int k = 0;
    double sum = 0;
    for (; x > 0.5; x /= 2)
        k++;
    for (int n = TERMS; n > 0; n--)
        sum = (1 + sum) * x / n;
    for (; k > 0; k--)
        sum = sum * (2 + sum);
    return sum;
}

/* ln x, x > 0: twice the series of atanh, of x between 2/3 and 4/3. */
static double ln(double x)
{
    enum { TERMS = 25 };
    static const double ln2 = 0.6931471805599453;
    int exponent;
    double m = frexp(x, &exponent), sum = 0;
    if (m < 2. / 3)
        m *= 2, exponent--;
    const double t = (m - 1) / (m + 1);
    for (int n = 2 * TERMS + 1; n > 0; n -= 2)
        sum = sum * t * t + 1. / n;
    return 2 * t * sum + exponent * ln2;
}

static void put_frame(const smp_shape *shape, double value, void *row)
{
    for (int c = 0; c < shape->channels; c++)
        ((float *)row)[c] = (float)value;
}

static smp_code shape_of(const void *given, smp_shape *shape, smp_error *)
{
    const params *p = given;
    smp_origin_frames(&p->sound, shape);
    return SMP_OK;
}

enum { SINE, SQUARE, TRIANGLE, SAWTOOTH };

static const smp_param tone_table[] = {
    FREQ(freq, NULL, "of the tone", SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_ORIGIN_SOUND(params, sound, 0),
    SMP_ORIGIN_LEVEL(params, "of its peaks"),
    SMP_PARAM_ENUM(wave, "sine", "its form; those with corners hold frequencies beyond half the rate, folded back", 0,
                   "sine", "square", "triangle", "sawtooth"),
    {0},
};

static smp_code tone_shape(const void *given, smp_shape *shape, smp_error *err)
{
    const params *p = given;
    if (fmax(p->freq, p->to) > p->sound.rate / 2)
        return smp_fail(err, SMP_E_PIPE, "a rate of %.10g Hz holds frequencies up to %.10g Hz", p->sound.rate,
                        p->sound.rate / 2),
               smp_hint(err, "give a higher rate, as in rate=96kHz");
    return shape_of(given, shape, err);
}

static void tone_rows(const void *given, const smp_shape *shape, int64_t y, int64_t rows, void *to, int64_t stride)
{
    const params *p = given;
    const double level = smp_origin_amplitude(p->level);
    for (int64_t i = 0; i < rows; i++) {
        const double turns = (double)(y + i) * p->freq / p->sound.rate, part = turns - floor(turns),
                     shifted = part + 0.25 - floor(part + 0.25);
        const double value = p->wave == SINE       ? sine_of_turns(part)
                             : p->wave == SQUARE   ? (part < 0.5 ? 1 : -1)
                             : p->wave == TRIANGLE ? 1 - 4 * fabs(shifted - 0.5)
                                                   : 2 * part - 1;
        put_frame(shape, level * value, (char *)to + i * stride);
    }
}

const smp_origin smp_origin_tone = {
    .words = {.name = "tone",
              .help = "a sound of one frequency",
              .about = "Frame n is level sin(2 pi n freq / rate), or another wave of that phase.",
              .example = "tone 440Hz length=1s",
              .domain = SMP_AUDIO,
              SMP_PARAMS(tone_table, params),
              .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$F $L", "freq=$F length=$L")),
                                 .aliases = SMP_ALIASES({"synth sine beep", "tone 440Hz length=1s"}))},
    .shape = tone_shape,
    .rows = tone_rows,
};

enum { LOG, LINEAR };

static const smp_param sweep_table[] = {
    FREQ(freq, "20Hz", "that it begins with", SMP_P_MAIN),
    FREQ(to, "20kHz", "that it ends with", 0),
    SMP_ORIGIN_SOUND(params, sound, 0),
    SMP_ORIGIN_LEVEL(params, "of its peaks"),
    SMP_PARAM_ENUM(curve, "log", "log: every octave takes as long; linear: every hertz does", 0, "log", "linear"),
    {0},
};

static smp_code sweep_shape(const void *given, smp_shape *shape, smp_error *err)
{
    const params *p = given;
    SMP_TRY(tone_shape(given, shape, err));
    if (shape->height)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a sweep has a length, at which it reaches the last frequency");
    return smp_hint(err, "write sweep %.10gHz %.10gHz 5s", p->freq, p->to);
}

static void sweep_rows(const void *given, const smp_shape *shape, int64_t y, int64_t rows, void *to, int64_t stride)
{
    const params *p = given;
    const double level = smp_origin_amplitude(p->level), length = (double)shape->height / p->sound.rate,
                 k = ln(fmax(p->to, p->freq) / fmin(p->to, p->freq));
    const bool even = p->curve == LINEAR || k < 1e-9, falls = p->to < p->freq;
    for (int64_t i = 0; i < rows; i++) {
        const double t = (double)(y + i) / p->sound.rate, back = length - t, rate = k / length;
        const double turns = even    ? (p->freq + (p->to - p->freq) * t / (2 * length)) * t
                             : falls ? p->to * (exp_less_one(k) - exp_less_one(rate * back)) / rate
                                     : p->freq * exp_less_one(rate * t) / rate;
        put_frame(shape, level * sine_of_turns(turns), (char *)to + i * stride);
    }
}

const smp_origin smp_origin_sweep = {
    .words = {.name = "sweep",
              .help = "a tone that rises or falls from one frequency to another",
              .about =
                  "log: phase freq L / ln(q) (q^(t/L) - 1) turns, q = to/freq, L the length; linear: freq t + (to - "
                  "freq) t^2 / 2 L.",
              .example = "sweep 20Hz 20kHz length=5s",
              .domain = SMP_AUDIO,
              SMP_PARAMS(sweep_table, params),
              .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$A $B", "freq=$A to=$B"),
                                                    SMP_MEANS("$A $B $L", "freq=$A to=$B length=$L")),
                                 .aliases = SMP_ALIASES({"chirp", "sweep 20Hz 20kHz length=5s"}))},
    .shape = sweep_shape,
    .rows = sweep_rows,
};

static const smp_param silence_table[] = {
    SMP_ORIGIN_SOUND(params, sound, SMP_P_MAIN),
    {0},
};

static void silence_rows(const void *, const smp_shape *shape, int64_t, int64_t rows, void *to, int64_t stride)
{
    for (int64_t i = 0; i < rows; i++)
        put_frame(shape, 0, (char *)to + i * stride);
}

const smp_origin smp_origin_silence = {
    .words = {.name = "silence",
              .help = "nothing to hear",
              .example = "silence 2s",
              .domain = SMP_AUDIO,
              SMP_PARAMS(silence_table, params)},
    .shape = shape_of,
    .rows = silence_rows,
};

static const smp_param impulse_table[] = {
    SMP_ORIGIN_SOUND(params, sound, SMP_P_MAIN),
    SMP_PARAM_FLOAT(at, S, 0, 1e6, "0s", "when the one frame comes that is not 0", 0),
    SMP_ORIGIN_LEVEL(params, "of that frame"),
    {0},
};

static void impulse_rows(const void *given, const smp_shape *shape, int64_t y, int64_t rows, void *to, int64_t stride)
{
    const params *p = given;
    const int64_t at = (int64_t)floor(p->at * p->sound.rate + 0.5);
    for (int64_t i = 0; i < rows; i++)
        put_frame(shape, y + i == at ? smp_origin_amplitude(p->level) : 0, (char *)to + i * stride);
}

const smp_origin smp_origin_impulse = {
    .words = {.name = "impulse",
              .help = "one frame in silence, to see what a filter makes of it",
              .example = "impulse 1s level=0dBFS",
              .domain = SMP_AUDIO,
              SMP_PARAMS(impulse_table, params)},
    .shape = shape_of,
    .rows = impulse_rows,
};
