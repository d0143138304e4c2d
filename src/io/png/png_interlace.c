/* Reads an interlaced picture, seven passes of pixels that lie further and further together (Adam7), into rows as they
 * are stored. libpng can do it too, but it widens every row of every pass first, a pixel at a time. Source: PNG, third
 * edition, 8.2. */
#include <string.h>

#include "io/png/png_glue.h"

/* The pixels of a row of a pass, whose bits are behind each other, to where they belong. `to` is zero there. */
static void put_bits(const uint8_t *from, uint32_t count, int bits, uint32_t first, uint32_t step, uint8_t *to)
{
    const unsigned shift = bits == 1 ? 3 : bits == 2 ? 2 : 1, within = (1U << shift) - 1, size = (unsigned)bits;
    const unsigned mask = (1U << size) - 1;
    uint64_t x = first;
    for (uint32_t i = 0; i < count; i++, x += step) {
        const unsigned value = (unsigned)from[i >> shift] >> ((within - (i & within)) * size) & mask;
        to[x >> shift] |= (uint8_t)(value << ((within - (x & within)) * size));
    }
}

/* size: bytes of a pixel, a constant of the caller. */
static inline void put_bytes(const uint8_t *from, uint32_t count, size_t size, uint32_t first, uint32_t step,
                             uint8_t *to)
{
    to += (size_t)first * size;
    for (uint32_t i = 0; i < count; i++, from += size, to += (size_t)step * size)
        memcpy(to, from, size);
}

static void put_row(const uint8_t *from, uint32_t count, int bits, uint32_t first, uint32_t step, uint8_t *to)
{
    switch (bits) {
#define OF_BYTES(size)                                                                                                 \
    case 8 * (size):                                                                                                   \
        put_bytes(from, count, size, first, step, to);                                                                 \
        break;
        OF_BYTES(1)
        OF_BYTES(2)
        OF_BYTES(3)
        OF_BYTES(4)
        OF_BYTES(6)
        OF_BYTES(8)
    default:
        put_bits(from, count, bits, first, step, to);
    }
}

void smp_png_read_passes(png_structp png, int bits, uint32_t width, uint32_t height, uint8_t *line, uint8_t *whole,
                         size_t row)
{
    static const struct {
        uint32_t x, y, dx, dy; /* the first pixel, and from one to the next */
    } passes[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    for (size_t pass = 0; pass < sizeof passes / sizeof passes[0]; pass++) {
        const uint32_t first = passes[pass].x, step = passes[pass].dx;
        const uint32_t columns = width > first ? (width - first + step - 1) / step : 0;
        for (size_t y = passes[pass].y; columns && y < height; y += passes[pass].dy) {
            uint8_t *to = whole + y * row;
            if (step == 1)
                png_read_row(png, to, NULL);
            else {
                png_read_row(png, line, NULL);
                put_row(line, columns, bits, first, step, to);
            }
        }
    }
}
