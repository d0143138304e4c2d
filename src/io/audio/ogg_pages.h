/* Rewrites Ogg pages before they are written: a fixed serial number and a new checksum. */
#ifndef SMP_IO_AUDIO_OGG_PAGES_H
#define SMP_IO_AUDIO_OGG_PAGES_H

#include "io/output.h"

enum { SMP_OGG_HEADER = 27, SMP_OGG_MOST = SMP_OGG_HEADER + 255 + 255 * 255 /* bytes of a page */ };

typedef struct smp_ogg_pages {
    size_t used;
    uint8_t page[SMP_OGG_MOST];
} smp_ogg_pages;

/* Takes the next bytes of a stream of pages and writes the complete pages. */
smp_code smp_ogg_pages_put(smp_ogg_pages *pages, smp_output *output, const void *data, size_t size, smp_error *err);

#endif
