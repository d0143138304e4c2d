/* CMYK to sRGB, where a file is read. */
#ifndef SMP_IO_META_INKS_H
#define SMP_IO_META_INKS_H

#include "io/format.h"

typedef struct smp_inks smp_inks;

/* Takes the CMYK profile out of the reader's metadata, which then say sRGB. Without one, and with one that cannot be
 * used (with a note), ink subtracts light: R = (1 - C)(1 - K). full: a sample of all ink, 255 or 65535. */
smp_code smp_inks_open(smp_reader *reader, uint32_t full, smp_inks **out, smp_error *err);

/* A pixel: 0 is no ink. Both may be the same memory. */
void smp_inks_pixel(smp_inks *inks, const uint32_t cmyk[4], uint32_t rgb[3]);

/* Whether a profile says the colours. Null is allowed. */
bool smp_inks_profiled(const smp_inks *inks);

void smp_inks_close(smp_inks *inks);

#endif
