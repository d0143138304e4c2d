/* Filtered rows of a PNG, deflated a block at a time: by ISA-L for levels 0 to 3 (it is several times as fast as zlib
 * for the same size), by zlib above them and where ISA-L is absent. Photographs, once filtered, hold runs of one byte
 * and little else that repeats: a search for longer repeats makes them larger, since each pair of length and distance
 * takes more bits than the few bytes it stands for. Drawings become much smaller by it. So both ways are known here:
 *
 *   level 0      runs alone
 *   level 1      what a sample of the block says: runs, or repeats as well; and repeats where runs packed very well
 *   level 2      the smaller of both
 *   level 3      the smallest of these and a more thorough search
 *   level 4..9   the smallest of these and zlib's of that level
 *
 * What a block packs to depends on its bytes and the level alone. */
#ifndef SMP_IO_PNG_PNG_DEFLATE_H
#define SMP_IO_PNG_PNG_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_png_deflate smp_png_deflate;

/* Of blocks of at most `most` bytes, samples of at most `sample`; null: no memory. */
smp_png_deflate *smp_png_deflate_open(int level, size_t most, size_t sample);
void smp_png_deflate_close(smp_png_deflate *deflate);

/* Bytes that a block of `size` may take. */
size_t smp_png_deflate_room(size_t size);

/* What a sample packs to by runs alone; for levels above 3 that or what zlib makes of it, if that is smaller. SIZE_MAX:
 * it does not get smaller. */
size_t smp_png_deflate_sample(smp_png_deflate *deflate, const uint8_t *from, size_t size);

/* For level 1: whether that sample packs smaller with repeats. Others, which do not guess: false. */
bool smp_png_deflate_repeats(smp_png_deflate *deflate, const uint8_t *from, size_t size, size_t by_runs);

/* Writes a block that ends on a byte boundary; says how many bytes. `to` has smp_png_deflate_room(size) of them.
 * repeats: what smp_png_deflate_repeats said of its sample; filtered: the bytes are differences. */
size_t smp_png_deflate_block(smp_png_deflate *deflate, uint8_t *to, const uint8_t *from, size_t size, bool repeats,
                             bool filtered);

#endif
