/* The streams that follow one another in an Ogg file: a chain of links (RFC 3533, section 4). */
#pragma once

#include "io/audio/sound.h"

typedef struct smp_ogg_link {
    uint64_t from, to; /* bytes of the file */
    uint32_t serial;   /* of its first stream */
    int64_t granule;   /* the last granule position of that stream; 0: none */
    int64_t frames;    /* for the caller */
} smp_ogg_link;

/* Walks all pages, whose checksums and numbers must be right: the library leaves out what is damaged, without a word.
 * *links is from smp_alloc and has at least one entry. */
smp_code smp_ogg_find_links(smp_source *source, smp_ogg_link **links, size_t *count, smp_error *err);

/* Whether the first packet of a file begins so. */
bool smp_ogg_begins(const uint8_t *head, size_t size, const char *magic, size_t length);

/* A stream's last page is marked as the last. Without this check a file that was cut off would pass as a shorter one.
 */
smp_code smp_ogg_check_end(smp_source *source, smp_error *err);
