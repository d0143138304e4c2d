/* Pages of a contact sheet: pictures in rows and columns of cells, each with a label below it. 8-bit RGB, or RGBA on a
 * transparent ground. */
#pragma once

#include "commands/many/small_pictures.h"

typedef struct smp_montage {
    int64_t columns, rows;           /* of a full page */
    int64_t cell_width, cell_height; /* px, without the label */
    int64_t gap;                     /* between cells, and round them */
    bool labels;
    int scale; /* of labels: px a dot of the font */
    int channels; /* 3, or 4: the ground is transparent */
    uint8_t ground[4], ink[4];
} smp_montage;

typedef struct smp_montage_page {
    uint8_t *samples; /* from smp_alloc */
    int64_t width, height;
    int64_t stride; /* bytes */
} smp_montage_page;

/* The ground: a colour as stages take it (pipe/values/color.h), without alpha, or `none`, or `transparent`. */
bool smp_montage_ground(smp_montage *montage, const char *text);

/* Ink that is read on the ground, and a font's scale that suits the cells. */
void smp_montage_ink(smp_montage *montage);

/* An empty page with so many rows. A page of more than most_pixels (0: any) is SMP_E_LIMIT. */
smp_code smp_montage_page_make(const smp_montage *montage, int64_t rows, uint64_t most_pixels, smp_montage_page *page,
                               smp_error *err);
void smp_montage_page_free(smp_montage_page *page);

/* Draws the picture, which is no larger than a cell, into the middle of cell `index`, counted along rows from 0, and
 * the name below it. Without samples the cell is crossed out. */
void smp_montage_draw(const smp_montage *montage, const smp_montage_page *page, int64_t index,
                      const smp_small_picture *picture, const char *name);
