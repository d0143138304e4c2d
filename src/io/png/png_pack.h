/* PNGs of fewer bits: gray of 1, 2 or 4, and palettes. What they hold is known behind the last row alone, so that the
 * picture is kept until then, a byte a pixel. */
#pragma once

#include "io/media.h"

/* The options --png-level (0 fastest .. 9 smallest; -1: default), --png-bits (of a sample or index: 1, 2, 4 or 8; 0: 8
 * or 16, or the fewest that do with a palette) and
 * --png-palette (colours by palette, gray with as few bits as do). */
extern const smp_write_option smp_png_level, smp_png_bits, smp_png_palette;

enum { SMP_PNG_COLOURS = 256, SMP_PNG_SLOTS = 1024 };

typedef struct smp_png_pack {
    int bits;                            /* of a sample or index: 1, 2, 4 or 8; 0: to be chosen */
    int colours;                         /* in the palette; 0: gray, without one */
    uint8_t palette[SMP_PNG_COLOURS][4]; /* red, green, blue, alpha; in the order in which they appear */
    int16_t slots[SMP_PNG_SLOTS];        /* of a hash table: indices of the palette, or -1 */
    bool seen[SMP_PNG_COLOURS];          /* values of a gray picture */
    bool full;                           /* there are more than 256 colours */
    bool kept;                           /* nobody asked for it: a gray picture of 8 bits has too many as well */
    int channels;
    int64_t width, height, row_bytes; /* row_bytes: of a packed row, once it is packed */
    uint8_t *rows;                    /* first a byte a pixel, then packed */
} smp_png_pack;

/* Whether these options ask for it. */
static inline bool smp_png_pack_wanted(const smp_write_options *options)
{
    return smp_write_value(&options->values, &smp_png_bits) || smp_write_value(&options->values, &smp_png_palette);
}

/* Fails for what has no such form. *pack: freed by smp_png_pack_close, on failure too. */
smp_code smp_png_pack_open(const smp_shape *shape, const smp_write_options *options, smp_png_pack **pack,
                           smp_error *err);
/* Takes rows from row y on. Returns how many: fewer when one does not fit, and then no more should come. */
int64_t smp_png_pack_put(smp_png_pack *pack, int64_t y, const void *from, int64_t stride, int64_t rows);

/* Rows that were taken, as they came, one behind the other. */
void smp_png_pack_restore(const smp_png_pack *pack, int64_t y, int64_t rows, void *to);

/* For an input of few bits: asks for as many as do. *pack is null where the picture, or its size, does not suit. */
smp_code smp_png_pack_keep(const smp_shape *shape, const smp_png_coding *coding, smp_png_pack **pack, smp_error *err);

/* Behind the last row: chooses, and packs; fails where samples do not fit. */
smp_code smp_png_pack_finish(smp_png_pack *pack, smp_error *err);
void smp_png_pack_close(smp_png_pack *pack);
