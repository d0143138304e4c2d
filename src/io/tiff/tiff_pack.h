/* Strips of a TIFF, made smaller: differences of neighbours, then Deflate, LZW or Zstandard. The bytes depend on the
 * strip alone.
 */
#pragma once

#include "io/media.h"

typedef enum smp_tiff_compression { SMP_TIFF_DEFLATE, SMP_TIFF_LZW, SMP_TIFF_NONE, SMP_TIFF_ZSTD } smp_tiff_compression;

/* The options --tiff-compression, an smp_tiff_compression, and --tiff-tile: sides of tiles, px; 0: strips. */
extern const smp_write_option smp_tiff_packing, smp_tiff_tile;

typedef struct smp_tiff_packer smp_tiff_packer;

/* For strips of at most `most` bytes. Null: out of memory. */
smp_tiff_packer *smp_tiff_packer_open(const smp_shape *shape, smp_tiff_compression compression, size_t most);
void smp_tiff_packer_close(smp_tiff_packer *packer);

/* Whether this build has it. */
bool smp_tiff_packs(smp_tiff_compression compression);

/* Packs whole rows, which are changed. The result is valid until the next call; null: the library failed. */
const uint8_t *smp_tiff_packer_strip(smp_tiff_packer *packer, uint8_t *rows, size_t size, size_t *packed);
