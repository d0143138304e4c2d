/* What the swizzled swaps of rows and columns share on GPUs: a block's tile, its ragged ends, its cells.
 *
 * Seen from a thread every swap is a plain transpose: input column a and output column x are counted from the left, and
 * mirrors decide which rows x and a are. Tiles so begin at 16-byte boundaries of their rows on both sides whatever the
 * width, and a mirror costs nothing; ragged ends are left to their blocks, pixel by pixel. Rows of memory begin at
 * 16-byte boundaries (src/stages/shared/transpose_family.c). */
#ifndef SMP_KERNELS_TURN_TILE_CUH
#define SMP_KERNELS_TURN_TILE_CUH

#include "geometry/transpose.h"
#include "geometry/vec128.cuh"

template <int PX> struct transpose_shape;
#define TRANSPOSE_SHAPE(px, cell, cells_across, cells_down, block, resident)                                           \
    template <> struct transpose_shape<px> {                                                                           \
        static constexpr int side = cell, across = cells_across, down = cells_down;                                    \
        static constexpr int threads = block, row_multiple = SMP_TRANSPOSE_ROW_MULTIPLE(px);                           \
        static constexpr int blocks = resident;                                                                        \
        static constexpr int columns = side * across, rows = side * down;                                              \
    };
SMP_TRANSPOSE_SHAPES(TRANSPOSE_SHAPE)

/* A block's tile of a swap: input columns a0 .. a0+columns-1, and output columns (the input's rows) x0 .. x0+rows-1. */
struct transpose_place {
    int64_t a0, x0;
    int columns, rows;         /* whole row_multiples; either may be 0 */
    const unsigned char *in;   /* the start of the input row that output column 0 comes from */
    unsigned char *out;        /* the start of the output row that input column 0 goes to; it need not be present */
    int64_t in_step, out_step; /* bytes from there to those of column 1 */
    int64_t a_from, a_to, x_from, x_to; /* with the ragged ends that are this block's */
};

template <int PX> SMP_DEVICE bool transpose_place_of(const smp_io &io, int32_t orientation, transpose_place *t)
{
    typedef transpose_shape<PX> shape;
    const smp_transpose_stretch a = smp_transpose_columns(&io, orientation, shape::row_multiple, shape::columns);
    const smp_transpose_stretch x = smp_transpose_cut(0, io.out.width, shape::row_multiple, shape::rows);
    const int64_t k = (int64_t)blockIdx.z * gridDim.y + blockIdx.y, kx = blockIdx.x;
    if (k >= a.tiles)
        return false;
    const bool mirror_x = orientation & SMP_ORIENT_MIRROR_X, mirror_y = orientation & SMP_ORIENT_MIRROR_Y;
    const int64_t ka = k > 0 ? k - 1 : a.tiles - 1; /* ragged ends first: none is late at the end */
    t->a0 = a.body + ka * shape::columns;
    t->x0 = x.body + kx * shape::rows;
    t->columns = (int)min((int64_t)shape::columns, a.body_end - t->a0);
    t->rows = (int)min((int64_t)shape::rows, (x.body_end - t->x0) / shape::row_multiple * shape::row_multiple);
    t->in = smp_in<unsigned char>(io.in, mirror_y ? io.in.height - 1 : 0);
    t->in_step = mirror_y ? -io.in.stride : io.in.stride;
    t->out = smp_out<unsigned char>(io.out, mirror_x ? io.in.width - 1 : 0);
    t->out_step = mirror_x ? -io.out.stride : io.out.stride;
    t->a_from = ka == 0 ? a.from : t->a0;
    t->a_to = ka == a.tiles - 1 ? a.to : t->a0 + t->columns;
    t->x_from = kx == 0 ? x.from : t->x0;
    t->x_to = kx == x.tiles - 1 ? x.to : t->x0 + t->rows;
    return true;
}

