/* The picture data of a PNG, compressed in blocks of rows on several threads. Each block is filtered and deflated alone
 * and ends on a byte boundary, so that the blocks' outputs, one IDAT chunk each, form one valid stream. The blocks
 * depend only on the picture's shape and the level: strips and threads do not change the bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct smp_png_blocks smp_png_blocks;

typedef struct smp_png_blocks_setup {
    int64_t row_bytes; /* of the picture: samples without a filter byte */
    int64_t rows;
    int pixel_bytes; /* 1 to 8 */
    bool swap;       /* samples are 16-bit and little-endian */
    int level;       /* 0 fastest .. 9 smallest: png_deflate.h */
    int threads;     /* for compression; 1 or more */
} smp_png_blocks_setup;

smp_code smp_png_blocks_open(const smp_png_blocks_setup *setup, smp_png_blocks **out, smp_error *err);
void smp_png_blocks_close(smp_png_blocks *blocks);

/* Takes at most `rows` rows. Returns how many: fewer when chunks must be fetched first. The rows are borrowed and must
 * not change until smp_png_blocks_settle. */
int64_t smp_png_blocks_put(smp_png_blocks *blocks, const void *from, int64_t stride, int64_t rows);

/* Ends the borrowing of rows: waits until full blocks have been read (they need not be compressed yet), and copies the
 * rows of a partial block. */
void smp_png_blocks_settle(smp_png_blocks *blocks);

/* Whether smp_png_blocks_next must be called: all blocks are in use, or the picture is complete and chunks are left. */
bool smp_png_blocks_due(const smp_png_blocks *blocks);

/* The next IDAT chunk, from its length to its CRC. Waits until it is compressed. Valid until the next put. */
const uint8_t *smp_png_blocks_next(smp_png_blocks *blocks, size_t *size);
