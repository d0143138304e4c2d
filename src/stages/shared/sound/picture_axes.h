/* Axes round pictures of sound: time below, frequencies on the left, a scale of levels on the right; drawn once by the
 * plan, as levels 0..255 (0 is paper, 255 ink), which kernels take like those of the sound. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_axes {
    int64_t columns, rows; /* of the plot: all panels, which lie one above the other, each of rows / panels */
    int panels;
    int left, right, top, bottom; /* px round the plot */
    int text;                     /* px of a dot of the font */
} smp_axes;

/* The margins of a plot; its font is twice as large where there is room. */
smp_axes smp_axes_round(int64_t columns, int64_t rows, int panels);

/* Bytes of a frame: rows above the plot, the pixels beside it, rows below. */
size_t smp_axes_size(const smp_axes *a);

/* Draws into a frame that is all 0. Labels that have no room are left out. */

/* seconds: from a column to the next. */
void smp_axes_time(const smp_axes *a, uint8_t *frame, double seconds);

/* height(hz): how far up in a panel a frequency is, 0..1; even: it grows evenly. most: Hz at 1. */
typedef double smp_axes_height(const void *of, double hz);
void smp_axes_frequencies(const smp_axes *a, uint8_t *frame, smp_axes_height *height, const void *of, double most,
                          bool even);

/* A bar from `low` at the bottom to `high`. unit: at most 2 characters. */
void smp_axes_levels(const smp_axes *a, uint8_t *frame, double low, double high, const char *unit);
