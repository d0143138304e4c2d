/* noise: random samples, a picture's or a sound's. Each is made of its number and the seed alone (lib/philox.h). */
#include <math.h>

#include "lib/philox.h"
#include "stages/origins/origin.h"

enum { WHITE, PINK };
enum { OCTAVES = 16 };

typedef struct params {
    smp_origin_picture picture; /* width INT64_MIN: a sound */
    smp_origin_sound sound;
    int color;
    double level;
    int64_t seed;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(color, "white", "of a sound. white: as much in every hertz; pink: in every octave", SMP_P_MAIN,
                   "white", "pink"),
    SMP_ORIGIN_PICTURE(SMP_P_AUTO),
    SMP_ORIGIN_SOUND(params, sound, 0),
    SMP_ORIGIN_LEVEL(params, "of a sound: no sample is beyond it"),
    SMP_PARAM_INT(seed, NONE, 0, 1e15, "0", "another number makes other noise", 0),
    {0},
};

static bool is_picture(const params *p)
{
    return p->picture.width != INT64_MIN || p->picture.height != INT64_MIN;
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (!is_picture(p) || (p->picture.width != INT64_MIN && p->picture.height != INT64_MIN && isnan(p->sound.length)))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a picture has width and height, a sound a length");
    return smp_hint(err, "write noise 640x480, or noise white 2s");
}

static smp_code shape_of(const void *given, smp_shape *shape, smp_error *)
{
    const params *p = given;
    if (is_picture(p))
        smp_origin_shape(&p->picture, false, shape);
    else
        smp_origin_frames(&p->sound, shape);
    return SMP_OK;
}

/* -1 .. 1. Pink: the mean of values that stay for 1, 2, 4, ... frames. */
static double sound_sample(const params *p, uint64_t frame, uint32_t channel)
{
    double sum = 0;
    const int octaves = p->color == PINK ? OCTAVES : 1;
    for (int k = 0; k < octaves; k++) {
        const smp_philox r = smp_philox_of(frame >> k, channel, (uint32_t)k, (uint64_t)p->seed);
        sum += 2. * (double)smp_philox_uniform(r.v[0]) - 1;
    }
    return sum / octaves;
}

static void rows_of(const void *given, const smp_shape *shape, int64_t y, int64_t rows, void *to, int64_t stride)
{
    const params *p = given;
    const double level = smp_origin_amplitude(p->level);
    for (int64_t i = 0; i < rows; i++) {
        char *row = (char *)to + i * stride;
        for (int c = 0; shape->kind == SMP_AUDIO && c < shape->channels; c++)
            ((float *)(void *)row)[c] = (float)(level * sound_sample(p, (uint64_t)(y + i), (uint32_t)c));
        for (int64_t x = 0; shape->kind == SMP_IMAGE && x < shape->width; x++) {
            const smp_philox r = smp_philox_of((uint64_t)((y + i) * shape->width + x), 0, 0, (uint64_t)p->seed);
            const double values[] = {(double)smp_philox_uniform(r.v[0]), (double)smp_philox_uniform(r.v[1]),
                                     (double)smp_philox_uniform(r.v[2])};
            smp_origin_store(shape, values, row, x);
        }
    }
}

const smp_origin smp_origin_noise = {
    .words = {.name = "noise",
              .help = "a picture or a sound of random samples",
              .about = "Samples are even from 0 to full scale, of a sound from -level to level. Pink: the mean of 16 "
                       "such values, of which number k changes every 2^k frames; its power is 17 dB below white's.",
              .example = "noise pink 2s",
              .domain = SMP_BOTH,
              SMP_PARAMS(table, params),
              .check = check,
              .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$Wx$H", "width=$W height=$H"),
                                                    SMP_MEANS("white $L", "color=white length=$L"),
                                                    SMP_MEANS("pink $L", "color=pink length=$L")))},
    .shape = shape_of,
    .rows = rows_of,
};
