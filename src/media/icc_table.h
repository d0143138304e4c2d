/* Colour profiles by tables (ICC.1:2022, 10.10 to 10.12: lut8, lut16, lutAToB) of three colours or four inks to Lab or
 * XYZ: scanners, presses, sRGB with a perceptual intent. Evaluated in double, on the host. The bytes may be anybody's.
 */
#pragma once

#include "media/icc.h"

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
