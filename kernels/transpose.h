/* transpose: the eight ways to turn and mirror a picture: transpose, transverse, rotate, flip, EXIF orientation. One
 * kernel pair serves them all; the parameters say which. Samples move and are not computed with. */
#ifndef SMP_KERNELS_TRANSPOSE_H
#define SMP_KERNELS_TRANSPOSE_H

#include "smp_cpu.h"

/* Where the sample of output pixel (x, y) comes from: first (sx, sy) = (y, x) if SMP_TURN_SWAP, else (x, y); then the
 * mirrors, counted in input columns and rows. */
enum {
    SMP_TURN_SWAP = 1,
    SMP_TURN_MIRROR_X = 2, /* sx = input width - 1 - sx */
    SMP_TURN_MIRROR_Y = 4  /* sy = input height - 1 - sy */
};

enum {
    SMP_TURN_NONE = 0,
    SMP_TURN_TRANSPOSE = SMP_TURN_SWAP,
    SMP_TURN_TRANSVERSE = SMP_TURN_SWAP | SMP_TURN_MIRROR_X | SMP_TURN_MIRROR_Y,
    SMP_TURN_90 = SMP_TURN_SWAP | SMP_TURN_MIRROR_Y, /* clockwise */
    SMP_TURN_180 = SMP_TURN_MIRROR_X | SMP_TURN_MIRROR_Y,
    SMP_TURN_270 = SMP_TURN_SWAP | SMP_TURN_MIRROR_X,
    SMP_TURN_HORIZONTAL = SMP_TURN_MIRROR_X,
    SMP_TURN_VERTICAL = SMP_TURN_MIRROR_Y
};

typedef struct smp_turn {
    int32_t how; /* SMP_TURN_* */
} smp_turn;

/* What shows a picture of this EXIF orientation (1..8; TIFF 6.0, tag 274) upright. */
SMP_FN int32_t smp_turn_for_orientation(int64_t orientation)
{
    switch (orientation) {
    case 2:
        return SMP_TURN_HORIZONTAL;
    case 3:
        return SMP_TURN_180;
    case 4:
        return SMP_TURN_VERTICAL;
    case 5:
        return SMP_TURN_TRANSPOSE;
    case 6:
        return SMP_TURN_90;
    case 7:
        return SMP_TURN_TRANSVERSE;
    case 8:
        return SMP_TURN_270;
    default:
        return SMP_TURN_NONE;
    }
}

/* 1 when an output row needs other input rows than its own. */
SMP_FN int smp_turn_moves_rows(int32_t how)
{
    return (how & (SMP_TURN_SWAP | SMP_TURN_MIRROR_Y)) != 0;
}

/* The input pixel of output pixel (x, y), for an input of width x height pixels. */
SMP_FN void smp_turn_source(int32_t how, int64_t width, int64_t height, int64_t x, int64_t y, int64_t *sx, int64_t *sy)
{
    int64_t u = how & SMP_TURN_SWAP ? y : x, v = how & SMP_TURN_SWAP ? x : y;
    *sx = how & SMP_TURN_MIRROR_X ? width - 1 - u : u;
    *sy = how & SMP_TURN_MIRROR_Y ? height - 1 - v : v;
}

/* The side of a tile in pixels: rows that a thread of the tiled CPU kernel should take are a multiple of it. 64 pixels
 * of one byte are a cache line. */
enum { SMP_TURN_TILE = 64 };

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(transpose_naive); /* params: smp_turn */
SMP_CPU_DECLARE(transpose_tiled);
#ifdef __cplusplus
}
#endif

#endif
