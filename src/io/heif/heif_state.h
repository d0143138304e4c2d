/* A HEIC or AVIF that is being read: shared by its opening (heif_read.c) and its rows (heif_rows.c). */
#pragma once

#include "io/heif/heif_glue.h"
#include "io/heif/heif_library.h"

#ifdef SMP_HAVE_HEIF

typedef struct heif_input {
    smp_source *source;
    uint64_t position;
    int covered; /* boxes that turn, which libheif is shown as turning by nothing; where their types are: */
    uint64_t cover[2 * SMP_HEIF_TURNS];
} heif_input;

/* Samples as libheif gives them: interleaved colours, or gray or its alpha alone. */
typedef struct heif_plane {
    const uint8_t *samples;
    int stride, bits;
    size_t pixel; /* bytes */
    bool limited; /* 16..235 of 8 bits is black to white */
} heif_plane;

/* The place of a pixel that is written: x[0] * x + x[1] * y + x[2], and y alike. */
typedef struct heif_place {
    int64_t x[3], y[3];
} heif_place;

typedef struct heif_state {
    smp_heif heif;
    smp_heif_primary primary;
    heif_input input;
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_image *image;
    int64_t width, height; /* as libheif gives it */
    heif_place place;      /* in that, where the picture and its alpha are turned apart */
    heif_plane planes[2];  /* the second: alpha of gray */
    uint8_t *lines[2];     /* turned rows of them */
    bool gray;             /* planes of gray and alpha, not of colours */
    bool premultiplied;
} heif_state;

/* SMP_OK, or why libheif failed. */
smp_code smp_heif_failed(const heif_state *state, const char *name, struct heif_error why, smp_error *err);

#endif
