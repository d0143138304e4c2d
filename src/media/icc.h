/* Colour profiles (ISO 15076-1: ICC.1): a matrix and three curves, one curve of gray, or tables of three colours
 * (icc_table.h). The bytes may be anybody's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_icc_curve {
    int kind;              /* -1: points; else the type of a parametric curve, 0 to 4 */
    double values[7];      /* g a b c d e f */
    const uint8_t *points; /* of 16 bits, big-endian; in the profile */
    uint32_t count;
} smp_icc_curve;

typedef enum smp_icc_intent { SMP_ICC_PERCEPTUAL, SMP_ICC_RELATIVE } smp_icc_intent; /* as A2B0, A2B1 */

typedef struct smp_icc_tag {
    const uint8_t *data; /* in the profile */
    size_t size;
} smp_icc_tag;

typedef struct smp_icc {
    bool gray, lab;        /* of one colour; its tables, or the curve of gray, give Lab */
    bool inks;             /* of CMYK, by tables */
    int version;           /* 2 or 4, mostly */
    smp_icc_tag tables[2]; /* by intent; where there is one, the perceptual one is there, and they say the colours */
    smp_icc_tag print;     /* of inks: the perceptual table from Lab to them */
    double colorants[9];   /* a column a colour: XYZ relative to D50 */
    smp_icc_curve curves[3];
} smp_icc;

/* Null, or why the profile cannot be used. What *to points into is the profile's. */
const char *smp_icc_read(const void *data, size_t size, smp_icc *to);

/* The same of a profile of CMYK, which smp_icc_read refuses. */
const char *smp_icc_read_cmyk(const void *data, size_t size, smp_icc *to);

/* Reads a profile's name (its tag desc), printable ASCII; "" if it has none. */
void smp_icc_name(const void *data, size_t size, char name[64]);

/* Whether two profiles say the same colours, as far as 8 bits show. */
bool smp_icc_same(const smp_icc *a, const smp_icc *b);

/* A curve at the beginning of `size` bytes, and how many are its own. False: there is none. */
bool smp_icc_curve_read(const uint8_t *data, size_t size, smp_icc_curve *curve, size_t *used);

/* The curve in a profile's tag of this name, as rTRC. False: there is none. */
bool smp_icc_curve_named(const void *data, size_t size, const char *name, smp_icc_curve *curve);

/* The value, 0 to 1, of a curve at 0 to 1. */
double smp_icc_light(const smp_icc_curve *curve, double value);

/* The light, 0 to 1, of a value of 0 to 1 of a colour, by a profile without tables. */
double smp_icc_light_of(const smp_icc *icc, int colour, double value);

/* XYZ relative to D50 to linear sRGB, and a linear value to sRGB's own (IEC 61966-2-1). */
void smp_icc_srgb_of_xyz(double inverse[9]);
double smp_icc_encoded(double v);

/* Computes the matrix from a profile without tables to linear sRGB. */
void smp_icc_matrix(const smp_icc *icc, float to[9]);

/* Whether the colours are sRGB's, as far as 8 bits show. False where it has tables. */
bool smp_icc_is_srgb(const smp_icc *icc);

/* Whether values mean about the levels that they mean in sRGB, within 5 of 255 in the mean: gamma 2.2 does, 1.8 not. */
bool smp_icc_levels_like_srgb(const smp_icc *icc);

/* Known ones: sRGB, Display P3, Adobe RGB (1998). */
extern const smp_icc smp_icc_srgb, smp_icc_display_p3, smp_icc_adobe_rgb;

/* Colour profiles by tables (ICC.1:2022, 10.10 to 10.12: lut8, lut16, lutAToB) of three colours or four inks to Lab or
 * XYZ: scanners, presses, sRGB with a perceptual intent. Evaluated in double, on the host. The bytes may be anybody's.
 */

enum { SMP_ICC_MOST = 4 /* colours of a side of a table */ };

typedef struct smp_icc_lut {
    int colours, made;       /* what comes in: 3, 4; what comes out: 3, or inks */
    bool lab;                /* the tables give Lab, not XYZ */
    bool old;                /* Lab as lut16 codes it: 100 and 255 at 65280 */
    const uint8_t *in, *out; /* lut8, lut16: a curve a colour, before and behind the grid; null: the curves below */
    int in_count, out_count; /* entries of each */
    smp_icc_curve a[SMP_ICC_MOST], m[3], b[3];
    double matrix[12]; /* rows, then what is added; between m and b */
    bool has_grid, has_middle;
    const uint8_t *grid;
    int points[SMP_ICC_MOST]; /* of the grid along each colour, the first slowest */
    int bytes;                /* of an entry of the grid, of in and of out */
} smp_icc_lut;

/* Null, or why the tables cannot be used. */
const char *smp_icc_lut_open(const smp_icc *icc, smp_icc_intent intent, smp_icc_lut *to);

/* XYZ relative to D50 of as many values of 0 to 1 as the profile has colours. */
void smp_icc_lut_xyz(const smp_icc_lut *lut, const double *colour, double xyz[3]);

/* The same in two steps, for tables of the first: the value at which colour c enters the grid (where there is one), and
 * XYZ of a point of the grid, counted along its last colour first. */
double smp_icc_lut_enter(const smp_icc_lut *lut, int c, double value);
void smp_icc_lut_point(const smp_icc_lut *lut, size_t point, double xyz[3]);

/* Y of the darkest colour that the profile knows, for black point compensation: of inks, of what it prints for black.
 */
double smp_icc_lut_black(const smp_icc *icc, smp_icc_intent intent, const smp_icc_lut *lut);

extern const double smp_icc_d50[3];
