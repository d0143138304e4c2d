/* The shape of data between readers, stages and writers: kind, size, channels, format, rate and colours of a picture or
 * sound. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/view.h"

typedef enum smp_kind { SMP_KIND_NONE = 0, SMP_IMAGE = 1, SMP_AUDIO = 2, SMP_BOTH = 3 } smp_kind;

/* Shape of the data between two stages. */
typedef struct smp_shape {
    smp_kind kind;
    int64_t width, height; /* px; sound: width 1, height frames */
    int channels;
    bool alpha;        /* the last channel is alpha (never with sound) */
    smp_format format; /* the nominal format: what a file of this data would hold */
    double rate;       /* Hz; 0 for pictures */
    uint32_t speakers; /* sound: the channels' places, as bits of WAV's dwChannelMask; 0: the usual ones */
    const void *icc;   /* its colour profile; null: none is known. Lives while plans are made, and no longer */
    size_t icc_size;   /* bytes */
    double curve;      /* of a picture's values: linear light is value^curve; or SMP_CURVE_SRGB, SMP_CURVE_OTHER */
} smp_shape;

#define SMP_CURVE_SRGB  0.0  /* IEC 61966-2-1, also where nothing is known */
#define SMP_CURVE_OTHER -1.0 /* one that is neither; taken for sRGB, with a warning */

/* Full scale in code values: 255, 65535 or 1. */
static inline float smp_white(smp_format format)
{
    return format == SMP_U8 ? 255.f : format == SMP_U16 ? 65535.f : 1.f;
}

const char *smp_format_name(smp_format format);

/* "u8x3 451x300", with " in f32" when storage differs from the shape's format. */
void smp_shape_text(const smp_shape *shape, smp_format storage, char *text, size_t size);
