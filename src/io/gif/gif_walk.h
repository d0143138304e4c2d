/* The blocks of a GIF, walked before the library sees the file. Source: GRAPHICS INTERCHANGE FORMAT, version 89a,
 * CompuServe 1990. */
#pragma once

#include "io/format.h"

/* Disposal of a picture before the next one is drawn; other numbers: it stays. */
enum { SMP_GIF_CLEAR = 2, SMP_GIF_TAKE_BACK = 3 };

/* The disposal of a control block's flags. Some programs set the third bit to have a picture taken back. */
static inline int smp_gif_disposal(uint8_t flags)
{
    const int disposal = flags >> 2 & 7;
    return disposal == 4 ? SMP_GIF_TAKE_BACK : disposal;
}

/* Blocks with the bytes that say how long each is, the empty one the last. */
typedef struct smp_gif_blocks {
    uint64_t at, size; /* 0: there are none */
} smp_gif_blocks;

typedef struct smp_gif {
    int64_t width, height;                   /* of the canvas */
    int64_t x, y, inner_width, inner_height; /* of the first picture on it */
    bool interlaced;
    int transparent;                      /* the colour of the first picture that is not painted; -1: none */
    int64_t pictures;                     /* that are whole */
    bool broken;                          /* what follows them is not */
    bool grown;                           /* the canvas was too small for the first */
    bool clears;                          /* a picture is taken away before the next one */
    int delay;                            /* of the first picture, in hundredths of a second; 0: none is said */
    uint32_t plays;                       /* how often they are shown; 0: for ever */
    bool uneven;                          /* pictures have different delays */
    smp_gif_blocks comment, xmp, profile; /* the first of each that is whole */
    bool more_comments;
    bool goes_on;   /* behind its end (smp_behind_counts) */
    smp_names left; /* programs whose blocks are not read */
} smp_gif;

/* Joins what blocks hold, in place, without the bytes that say how long each is. Returns the size. */
size_t smp_gif_join(uint8_t *blocks, size_t size);

/* Fails with SMP_E_DECODE when the first picture is damaged or reaches past the end of the file. */
smp_code smp_gif_walk(const smp_source *source, smp_gif *gif, smp_error *err);
