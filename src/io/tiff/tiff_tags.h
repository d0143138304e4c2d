/* Entries of a directory with their values, little-endian: carried from a TIFF to an EXIF block, and from that into a
 * TIFF that is written. */
#pragma once

#include "io/tiff/tiff_walk.h"

typedef struct smp_tiff_tag {
    uint16_t tag, type;
    uint64_t count;
    smp_blob value;
} smp_tiff_tag;

typedef struct smp_tiff_tags {
    smp_tiff_tag *items;
    size_t count, capacity;
    uint64_t bytes; /* of all values */
} smp_tiff_tags;

/* Adds an entry that was read, unless its type is unknown or all entries together pass a megabyte. False: out of
 * memory. */
bool smp_tiff_tags_take(smp_tiff_tags *tags, const smp_tiff *tiff, const smp_tiff_entry *entry);

/* Adds an entry; value: little-endian, copied. False: out of memory. */
bool smp_tiff_tags_add(smp_tiff_tags *tags, uint32_t tag, uint32_t type, uint64_t count, const void *value);

/* The same with whole numbers. */
bool smp_tiff_tags_numbers(smp_tiff_tags *tags, uint32_t tag, uint32_t type, uint64_t count, const uint64_t *values);

bool smp_tiff_tags_has(const smp_tiff_tags *tags, uint32_t tag);
bool smp_tiff_tags_say(const smp_tiff_tags *tags, uint32_t tag, const char *text); /* it is there, with that text */
void smp_tiff_tags_free(smp_tiff_tags *tags);

/* Bytes of the directory and its values, even. big: BigTIFF. */
uint64_t smp_tiff_tags_size(const smp_tiff_tags *tags, bool big);

/* Writes the directory, which will be at `place` (even) of the file, its values behind it; no other directory follows.
 * Sorts the entries. */
void smp_tiff_tags_put(smp_tiff_tags *tags, bool big, uint64_t place, uint8_t *to);
