/* PNGs of fewer bits: gray of 1, 2 or 4, and palettes. What they hold is known behind the last row alone, so that the
 * picture is kept until then. */
#ifndef SMP_IO_PNG_PNG_PACK_H
#define SMP_IO_PNG_PNG_PACK_H

#include "io/media.h"

typedef struct smp_png_pack {
    int bits;                /* of a sample or index: 1, 2, 4 or 8; 0: to be chosen */
    int colours;             /* in the palette; 0: gray, without one */
    uint8_t palette[256][4]; /* red, green, blue, alpha; in the order in which they appear */
    int channels;
    int64_t width, height, row_bytes; /* row_bytes: of a packed row, once it is packed */
    uint8_t *rows;                    /* first as they came, then packed */
} smp_png_pack;

/* Whether these options ask for it. */
static inline bool smp_png_pack_wanted(const smp_write_options *options)
{
    return options->png_bits || options->png_palette;
}

/* Fails for what has no such form. *pack: freed by smp_png_pack_close, on failure too. */
smp_code smp_png_pack_open(const smp_shape *shape, const smp_write_options *options, smp_png_pack **pack,
                           smp_error *err);
void smp_png_pack_put(smp_png_pack *pack, int64_t y, const void *from, int64_t stride, int64_t rows);

/* For an input of few bits: asks for as many as do. *pack is null where the picture, or its size, does not suit. */
smp_code smp_png_pack_keep(const smp_shape *shape, const smp_png_coding *coding, smp_png_pack **pack, smp_error *err);

/* Behind the last row: chooses, and packs; fails where samples do not fit. Rows are then as they came. */
smp_code smp_png_pack_finish(smp_png_pack *pack, smp_error *err);
void smp_png_pack_close(smp_png_pack *pack);

#endif
