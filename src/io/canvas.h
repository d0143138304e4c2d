/* The canvas of an animation: each picture is laid on what those before it left there. */
#pragma once

#include "io/format.h"

/* What becomes of a picture before the next one; other numbers: it stays. Those of GIF. */
enum { SMP_CANVAS_CLEAR = 2, SMP_CANVAS_TAKE_BACK = 3 };

typedef struct smp_canvas {
    smp_shape shape;          /* of the rows that are read */
    uint8_t *pixels, *before; /* with alpha; before: as it was, where the picture is to be taken back */
    int64_t x, y, width, height;
    int disposal; /* this and its place: of the last picture */
} smp_canvas;

/* Takes the memory, of which there are so many bytes. shape: of 8 or 16 bits, checked before. */
uint64_t smp_canvas_bytes(const smp_shape *shape);
smp_code smp_canvas_open(smp_canvas *canvas, const smp_shape *shape, smp_error *err);
void smp_canvas_close(smp_canvas *canvas);

/* Takes away what is left of the last picture, and begins one in this place, which lies on the canvas. */
void smp_canvas_begin(smp_canvas *canvas, int64_t x, int64_t y, int64_t width, int64_t height, int disposal);

/* Lays a row of the picture. alpha: its pixels have some. blends: they are laid on what is there, rounded to nearest,
 * colours weighed by what is seen of them; else they replace it. */
void smp_canvas_lay(smp_canvas *canvas, int64_t y, const void *row, bool alpha, bool blends);

/* A row of the canvas as it is now. */
void smp_canvas_row(const smp_canvas *canvas, int64_t y, void *to);

/* Left, top, width and height of what differs between two canvases of tight rows, or one pixel; places are multiples of
 * `step` pixels. */
void smp_canvas_differs(const smp_shape *shape, const void *now, const void *before, int64_t step, int64_t part[4]);
