/* A small fixed font for what is written into pictures: labels, scales. Printable ASCII and Latin-1. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of a glyph, px. Capitals and digits stand on the row above SMP_FONT_BASE; the last column is usually empty. */
enum { SMP_FONT_WIDTH = 6, SMP_FONT_HEIGHT = 10, SMP_FONT_BASE = 8 };

/* The rows of a character's glyph from the top; the highest bit is the leftmost dot. A character that the font lacks
 * has a frame. */
const uint8_t *smp_font_glyph(uint32_t code);

bool smp_font_has(uint32_t code);

/* The next character of UTF-8 text, which moves behind it; 0 at the end. A byte that begins no valid sequence is a
 * character that the font lacks. */
uint32_t smp_font_next(const char **text);

/* Returns the number of a text's characters. */
size_t smp_font_length(const char *text);

/* 8-bit samples of a picture in memory. */
typedef struct smp_font_canvas {
    uint8_t *samples;
    int64_t stride; /* bytes */
    int64_t width, height;
    int channels;
} smp_font_canvas;

/* Draws at most `most` characters of a text, its top left corner at x, y, each dot `scale` px high and wide, in a
 * colour of as many samples as the picture has channels. What lies outside the picture is left out. */
void smp_font_draw(const smp_font_canvas *canvas, int64_t x, int64_t y, int scale, const char *text, size_t most,
                   const uint8_t *colour);
