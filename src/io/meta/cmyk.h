/* CMYK to sRGB, where a file is read. */
#pragma once

#include "io/format.h"

typedef struct smp_cmyk smp_cmyk;

/* Takes the CMYK profile out of the reader's metadata, which then say sRGB. Without one, and with one that cannot be
 * used (with a note), ink subtracts light: R = (1 - C)(1 - K). full: a sample of all ink, 255 or 65535. */
smp_code smp_cmyk_open(smp_reader *reader, uint32_t full, smp_cmyk **out, smp_error *err);

/* A pixel: 0 is no ink. Both may be the same memory. */
void smp_cmyk_pixel(smp_cmyk *map, const uint32_t cmyk[4], uint32_t rgb[3]);

/* Whether a profile says the colours. Null is allowed. */
bool smp_cmyk_profiled(const smp_cmyk *map);

void smp_cmyk_close(smp_cmyk *map);
