/* Rows of a TIFF as libtiff gives them, made into the program's: packed bits, palettes, inks, planes, alpha. */
#pragma once

#include "io/meta/cmyk.h"
#include "io/tiff/tiff_walk.h"

typedef struct smp_tiff_samples {
    const smp_tiff_page *page;
    smp_shape shape;
    uint8_t palette[256][3];
    smp_cmyk *cmyk;                   /* of CMYK, set by the reader once it has the profile; closed with the samples */
    bool converted;                   /* rows are not stored as they are wanted */
    uint8_t *lines[TIFF_MOST_PLANES]; /* bits or floats widened, of each plane */
} smp_tiff_samples;

/* Fills in what the samples become, and reads the palette. Takes the memory. */
smp_code smp_tiff_samples_open(smp_tiff_samples *samples, const smp_tiff *tiff, const smp_tiff_page *page,
                               smp_error *err);
void smp_tiff_samples_close(smp_tiff_samples *samples);

/* One row. rows: of each plane, or the one. */
void smp_tiff_samples_row(smp_tiff_samples *samples, const uint8_t *const *rows, void *to);