/* What a pixel of PX bytes is moved in: as much as divides its size and 4 bytes, and is aligned wherever it starts. */
template <int PX> struct transpose_part {
    typedef uint32_t type;
};
template <> struct transpose_part<1> {
    typedef uint8_t type;
};
template <> struct transpose_part<2> {
    typedef uint16_t type;
};
template <> struct transpose_part<3> {
    typedef uint8_t type;
};
template <> struct transpose_part<6> {
    typedef uint16_t type;
};

/* Input columns a .. a_end-1 of output columns x .. x_end-1, by parts of pixels: neighbouring threads go along the
 * output's rows, so that what they store of a row is one access of the second-level cache; loads, which the first-level
 * cache serves again, wait together. */
template <int PX>
SMP_DEVICE void transpose_pixels(const transpose_place &t, int64_t a, int64_t a_end, int64_t x, int64_t x_end)
{
    typedef typename transpose_part<PX>::type part;
    constexpr int PARTS = PX / (int)sizeof(part), AT_ONCE = 8;
    const int across = (int)(x_end - x) * PARTS, lines = (int)(a_end - a);
    if (across <= 0 || lines <= 0)
        return;
    int wide = transpose_shape<PX>::threads; /* threads along a row */
    while (wide / 2 >= across && wide > 1)
        wide /= 2;
    const int down = transpose_shape<PX>::threads / wide, first = (int)threadIdx.x / wide;
#pragma unroll 1
    for (int i = (int)threadIdx.x % wide; i < across; i += wide) {
        const int64_t at_x = x + i / PARTS;
        const unsigned char *from = t.in + at_x * t.in_step + (a + first) * PX + i % PARTS * (int)sizeof(part);
        unsigned char *to = t.out + (a + first) * t.out_step + at_x * PX + i % PARTS * (int)sizeof(part);
#pragma unroll 1
        for (int line = first; line < lines; line += AT_ONCE * down) {
            part v[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, from += down * PX)
                if (line + k * down < lines)
                    v[k] = *reinterpret_cast<const part *>(from);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, to += down * t.out_step)
                if (line + k * down < lines)
                    *reinterpret_cast<part *>(to) = v[k];
        }
    }
}

/* What the tile leaves: columns before and behind it, under it the last rows. */
template <int PX> SMP_DEVICE void transpose_ragged(const transpose_place &t)
{
    const int64_t a_end = t.a0 + t.columns;
    /* Nearly all blocks. Pixels of 12 bytes lack the registers to ask. */
    if (PX != 12 && t.a_from == t.a0 && t.a_to == a_end && t.x_from == t.x0 && t.x_to == t.x0 + t.rows)
        return;
#pragma unroll 1
    for (int side = 0; side < 3; side++) {
        const int64_t a = side == 0 ? t.a_from : side == 1 ? a_end : t.a0;
        const int64_t to = side == 0 ? t.a0 : side == 1 ? t.a_to : a_end;
        transpose_pixels<PX>(t, a, to, side == 2 ? t.x0 + t.rows : t.x_from, t.x_to);
    }
}

/* The cell that this thread takes in round k: a warp has WIDE across and 32 / WIDE down. */
template <int PX, int WIDE> SMP_DEVICE void transpose_cell(int k, int *cx, int *cy)
{
    typedef transpose_shape<PX> shape;
    static_assert(shape::across % WIDE == 0 && 32 % WIDE == 0, "whole warps");
    const int lane = (int)threadIdx.x & 31, warp = ((int)threadIdx.x >> 5) + k * (shape::threads / 32);
    *cx = warp % (shape::across / WIDE) * WIDE + lane % WIDE;
    *cy = warp / (shape::across / WIDE) * (32 / WIDE) + lane / WIDE;
}

/* transpose_swizzled_CHANNELS_FORMAT_FORMAT */
#define TRANSPOSE_SWIZZLED(channels, format, px, turn)                                                                 \
    SMP_KERNEL_BOUNDS(transpose_shape<px>::threads, transpose_shape<px>::blocks,                                       \
                      transpose_swizzled_##channels##_##format##_##format, smp_orientation, io, p)                     \
    {                                                                                                                  \
        turn<px>(io, p.orientation);                                                                                   \
    }

#endif
