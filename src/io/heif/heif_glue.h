/* Shared by the reader of HEIC and AVIF and the writer of AVIF; heif.c puts the functions into the table. */
#pragma once

#include "io/format.h"
#include "io/heif/heif_library.h"

/* A box's content. */
typedef struct smp_heif_part {
    uint64_t at, end; /* both 0: there is none */
} smp_heif_part;

/* Contents of a file's boxes, found without the library. */
typedef struct smp_heif {
    int64_t width,
        height;      /* the largest that a picture, a thumbnail or a part of one in the file has, each by itself */
    uint64_t pixels; /* of the largest */
    int bits;        /* of a sample, at most */
    smp_heif_part main, infos, references, shelf, uses; /* pitm, iinf, iref, ipco, ipma: the first of each */
    bool film, brief; /* it has a box of films; of pictures in a short form ('mini') */
} smp_heif;

enum { SMP_HEIF_TURNS = 4 };

typedef struct smp_heif_turn {
    bool mirrors;
    uint8_t how;   /* quarters of a turn to the left; of a mirror 0: top and bottom are exchanged, 1: left and right */
    uint64_t name; /* where in the file the box's type is */
} smp_heif_turn;

typedef struct smp_heif_turns {
    int count;
    smp_heif_turn items[SMP_HEIF_TURNS];
} smp_heif_turns;

/* The primary picture. */
typedef struct smp_heif_primary {
    char type[5], coding[5]; /* of the item: "hvc1", "grid", ...; of the first that it is made of, or its own */
    bool gray;               /* coded without colours */
    bool alpha;              /* another item is its alpha, */
    bool apart;              /* which is turned otherwise: then how the picture and that are turned */
    smp_heif_turns turns, alpha_turns;
} smp_heif_primary;

/* Walks the boxes. Fails with SMP_E_DECODE when they are damaged or reach past the end of the file. Source: ISO/IEC
 * 14496-12 and 23008-12. */
smp_code smp_heif_walk(const smp_source *source, smp_heif *heif, smp_error *err);

/* Fills *primary from the boxes that the walk found; what is not found or is damaged stays empty. */
void smp_heif_find_primary(const smp_source *source, const smp_heif *heif, smp_heif_primary *primary);

SMP_DECLARE_READER(smp_heif, row);
SMP_DECLARE_WRITER(smp_avif, row);

/* A HEIC or AVIF that is being read: shared by its opening (heif_read.c) and its rows (heif_rows.c). */

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
