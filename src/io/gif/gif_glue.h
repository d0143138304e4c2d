/* Shared by the GIF writer and its colours; gif.c puts the writer into the table. */
#pragma once

#include "io/format.h"
#include "io/images/colour_table.h"

SMP_DECLARE_WRITER(smp_gif, row);
smp_code smp_gif_write_next(smp_writer *writer, const smp_meta *meta, smp_error *err);

/* A part of a canvas of `width` columns of RGBA pixels, drawn on what is there already. Alpha is 255, or all bytes are
 * 0. */
typedef struct smp_gif_part {
    const uint32_t *pixels, *before; /* whole canvases; before: null, nothing is there */
    int64_t stride;                  /* pixels from a row to the next */
    int64_t x, y, width, height;
} smp_gif_part;

/* The colours of a part, and what its pixels are in them. */
typedef struct smp_gif_colours {
    smp_colour_table table;
    bool all;     /* pixels that are there already are painted, too: they would need a colour more */
    bool holes;   /* some pixel is not painted */
    bool nearest; /* there were more: each pixel gets the nearest of the best */
} smp_gif_colours;

/* gray: of one colour. */
smp_code smp_gif_find_colours(const smp_gif_part *part, bool gray, smp_gif_colours *colours, smp_error *err);

/* The indices of a part's pixels, row after row; hole: that of pixels that are not painted. */
smp_code smp_gif_paint(const smp_gif_part *part, smp_gif_colours *colours, uint8_t hole, uint8_t *indices,
                       smp_error *err);
