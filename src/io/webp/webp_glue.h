/* Shared by the WebP reader and writer, and the functions of the format; webp.c puts them into the table. Source: WebP
 * Container Specification, RFC 9649. */
#pragma once

#include "io/format.h"

enum { WEBP_HAS_ICC = 0x20, WEBP_HAS_ALPHA = 0x10, WEBP_HAS_EXIF = 0x08, WEBP_HAS_XMP = 0x04, WEBP_IS_MOVING = 0x02 };
enum { WEBP_MOST_SIDE = 16383 }; /* pixels */

/* A range of the file. */
typedef struct smp_webp_range {
    uint64_t at, size;
} smp_webp_range;

/* Contents of a file's chunks, found without the library. */
typedef struct smp_webp {
    int64_t width, height; /* of the canvas */
    int64_t x, y;          /* where the picture, or the first of an animation, lies on it, */
    int64_t inner_width, inner_height;
    bool lossless, alpha, moving;
    int64_t frames;       /* of an animation */
    uint32_t plays;       /* how often it is shown; 0: for ever */
    smp_webp_range coded; /* the chunks that the library decodes, in one range */
    smp_webp_range icc, exif, xmp;
    uint64_t end; /* of the chunks */
    /* Set by smp_webp_walk_frames, from all frames: */
    uint64_t most_coded; /* bytes of the largest `coded` */
    bool clears;         /* a picture is taken away before the next one */
    uint32_t delay;      /* of the first picture, in milliseconds; 0: none is said */
    bool uneven;         /* pictures have different delays */
} smp_webp;

typedef struct smp_webp_frame {
    smp_webp webp; /* its own place, size, alpha and coded picture */
    uint32_t delay;
    bool clears; /* it is taken away before the next one */
    bool blends; /* it is laid on what is there; else it replaces that */
} smp_webp_frame;

/* Walks the chunks. Fails with SMP_E_DECODE when they are damaged or reach past the end of the file. */
smp_code smp_webp_walk(const smp_source *source, smp_webp *webp, smp_error *err);

/* Walks every frame of an animation, too: webp->alpha is then whether any picture of it has alpha. */
smp_code smp_webp_walk_frames(const smp_source *source, smp_webp *webp, smp_error *err);

/* The next frame behind *at (0: the first), which then is behind it. There must be one. number: for errors. */
smp_code smp_webp_next(const smp_source *source, const smp_webp *webp, uint64_t *at, int64_t number,
                       smp_webp_frame *frame, smp_error *err);

/* The library's verdict as an error; SMP_OK for none. */
smp_code smp_webp_status(int status, smp_error *err);

/* The pictures of an animation, one after the other. webp: of smp_webp_walk_frames. Bytes: what it takes. *out: close
 * it anyway. */
typedef struct smp_webp_movie smp_webp_movie;
uint64_t smp_webp_movie_bytes(const smp_webp *webp);
smp_code smp_webp_movie_open(const smp_webp *webp, const smp_shape *shape, smp_webp_movie **out, smp_error *err);
smp_code smp_webp_movie_draw(smp_webp_movie *movie, const smp_source *source, uint32_t *delay, smp_error *err);
void smp_webp_movie_row(const smp_webp_movie *movie, int64_t y, void *to); /* of what was drawn; delay: milliseconds */
void smp_webp_movie_close(smp_webp_movie *movie);                          /* may be null */

SMP_DECLARE_READER(smp_webp, row);
smp_code smp_webp_read_end(smp_reader *reader, smp_error *err);
smp_code smp_webp_read_next(smp_reader *reader, bool *more, smp_error *err);
SMP_DECLARE_WRITER(smp_webp, row);
smp_code smp_webp_write_next(smp_writer *writer, const smp_meta *meta, smp_error *err);
