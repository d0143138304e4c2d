/* A small fixed font: see font.h. */
#include "base/text/font.h"

#include <string.h>

#include "base/text/utf8.h"

enum { FIRST = 0x20, COUNT = 0x100 - FIRST };

static const uint8_t glyphs[COUNT][SMP_FONT_HEIGHT] = {
#define G(code, ...) [(code)-FIRST] = {__VA_ARGS__},
#include "base/text/font_glyphs.def"
#undef G
};
static const uint8_t missing[SMP_FONT_HEIGHT] = {0, 0xf8, 0x88, 0x88, 0x88, 0x88, 0x88, 0xf8, 0, 0};

bool smp_font_has(uint32_t code)
{
    return code >= FIRST && code < FIRST + COUNT && !(code > 0x7e && code < 0xa0);
}

const uint8_t *smp_font_glyph(uint32_t code)
{
    return smp_font_has(code) ? glyphs[code - FIRST] : missing;
}

uint32_t smp_font_next(const char **text)
{
    uint32_t code;
    if (!(*text)[0])
        return 0;
    *text += smp_utf8_decode(*text, strlen(*text), &code);
    return code;
}

size_t smp_font_length(const char *text)
{
    size_t length = 0;
    while (smp_font_next(&text))
        length++;
    return length;
}

/* A dot is a square of scale x scale pixels. */
static void put_dot(const smp_font_canvas *c, int64_t x, int64_t y, int scale, const uint8_t *colour)
{
    for (int64_t row = y < 0 ? 0 : y; row < y + scale && row < c->height; row++)
        for (int64_t column = x < 0 ? 0 : x; column < x + scale && column < c->width; column++)
            memcpy(c->samples + row * c->stride + column * c->channels, colour, (size_t)c->channels);
}

void smp_font_draw(const smp_font_canvas *canvas, int64_t x, int64_t y, int scale, const char *text, size_t most,
                   const uint8_t *colour)
{
    uint32_t code;
    for (; most && (code = smp_font_next(&text)); most--, x += SMP_FONT_WIDTH * scale) {
        const uint8_t *rows = smp_font_glyph(code);
        for (int row = 0; row < SMP_FONT_HEIGHT; row++)
            for (int column = 0; column < SMP_FONT_WIDTH; column++)
                if (rows[row] >> (7 - column) & 1)
                    put_dot(canvas, x + column * scale, y + row * scale, scale, colour);
    }
}
