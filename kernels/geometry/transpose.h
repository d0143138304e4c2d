/* transpose: the eight orientations of a picture: transpose, transverse, rotate, flip, EXIF orientation. One set of
 * kernels serves them all; a parameter says which. Samples move unchanged. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/tuning.h"

/* Source of output pixel (x, y): first (sx, sy) = (y, x) if SMP_ORIENT_SWAP, else (x, y); then the mirrors, counted in
 * input columns and rows. */
enum {
    SMP_ORIENT_SWAP = 1,
    SMP_ORIENT_MIRROR_X = 2, /* sx = input width - 1 - sx */
    SMP_ORIENT_MIRROR_Y = 4  /* sy = input height - 1 - sy */
};

enum {
    SMP_ORIENT_NONE = 0,
    SMP_ORIENT_TRANSPOSE = SMP_ORIENT_SWAP,
    SMP_ORIENT_TRANSVERSE = SMP_ORIENT_SWAP | SMP_ORIENT_MIRROR_X | SMP_ORIENT_MIRROR_Y,
    SMP_ORIENT_90 = SMP_ORIENT_SWAP | SMP_ORIENT_MIRROR_Y, /* clockwise */
    SMP_ORIENT_180 = SMP_ORIENT_MIRROR_X | SMP_ORIENT_MIRROR_Y,
    SMP_ORIENT_270 = SMP_ORIENT_SWAP | SMP_ORIENT_MIRROR_X,
    SMP_ORIENT_HORIZONTAL = SMP_ORIENT_MIRROR_X,
    SMP_ORIENT_VERTICAL = SMP_ORIENT_MIRROR_Y
};

typedef struct smp_orientation {
    int32_t orientation; /* SMP_ORIENT_* */
} smp_orientation;

/* The transform that shows a picture of this EXIF orientation (1..8; TIFF 6.0, tag 274) upright. */
SMP_HOST_DEVICE int32_t smp_orientation_of_exif(int64_t orientation)
{
    switch (orientation) {
    case 2:
        return SMP_ORIENT_HORIZONTAL;
    case 3:
        return SMP_ORIENT_180;
    case 4:
        return SMP_ORIENT_VERTICAL;
    case 5:
        return SMP_ORIENT_TRANSPOSE;
    case 6:
        return SMP_ORIENT_90;
    case 7:
        return SMP_ORIENT_TRANSVERSE;
    case 8:
        return SMP_ORIENT_270;
    default:
        return SMP_ORIENT_NONE;
    }
}

/* 1 when an output row needs other input rows than its own. */
SMP_HOST_DEVICE int smp_transpose_moves_rows(int32_t orientation)
{
    return (orientation & (SMP_ORIENT_SWAP | SMP_ORIENT_MIRROR_Y)) != 0;
}

/* The input pixel of output pixel (x, y), for an input of width x height pixels. */
SMP_HOST_DEVICE void smp_transpose_source(int32_t orientation, int64_t width, int64_t height, int64_t x, int64_t y,
                                          int64_t *sx, int64_t *sy)
{
    int64_t u = orientation & SMP_ORIENT_SWAP ? y : x, v = orientation & SMP_ORIENT_SWAP ? x : y;
    *sx = orientation & SMP_ORIENT_MIRROR_X ? width - 1 - u : u;
    *sy = orientation & SMP_ORIENT_MIRROR_Y ? height - 1 - v : v;
}

/* The inverse: the output pixel of input pixel (sx, sy). */
SMP_HOST_DEVICE void smp_transpose_target(int32_t orientation, int64_t width, int64_t height, int64_t sx, int64_t sy,
                                          int64_t *x, int64_t *y)
{
    int64_t u = orientation & SMP_ORIENT_MIRROR_X ? width - 1 - sx : sx,
            v = orientation & SMP_ORIENT_MIRROR_Y ? height - 1 - sy : sy;
    *x = orientation & SMP_ORIENT_SWAP ? v : u;
    *y = orientation & SMP_ORIENT_SWAP ? u : v;
}

