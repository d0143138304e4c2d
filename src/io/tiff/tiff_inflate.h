/* Strips and tiles that are deflated, inflated by this program with their check sums, which libtiff, decoding by rows,
 * does not read: single wrong bits went through. One decodes one plane of a page, from top to bottom. */
#pragma once

#include "io/tiff/tiff_walk.h"

typedef struct smp_tiff_inflate smp_tiff_inflate;

/* *out is null where libtiff is to read the page: another compression, or an unusual way of deflating. verify: wrong
 * check sums are errors. tiff, page and source must outlive it. */
smp_code smp_tiff_inflate_open(smp_source *source, const smp_tiff *tiff, const smp_tiff_page *page, bool verify,
                               smp_tiff_inflate **out, smp_error *err);
void smp_tiff_inflate_close(smp_tiff_inflate *in);

/* As smp_tiff_handle_row and smp_tiff_handle_tile give them (tiff_library.h). */
smp_code smp_tiff_inflate_row(smp_tiff_inflate *in, int plane, int64_t y, void *to, smp_error *err);
smp_code smp_tiff_inflate_tile(smp_tiff_inflate *in, int plane, int64_t x, int64_t y, void *to, smp_error *err);
