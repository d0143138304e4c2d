/* Divides a picture among one-warp blocks of a launch: into vertical strips, and strips into bands, a band a block.
 *
 * Slow blocks come first and have lower bands, so that the launch does not end with them: first the strips at a row's
 * ends, which fill their halo by the border rule, then the bands at the picture's top and bottom. The geometry makes
 * the plan (smp_strips), kernels ask for their block's place. */
#pragma once

#include "lib/view.h"

/* A block's strip, and its `rows` output rows from the launch's row `begin` on. */
typedef struct smp_strip_place {
    int strip, rows;
    int64_t begin;
} smp_strip_place;

/* The place of a block in a launch over `rows` output rows. */
SMP_HOST_DEVICE smp_strip_place smp_strip_place_of(const smp_strips *s, int64_t rows, uint32_t block)
{
    smp_strip_place place;
    uint32_t height = s->end_rows;
    if (block < s->ends) {
        place.strip = block % 2 ? (int)s->across + 1 : 0;
        place.begin = (int64_t)height * (block / 2);
    } else {
        const uint32_t inner = block - s->ends, round = inner / s->across;
        const uint32_t band = round < 2 ? round * (s->bands - 1) : round - 1; /* the first, the last, the others */
        place.strip = (int)((s->ends > 0) + inner % s->across);
        place.begin = 0;
        height = s->top;
        if (band > s->tall_bands) {
            height = s->low;
            place.begin = s->top + (int64_t)s->tall * s->tall_bands + (int64_t)height * (band - 1 - s->tall_bands);
        } else if (band > 0) {
            height = s->tall;
            place.begin = s->top + (int64_t)height * (band - 1);
        }
    }
    place.rows = rows - place.begin < height ? (int)(rows - place.begin) : (int)height;
    return place;
}
