/* Applies EXIF's orientation (1 to 8; from 5 on columns become rows) to a stored picture. For code that reads rows
 * alone: in a pipeline the planner inserts the stage `orient`. */
#pragma once

#include "io/media.h"

static inline bool smp_turned_across(int orientation)
{
    return orientation >= 5;
}

/* Moves x, y from a stored pixel to the place where it is seen. width, height: as stored. */
static inline void smp_orientation_place(int orientation, int64_t width, int64_t height, int64_t *x, int64_t *y)
{
    const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8,
               from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const int64_t column = from_right ? width - 1 - *x : *x, row = from_below ? height - 1 - *y : *y;
    *x = smp_turned_across(orientation) ? row : column;
    *y = smp_turned_across(orientation) ? column : row;
}

/* Returns the shape of the picture as it is seen. */
smp_shape smp_orientation_shape(const smp_media *media);

/* Puts rows of a stored picture, from row y on, where they are seen. pixel: bytes of one; to: the whole picture. */
void smp_orientation_put(int orientation, int64_t width, int64_t height, size_t pixel, int64_t y, int64_t rows,
                         const void *from, void *to);

/* Reads the whole picture as it is seen, without gaps between rows. *out is from smp_alloc, null on failure. */
smp_code smp_orientation_read(smp_reader *reader, void **out, smp_error *err);
