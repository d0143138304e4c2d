/* How a launch of one-warp blocks shares out a picture: in strips side by side, and those in bands, a band a block.
 *
 * What takes long comes first, and has lower bands, so that the launch does not end with it: strips at a row's ends,
 * where the border rule makes samples and rows end within a piece; then the bands at the picture's upper and lower end.
 * The geometry says how (smp_strips), kernels ask which block they are; here is what both count by. */
#ifndef SMP_KERNELS_STRIP_BLOCKS_H
#define SMP_KERNELS_STRIP_BLOCKS_H

#include "lib/view.h"

/* A block's strip, and its `rows` output rows from row `begin` of the launch's on. */
typedef struct smp_strip_place {
    int strip, rows;
    int64_t begin;
} smp_strip_place;

/* The place of a block, of a launch over `rows` output rows. */
SMP_HOST_DEVICE smp_strip_place smp_strip_place_of(const smp_strips *s, int64_t rows, uint32_t block)
{
    smp_strip_place place;
    uint32_t height = s->end_rows;
    if (block < s->ends) {
        place.strip = block % 2 ? (int)s->across + 1 : 0;
        place.begin = (int64_t)height * (block / 2);
    } else {
        const uint32_t inner = block - s->ends, turn = inner / s->across;
        const uint32_t band = turn < 2 ? turn * (s->bands - 1) : turn - 1; /* the first, the last, the others */
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

#endif
