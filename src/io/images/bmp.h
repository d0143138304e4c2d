/* Windows bitmaps of 8-bit samples, in memory: for pages and terminals that carry pictures as data. */
#pragma once

#include "io/media.h"

enum { SMP_BMP_HEAD = 14 + 108 + 256 * 4 /* bytes in front of the rows, at most */ };

/* Bytes of a row. */
size_t smp_bmp_line_bytes(const smp_shape *shape);

/* Writes the header of a picture whose top row comes first; returns its bytes. */
size_t smp_bmp_head(const smp_shape *shape, const smp_meta *meta, uint8_t head[SMP_BMP_HEAD]);

/* A row as the file has it. What fills it up is left as it is. */
void smp_bmp_line(const smp_shape *shape, const uint8_t *row, uint8_t *line);
