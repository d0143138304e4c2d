/* What a pipeline makes from nothing: its first statement, in the place of an input. It is declared as a stage is, and
 * has no kernels: rows are made on the host, each from its number alone, and flow as a decoder's do, so that every
 * device and strip height sees the same bytes. */
#pragma once

#include "stages/stage.h"

typedef struct smp_origin {
    smp_stage words; /* name, help, parameters and the like; no variants, and no plan */
    /* The shape of what it makes. height 0: a sound that never ends. */
    smp_code (*shape)(const void *params, smp_shape *shape, smp_error *err);
    /* Makes rows y .. y+rows-1, stride bytes apart. */
    void (*rows)(const void *params, const smp_shape *shape, int64_t y, int64_t rows, void *to, int64_t stride);
} smp_origin;

/* In the order that listings show them; null past the last. */
const smp_origin *smp_origin_at(size_t index);
const smp_origin *smp_origin_find(const char *name);

/* Whether a statement begins with the name of one. */
bool smp_origin_begins(const char *statement);

extern const smp_origin smp_origin_canvas, smp_origin_gradient, smp_origin_checker, smp_origin_noise, smp_origin_tone,
    smp_origin_sweep, smp_origin_silence, smp_origin_impulse;

/* ------------------------------------------------------------------------------------------------ pictures */

/* The parameter struct of a picture begins with this. */
typedef struct smp_origin_picture {
    int64_t width, height;
    int depth;
} smp_origin_picture;

extern const char *const smp_origin_depths[];

/* A row of a parameter table. */
#define SMP_ORIGIN_SIDE(side, flags)                                                                                   \
    SMP_PARAM_OF(smp_origin_picture, #side, side, INT, PX, 1, 1e6, (flags)&SMP_P_AUTO ? "auto" : NULL,                 \
                 "of the picture", NULL, flags)
#define SMP_ORIGIN_PICTURE(flags)                                                                                      \
    SMP_ORIGIN_SIDE(width, flags), SMP_ORIGIN_SIDE(height, flags),                                                     \
        SMP_PARAM_OF(smp_origin_picture, "depth", depth, ENUM, BIT, 0, 0, "8bit", "of a sample", smp_origin_depths, 0)

void smp_origin_shape(const smp_origin_picture *p, bool alpha, smp_shape *shape);

/* Stores a pixel's values, 0 to 1, rounded to nearest. */
void smp_origin_store(const smp_shape *shape, const double *values, void *row, int64_t x);

/* ------------------------------------------------------------------------------------------------ sounds */

/* The parameter struct of a sound begins with this. */
typedef struct smp_origin_sound {
    double length, rate; /* length NaN: it never ends */
    int64_t channels;
} smp_origin_sound;

#define SMP_ORIGIN_SOUND(type, field, flags)                                                                           \
    SMP_PARAM_OF(type, "length", field.length, FLOAT, S, 0, 1e6, "auto",                                               \
                 "of the sound; auto: it never ends, which a pipe alone takes", NULL,                                  \
                 SMP_P_AUTO | SMP_P_POSITIVE | (flags)),                                                               \
        SMP_PARAM_OF(type, "rate", field.rate, FLOAT, HZ, 1, 1e6, "48kHz", "frames a second", NULL, SMP_P_RATE),       \
        SMP_PARAM_OF(type, "channels", field.channels, INT, NONE, 1, SMP_MAX_CHANNELS, "1", "how many", NULL, 0)
#define SMP_ORIGIN_LEVEL(type, help) SMP_PARAM_OF(type, "level", level, FLOAT, DB, -200, 0, "-6dBFS", help, NULL, 0)

void smp_origin_frames(const smp_origin_sound *p, smp_shape *shape);
/* The amplitude of a level in dBFS. */
double smp_origin_amplitude(double level);
