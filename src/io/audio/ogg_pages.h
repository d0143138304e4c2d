/* Rewrites Ogg pages before they are written: a fixed serial number and a new checksum; on request another comment in
 * the second packet, and an earlier end. */
#pragma once

#include "io/audio/sound.h"

/* A page: where its fields are, and its flags (RFC 3533, section 6). */
enum {
    SMP_OGG_FLAGS_AT = 5,
    SMP_OGG_GRANULE_AT = 6,
    SMP_OGG_SERIAL_AT = 14,
    SMP_OGG_NUMBER_AT = 18,
    SMP_OGG_CHECKSUM_AT = 22,
    SMP_OGG_SEGMENTS_AT = 26,
    SMP_OGG_HEADER = 27,
    SMP_OGG_GOES_ON = 1, /* it begins inside a packet */
    SMP_OGG_FIRST = 2,   /* of a stream */
    SMP_OGG_LAST = 4,
    SMP_OGG_MOST = SMP_OGG_HEADER + 255 + 255 * 255 /* bytes */
};

/* Returns the checksum of a page whose own checksum is 0 (RFC 3533, section 6). */
uint32_t smp_ogg_checksum(const uint8_t *page, size_t size);

typedef struct smp_ogg_pages {
    size_t used;
    uint8_t page[SMP_OGG_MOST];
    smp_bytes comment;    /* of another comment what follows its vendor */
    int headers;          /* packets behind the first that are no sound yet: Opus has 1, Vorbis 2; 0: all stays */
    int ended;            /* of these, how many are whole */
    smp_bytes packets[2]; /* these */
    uint32_t taken, made; /* pages of them that came, and that were written */
    int64_t skip;         /* of an Opus: samples at 48 kHz that decoders drop at the beginning */
    int64_t end;          /* where the stream ends instead, the last packet left out; 0: where it does */
    uint8_t held[SMP_OGG_MOST];
    size_t held_size; /* then the last page, which goes when the next has come */
} smp_ogg_pages;

/* Takes the next bytes of a stream of pages and writes the complete pages. */
void smp_ogg_pages_free(smp_ogg_pages *pages);

/* Has the comment say this. False: out of memory. */
bool smp_ogg_pages_comment(smp_ogg_pages *pages, const smp_meta *meta, bool opus);

smp_code smp_ogg_pages_put(smp_ogg_pages *pages, smp_output *output, const void *data, size_t size, smp_error *err);

/* The streams that follow one another in an Ogg file: a chain of links (RFC 3533, section 4). */

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

/* Of an Opus with one stream: one that plays `samples` at 48 kHz from sample `from` on, of one that plays `played`. The
 * packets are as they were; pages have no checksums and the comment no texts, which smp_ogg_pages_put adds. *out stays
 * empty where that cannot be, and a note says so. False: out of memory. Leaves the source anywhere. */
bool smp_opus_cut(smp_source *source, const smp_ogg_link *link, int64_t played, int64_t from, int64_t samples,
                  smp_notes *notes, smp_bytes *out);
