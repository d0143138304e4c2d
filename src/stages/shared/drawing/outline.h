/* Outlines of letters and shapes, and how much of each pixel lies inside: exact areas, in whole numbers, so that they
 * are the same on every machine. What is computed in double is +, -, *, / and sqrt, rounded to 256ths of a pixel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_OUTLINE_UNIT = 256, SMP_OUTLINE_MOST = 1 << 24 /* points */ };

typedef struct smp_vertex { /* 256ths of a pixel */
    int64_t x, y;
} smp_vertex;

/* The nearest place to one in pixels. */
smp_vertex smp_vertex_of(double x, double y);

/* Contours of straight lines, each closed by a line to its first point. Zeroed: empty. */
typedef struct smp_outline {
    smp_vertex *points;
    size_t *ends; /* of each contour: the index behind its last point */
    size_t count, capacity, contours, contour_capacity;
    bool failed; /* memory is exhausted, or it has too many points */
} smp_outline;

/* Begin a contour; go on from the last point by a line, and by Bezier curves of two and three control points. */
void smp_outline_move(smp_outline *o, smp_vertex to);
void smp_outline_line(smp_outline *o, smp_vertex to);
void smp_outline_conic(smp_outline *o, smp_vertex control, smp_vertex to);
void smp_outline_cubic(smp_outline *o, smp_vertex a, smp_vertex b, smp_vertex to);

/* Add a contour: a rectangle whose corners are quarters of ellipses of these radii (half the sides: an ellipse). */
void smp_outline_rectangle(smp_outline *o, smp_vertex from, smp_vertex to, smp_vertex radius, bool backwards);

/* Adds what lies within `half` of the lines of `of`, 256ths of a pixel, with round joins and, where it is open, ends;
 * round the same way, so that what both go round is covered. */
void smp_outline_stroke(smp_outline *o, const smp_outline *of, bool open, int64_t half);

void smp_outline_free(smp_outline *o);

/* The coverage of a box of pixels, in 255ths, a byte each, rows `width` apart: |the area inside, counted as often as
 * contours go round it, less where they go round the other way|, at most 1. x, y: of its first pixel, when the outline
 * is moved by `by`. False: out of memory. */
bool smp_outline_cover(const smp_outline *o, smp_vertex by, int64_t x, int64_t y, int64_t width, int64_t rows,
                       uint8_t *to);