/* The side of a CPU tile in pixels, of which a thread's rows are a multiple. 64 pixels of one byte are a cache line. */
enum { SMP_TRANSPOSE_TILE = 64 };

/* ---------------------------------------------------------------------------------------------- geometry on GPUs */

typedef struct smp_transpose_shape {
    int side, across, down, threads; /* side 0: there is no such kernel */
} smp_transpose_shape;

#define SMP_TRANSPOSE_SHAPE_CASE_(px, side, across, down, threads, blocks)                                             \
    case px: {                                                                                                         \
        const smp_transpose_shape shape = {side, across, down, threads};                                               \
        return shape;                                                                                                  \
    }
SMP_HOST_DEVICE smp_transpose_shape smp_transpose_shape_of(int64_t px)
{
    const smp_transpose_shape none = {0, 0, 0, 0};
    switch (px) {
        SMP_TRANSPOSE_SHAPES(SMP_TRANSPOSE_SHAPE_CASE_)
    default:
        return none;
    }
}

/* The fewest pixels of px bytes that make whole 16-byte vectors: tiles start at multiples of it. */
#define SMP_TRANSPOSE_VECTOR_PIXELS(px) (16 / ((px) & -(px)))

/* Cells of three words a row lie in rows of 3 * cells words. With this many words after each row of cells, all 4-byte
 * accesses of a warp to 8 x 4 cells use different banks: want 8 where neighbouring lanes are 3 words apart along a row
 * (input side), 4 where they are a row of cells apart (output side). `words`: of a row of cells. */
#define SMP_TRANSPOSE_ROW_PAD(want, words) (((want) - (words)) & 31)

/* Bytes of shared memory of a tile. */
SMP_HOST_DEVICE int64_t smp_transpose_shared(int64_t px, smp_transpose_shape s)
{
    if (px % 3)
        return px * s.side * s.down * s.side * s.across;
    int64_t in = 3 * s.side * s.across, out = 3 * s.side * s.down;
    int64_t rows = s.down * (in + SMP_TRANSPOSE_ROW_PAD(8, in)),
            columns = s.across * (out + SMP_TRANSPOSE_ROW_PAD(4, out));
    return 4 * (rows > columns ? rows : columns);
}

/* The input pixels from which the output's rows are made. */
typedef struct smp_transpose_part {
    int64_t column, columns, row, rows;
} smp_transpose_part;

SMP_HOST_DEVICE smp_transpose_part smp_transpose_part_of(const smp_io *io, int32_t orientation)
{
    const int swap = orientation & SMP_ORIENT_SWAP,
              mirrored = orientation & (swap ? SMP_ORIENT_MIRROR_X : SMP_ORIENT_MIRROR_Y);
    const int64_t from = io->out.y0, end = from + io->out.rows;
    const int64_t first = mirrored ? (swap ? io->in.width : io->in.height) - end : from;
    const smp_transpose_part columns = {first, end - from, 0, io->in.height},
                             rows = {0, io->in.width, first, end - from};
    return swap ? columns : rows;
}

/* Columns from .. to-1 cut into tiles, the first of which starts at the multiple of 16 bytes at or before `from`. */
typedef struct smp_transpose_span {
    int64_t from, to, start, tiles;
} smp_transpose_span;

/* The input's columns of which the output's rows are made, where rows and columns swap. */
SMP_HOST_DEVICE smp_transpose_span smp_transpose_columns(const smp_io *io, int32_t orientation, int64_t vector_pixels,
                                                         int64_t tile)
{
    const smp_transpose_part part = smp_transpose_part_of(io, orientation);
    smp_transpose_span s = {part.column, part.column + part.columns, part.column / vector_pixels * vector_pixels, 1};
    if (s.to > s.from)
        s.tiles = (s.to - s.start + tile - 1) / tile;
    return s;
}

SMP_CPU_DECLARE(transpose_naive); /* params: smp_orientation */
SMP_CPU_DECLARE(transpose_tiled);
