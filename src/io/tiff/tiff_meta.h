/* Converts between the metadata of a TIFF and the program's. */
#pragma once

#include "io/tiff/tiff_tags.h"

/* Profile, resolution, texts, XMP, and an EXIF block made of the camera's entries. */
smp_code smp_tiff_keep_meta(const smp_tiff *tiff, smp_reader *reader, smp_error *err);

/* Adds the entries of metadata to those of a picture that is written; EXIF's and GPS's own directories come apart.
 * False: out of memory. */
bool smp_tiff_put_meta(const smp_meta *meta, int colours, smp_tiff_tags *tags, smp_tiff_tags *exif, smp_tiff_tags *gps,
                       smp_notes *notes);
