/* Shared by the swizzled transposes on GPUs: a block's tile and its cells.
 *
 * To a thread every orientation is a plain transpose: input column a and output column x are counted from the left, and
 * mirrors decide which rows x and a are. So tiles start at 16-byte boundaries of the rows on both sides for any width,
 * and a mirror costs nothing. Rows are aligned and own their padding (smp_rows_aligned), so partial tiles move whole
 * vectors too: loads read one row for the rows that are missing, stores leave what that gives in the padding. */
#pragma once

#include "geometry/transpose.h"
#include "geometry/vec128.cuh"

template <int PX> struct transpose_shape;
#define TRANSPOSE_SHAPE(px, cell, cells_across, cells_down, block, resident)                                           \
    template <> struct transpose_shape<px> {                                                                           \
        static constexpr int side = cell, across = cells_across, down = cells_down;                                    \
        static constexpr int threads = block, vector_pixels = SMP_TRANSPOSE_VECTOR_PIXELS(px);                         \
        static constexpr int blocks = resident;                                                                        \
        static constexpr int columns = side * across, rows = side * down;                                              \
    };
SMP_TRANSPOSE_SHAPES(TRANSPOSE_SHAPE)

/* A block's tile: input columns a0 .. a0+columns-1, which are output rows, and output columns (input rows) x0 ..
 * x0+rows-1. Output rows before a0+first are another launch's. */
struct transpose_place {
    int64_t a0, x0;
    int first, columns, rows;
    bool full;
    const unsigned char *in;   /* the start of the input row that output column 0 comes from */
    unsigned char *out;        /* the start of the output row that input column 0 goes to; it need not be present */
    int64_t in_step, out_step; /* bytes from there to those of column 1 */

    /* Whether the launch makes output row a0+r. */
    SMP_DEVICE_MEMBER bool stores(int r) const { return (unsigned)(r - first) < (unsigned)(columns - first); }
};

template <int PX> SMP_DEVICE bool transpose_place_of(const smp_io &io, int32_t orientation, transpose_place *t)
{
    typedef transpose_shape<PX> shape;
    const smp_transpose_span a = smp_transpose_columns(&io, orientation, shape::vector_pixels, shape::columns);
    const int64_t k = (int64_t)blockIdx.z * gridDim.y + blockIdx.y;
    if (k >= a.tiles || a.from >= a.to)
        return false;
    const bool mirror_x = orientation & SMP_ORIENT_MIRROR_X, mirror_y = orientation & SMP_ORIENT_MIRROR_Y;
    const int64_t tile = k > 0 ? k - 1 : a.tiles - 1; /* the partial tile first, so that it does not finish last */
    t->a0 = a.start + tile * shape::columns;
    t->x0 = (int64_t)blockIdx.x * shape::rows;
    t->first = (int)max(a.from - t->a0, (int64_t)0);
    t->columns = (int)min((int64_t)shape::columns, a.to - t->a0);
    t->rows = (int)min((int64_t)shape::rows, io.out.width - t->x0);
    t->full = t->columns == shape::columns && t->rows == shape::rows;
    t->in = smp_in<unsigned char>(io.in, mirror_y ? io.in.height - 1 : 0);
    t->in_step = mirror_y ? -io.in.stride : io.in.stride;
    t->out = smp_out<unsigned char>(io.out, mirror_x ? io.in.width - 1 : 0);
    t->out_step = mirror_x ? -io.out.stride : io.out.stride;
    return true;
}

/* The cell that this thread takes in step k: a warp has WIDE across and 32 / WIDE down. */
template <int PX, int WIDE> SMP_DEVICE void transpose_cell(int k, int *cx, int *cy)
{
    typedef transpose_shape<PX> shape;
    static_assert(shape::across % WIDE == 0 && 32 % WIDE == 0, "whole warps");
    const int lane = (int)threadIdx.x & 31, warp = ((int)threadIdx.x >> 5) + k * (shape::threads / 32);
    *cx = warp % (shape::across / WIDE) * WIDE + lane % WIDE;
    *cy = warp / (shape::across / WIDE) * (32 / WIDE) + lane / WIDE;
}

/* transpose_swizzled_CHANNELS_FORMAT_FORMAT */
#define TRANSPOSE_SWIZZLED(channels, format, px, body)                                                                 \
    SMP_KERNEL_BOUNDS(transpose_shape<px>::threads, transpose_shape<px>::blocks,                                       \
                      transpose_swizzled_##channels##_##format##_##format, smp_orientation, io, p)                     \
    {                                                                                                                  \
        body<px>(io, p.orientation);                                                                                   \
    }
