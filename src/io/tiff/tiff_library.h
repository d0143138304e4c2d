/* libtiff behind two functions that decode: messages become errors, bytes come from an smp_source. One handle decodes
 * one plane of a page, from top to bottom. */
#pragma once

#include "io/tiff/tiff_walk.h"

typedef struct smp_tiff_handle smp_tiff_handle;

/* Opens the page whose directory was walked. libtiff must see the same in it. What it warns of, and is harmless or,
 * with
 * --no-verify, not, becomes the reader's notes. *out is null on failure. */
smp_code smp_tiff_handle_open(smp_reader *reader, const smp_tiff *tiff, const smp_tiff_page *page,
                              smp_tiff_handle **out, smp_error *err);
void smp_tiff_handle_close(smp_tiff_handle *handle);

/* The next row of a page in strips: page->row_bytes. */
smp_code smp_tiff_handle_row(smp_tiff_handle *handle, int plane, int64_t y, void *to, smp_error *err);

/* A whole tile: page->row_bytes * page->unit_rows. */
smp_code smp_tiff_handle_tile(smp_tiff_handle *handle, int plane, int64_t x, int64_t y, void *to, smp_error *err);
