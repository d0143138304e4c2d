/* The canvas of an animation: see canvas.h. */
#include "io/canvas.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { MOST_PIXEL = 8 /* bytes */ };

static size_t pixel_of(const smp_shape *shape)
{
    return (size_t)(shape->channels + !shape->alpha) * (size_t)smp_sample_size((int)shape->format);
}

uint64_t smp_canvas_bytes(const smp_shape *shape)
{
    return 2 * pixel_of(shape) * (uint64_t)shape->width * (uint64_t)shape->height;
}

smp_code smp_canvas_open(smp_canvas *canvas, const smp_shape *shape, smp_error *err)
{
    const size_t pixels = (size_t)shape->width * (size_t)shape->height;
    canvas->shape = *shape;
    canvas->pixels = smp_alloc_array(pixels, pixel_of(shape));
    canvas->before = smp_alloc_array(pixels, pixel_of(shape));
    return canvas->pixels && canvas->before ? SMP_OK : smp_fail_memory(err, "an animation", smp_canvas_bytes(shape));
}

void smp_canvas_close(smp_canvas *canvas)
{
    smp_free_all(canvas->pixels, canvas->before);
}

static uint8_t *place_of(const smp_canvas *canvas, int64_t y)
{
    return canvas->pixels + (size_t)((canvas->y + y) * canvas->shape.width + canvas->x) * pixel_of(&canvas->shape);
}

void smp_canvas_begin(smp_canvas *canvas, int64_t x, int64_t y, int64_t width, int64_t height, int disposal)
{
    const size_t pixel = pixel_of(&canvas->shape), all = smp_canvas_bytes(&canvas->shape) / 2;
    if (canvas->disposal == SMP_CANVAS_TAKE_BACK)
        memcpy(canvas->pixels, canvas->before, all);
    for (int64_t i = 0; canvas->disposal == SMP_CANVAS_CLEAR && i < canvas->height; i++)
        memset(place_of(canvas, i), 0, (size_t)canvas->width * pixel);
    canvas->x = x;
    canvas->y = y;
    canvas->width = width;
    canvas->height = height;
    canvas->disposal = disposal;
    if (disposal == SMP_CANVAS_TAKE_BACK)
        memcpy(canvas->before, canvas->pixels, all);
}

static uint64_t load(const uint8_t *from, bool wide)
{
    uint16_t v = 0;
    memcpy(&v, from, wide ? 2 : 1);
    return wide ? v : *from;
}

static void store(uint8_t *to, uint64_t value, bool wide)
{
    const uint16_t v = (uint16_t)value;
    if (wide)
        memcpy(to, &v, 2);
    else
        *to = (uint8_t)value;
}

/* last: bytes in front of alpha. */
static void lay(const uint8_t *from, uint8_t *to, int last, bool wide)
{
    const uint64_t full = wide ? UINT16_MAX : UINT8_MAX, alpha = load(from + last, wide), there = load(to + last, wide);
    const uint64_t over = full * alpha, under = there * (full - alpha), all = over + under;
    const int size = wide ? 2 : 1;
    if (alpha == full || (alpha && !there)) {
        memcpy(to, from, (size_t)(last + size));
        return;
    }
    for (int c = 0; c < last && alpha; c += size)
        store(to + c, (load(from + c, wide) * over + load(to + c, wide) * under + all / 2) / all, wide);
    store(to + last, (all + full / 2) / full, wide);
}

void smp_canvas_lay(smp_canvas *canvas, int64_t y, const void *row, bool alpha, bool blends)
{
    const bool wide = canvas->shape.format == SMP_U16;
    const size_t pixel = pixel_of(&canvas->shape), last = pixel - (wide ? 2 : 1), step = alpha ? pixel : last;
    const uint8_t *from = row;
    uint8_t *to = place_of(canvas, y), opaque[MOST_PIXEL];
    memset(opaque, 255, sizeof opaque);
    for (int64_t x = 0; x < canvas->width; x++, from += step, to += pixel) {
        if (!alpha)
            memcpy(opaque, from, step);
        if (alpha && blends)
            lay(from, to, (int)last, wide);
        else
            memcpy(to, alpha ? from : opaque, pixel);
    }
}

void smp_canvas_row(const smp_canvas *canvas, int64_t y, void *to)
{
    const size_t pixel = pixel_of(&canvas->shape), row = (size_t)smp_row_bytes(&canvas->shape);
    const size_t own = row / (size_t)canvas->shape.width;
    const uint8_t *from = canvas->pixels + (size_t)y * (size_t)canvas->shape.width * pixel;
    for (int64_t x = 0; x < canvas->shape.width; x++)
        memcpy((uint8_t *)to + (size_t)x * own, from + (size_t)x * pixel, own);
}

void smp_canvas_differs(const smp_shape *shape, const void *now, const void *before, int64_t step, int64_t part[4])
{
    const int64_t row = smp_row_bytes(shape), pixel = row / shape->width;
    int64_t left = row, right = 0, top = shape->height, bottom = 0;
    for (int64_t y = 0; y < shape->height; y++) {
        const uint8_t *is = (const uint8_t *)now + y * row, *was = (const uint8_t *)before + y * row;
        int64_t x = 0, end = row;
        if (!memcmp(is, was, (size_t)row))
            continue;
        while (is[x] == was[x])
            x++;
        while (is[end - 1] == was[end - 1])
            end--;
        left = smp_min_i64(left, x);
        right = smp_max_i64(right, end);
        top = smp_min_i64(top, y);
        bottom = y + 1;
    }
    if (!bottom)
        left = top = 0, right = bottom = 1;
    left = left / pixel / step * step;
    top = top / step * step;
    right = (right + pixel - 1) / pixel;
    memcpy(part, (const int64_t[4]){left, top, right - left, bottom - top}, 4 * sizeof *part);
}
