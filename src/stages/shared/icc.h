/* Colour profiles (ISO 15076-1: ICC.1) that are a matrix and three curves, or one curve of gray: displays, cameras,
 * scanners. Tables of colours, as printers have them, are not read. The bytes may be anybody's. */
#ifndef SMP_STAGES_SHARED_ICC_H
#define SMP_STAGES_SHARED_ICC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_icc_curve {
    int kind;              /* -1: points; else the type of a parametric curve, 0 to 4 */
    double values[7];      /* g a b c d e f */
    const uint8_t *points; /* of 16 bits, big-endian; in the profile */
    uint32_t count;
} smp_icc_curve;

typedef struct smp_icc {
    bool gray;
    double colorants[9]; /* a column a colour: XYZ relative to D50 */
    smp_icc_curve curves[3];
} smp_icc;

/* Null, or why the profile cannot be used. What *to points into is the profile's. */
const char *smp_icc_read(const void *data, size_t size, smp_icc *to);

/* The light, 0 to 1, of a value of 0 to 1. */
double smp_icc_light(const smp_icc_curve *curve, double value);

/* Known ones: Display P3, Adobe RGB (1998). */
extern const smp_icc smp_icc_display_p3, smp_icc_adobe_rgb;

#endif
