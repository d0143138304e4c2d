/* See orientation.h. */
#include "io/meta/orientation.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { STRIP_ROWS = 64 }; /* so that columns that become rows are written in runs of so many pixels */

smp_shape smp_orientation_shape(const smp_media *media)
{
    smp_shape shape = media->shape;
    if (smp_turned_across(media->orientation)) {
        shape.width = media->shape.height;
        shape.height = media->shape.width;
    }
    return shape;
}

void smp_orientation_put(int orientation, int64_t width, int64_t height, size_t pixel, int64_t y, int64_t rows,
                         const void *from, void *to)
{
    const int64_t across = smp_turned_across(orientation) ? height : width;
    for (int64_t x = 0; x < width; x++)
        for (int64_t i = 0; i < rows; i++) {
            int64_t column = x, row = y + i;
            smp_orientation_place(orientation, width, height, &column, &row);
            memcpy((char *)to + (size_t)(row * across + column) * pixel,
                   (const char *)from + (size_t)(i * width + x) * pixel, pixel);
        }
}

smp_code smp_orientation_read(smp_reader *reader, void **out, smp_error *err)
{
    const smp_media *media = smp_reader_media(reader);
    const smp_shape *shape = &media->shape;
    const size_t pixel = (size_t)(shape->channels * smp_sample_size((int)shape->format));
    const size_t row = (size_t)shape->width * pixel;
    char *strip = smp_alloc_array(STRIP_ROWS, row);
    *out = smp_alloc_array((size_t)shape->height, row);
    smp_code code =
        strip && *out ? SMP_OK : smp_fail_memory(err, "a picture that is turned", (uint64_t)shape->height * row);
    for (int64_t y = 0; !code && y < shape->height; y += STRIP_ROWS) {
        const int64_t rows = smp_min_i64(STRIP_ROWS, shape->height - y);
        code = smp_reader_rows(reader, strip, (int64_t)row, rows, err);
        if (!code)
            smp_orientation_put(media->orientation, shape->width, shape->height, pixel, y, rows, strip, *out);
    }
    smp_free(strip);
    if (code) {
        smp_free(*out);
        *out = NULL;
    }
    return code;
}
