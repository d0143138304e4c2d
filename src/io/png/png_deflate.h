/* Deflates a PNG's filtered rows a block at a time: with ISA-L for levels 0 to 3 (several times as fast as zlib for the
 * same size), with zlib above them and in builds without ISA-L. Filtered photographs have runs of one byte and few
 * other repeats. Searching for longer repeats makes them larger, since a pair of length and distance takes more bits
 * than the few bytes it replaces. Drawings become much smaller by it. So both methods are used:
 *
 *   level 0      only runs
 *   level 1      runs, or also repeats, as a sample of the block decides; also repeats where runs compressed very well
 *   level 2      the smaller of both
 *   level 3      the smallest of these and a more thorough search
 *   level 4..9   the smallest of these and zlib's of that level
 *
 * The output of a block depends only on its bytes and the level. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_png_deflate smp_png_deflate;

/* For blocks of at most `most` bytes and samples of at most `sample`; null: out of memory. */
smp_png_deflate *smp_png_deflate_open(int level, size_t most, size_t sample);
void smp_png_deflate_close(smp_png_deflate *deflate);

/* The most bytes that a compressed block of `size` takes. */
size_t smp_png_deflate_room(size_t size);

/* The compressed size of a sample with runs only; for levels above 3 zlib's if that is smaller. SIZE_MAX: it does not
 * get smaller. */
size_t smp_png_deflate_sample(smp_png_deflate *deflate, const uint8_t *from, size_t size);

/* For level 1: whether the sample is smaller with repeats. False for other levels, which try both. */
bool smp_png_deflate_repeats(smp_png_deflate *deflate, const uint8_t *from, size_t size, size_t by_runs);

/* Compresses a block to a byte boundary and returns its bytes. `to` has smp_png_deflate_room(size) bytes. repeats: the
 * result of smp_png_deflate_repeats for its sample. filtered: the bytes are differences. */
size_t smp_png_deflate_block(smp_png_deflate *deflate, uint8_t *to, const uint8_t *from, size_t size, bool repeats,
                             bool filtered);
