/* Small pictures: a file is decoded and averaged over boxes. For pages, which carry them as data, and for terminals. */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "io/read_options.h"
#include "report/json.h"

typedef struct smp_small_picture {
    uint8_t *samples; /* without gaps, from smp_alloc; null: there is none */
    int64_t width, height;
    int channels; /* gray or RGB, with alpha or without */
} smp_small_picture;

/* Reads the picture of a file, at most `width` wide and `height` high, and never larger than it is, as EXIF's
 * orientation says that it is seen. RGB; alpha is laid on black. Fails where the file is no picture or cannot be read.
 */
smp_code smp_small_picture_read(const char *path, const smp_read_options *how, int64_t width, int64_t height,
                                smp_small_picture *out, smp_error *err);

/* The member `key` of a page's data: {width, height, bmp: the file as base64}. False, and no member, without memory. */
bool smp_small_picture_json(smp_json *json, const char *key, const smp_small_picture *picture);

/* The same of a file, at most `most` pixels wide and high; false, and no member: it is no picture, or gone. */
bool smp_thumbnail_json(smp_json *json, const char *key, const char *path, const smp_read_options *how, int most);

void smp_base64(FILE *to, const unsigned char *data, size_t size);
