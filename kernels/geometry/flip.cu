/* The swizzled variant of transpose's family where rows stay rows (flip, rotate 180), on GPUs: a thread makes one
 * 16-byte vector of output, without shared memory.
 *
 * Vertical flips copy bytes. In reversed rows, byte b of an output row is byte  size - px - b + 2 * (b % px)  of the
 * input row. So 16 bytes of output come from 16 bytes of input, or, as pixels of 3, 6 and 12 bytes straddle vectors,
 * from 20, 24 or 32 bytes, which start at any multiple of what divides the pixel's size. A thread loads the two or
 * three vectors that hold them (its neighbours load the same ones, but memory delivers each once), shifts out the bytes
 * before the first, and picks 4 bytes at a time with a byte permute.
 *
 * One vector a thread and 2048 threads an SM reach a copy's speed (99.5 to 100.7 %): 32 registers, so there are no loop
 * counters. A warp's 512 bytes take 4 to 12 wavefronts to load and 4 to store; an SM of an H100 has about 38 cycles for
 * them. Rows are aligned and own their padding (smp_rows_aligned), so the last vector of a row is like any other. */
#include "geometry/transpose.h"
#include "geometry/vec128.cuh"
#include "lib/gpu_kernel.h"

/* 16 bytes of output at byte b come from this many bytes, from byte  size - 16 - b - before  of the input row on. */
template <int PX> struct reach {
    static constexpr int before = PX == 3 ? 2 : PX == 6 ? 4 : PX == 12 ? 8 : 0;
    static constexpr int bytes = 16 + 2 * before;
    static constexpr int unit = PX & -PX; /* they start at multiples of it */
};

/* Word j of an output vector from u; phase: (b + j) % 3, b in words. */
template <int PX> SMP_DEVICE uint32_t reversed_word(const uint32_t *u, int j, int phase)
{
    u += 3 - j;
    switch (PX) {
    case 1:
        return __byte_perm(u[0], 0, 0x0123);
    case 2:
        return __byte_perm(u[0], 0, 0x1032);
    case 3:
        return __byte_perm(u[0], u[1], phase == 0 ? 0x0543 : phase == 1 ? 0x2165 : 0x4327);
    case 6: /* phase 1: two bytes each of two pixels */
        return __byte_perm(phase == 2 ? u[1] : u[0], phase == 0 ? u[1] : u[2], phase == 1 ? 0x1076 : 0x5432);
    case 12:
        return phase == 0 ? u[0] : phase == 1 ? u[2] : u[4];
    default:
        return u[0];
    }
}

template <int PX> SMP_DEVICE vec128 reversed(const uint32_t *u, int phase)
{
    vec128 out;
    if (PX == 8) {
        out.v[0] = u[2], out.v[1] = u[3], out.v[2] = u[0], out.v[3] = u[1];
    } else if (PX == 16) {
        out.v[0] = u[0], out.v[1] = u[1], out.v[2] = u[2], out.v[3] = u[3];
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            out.v[j] = reversed_word<PX>(u, j, phase);
            phase = phase == 2 ? 0 : phase + 1;
        }
    }
    return out;
}

/* This thread's vector: its row of the output view, and its first byte in the row. False: there is none. */
SMP_DEVICE bool flip_place(const smp_io &io, int64_t size, int64_t *row, int64_t *byte)
{
    *row = ((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    *byte = 16 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
    return *row < io.out.rows && *byte < size;
}
SMP_DEVICE const unsigned char *flip_in(const smp_io &io, int32_t orientation, int64_t row)
{
    const int64_t y = io.out.y0 + row;
    return smp_in<unsigned char>(io.in, orientation & SMP_ORIENT_MIRROR_Y ? io.in.height - 1 - y : y);
}

template <int PX> SMP_DEVICE void flip_reversed(const smp_io &io, int32_t orientation)
{
    typedef reach<PX> r;
    const int64_t size = io.out.width * PX;
    int64_t y, b;
    if (!flip_place(io, size, &y, &b))
        return;
    const int64_t start = size - 16 - b - r::before;
    const vec128_bytes<r::bytes, r::unit> from(flip_in(io, orientation, y) + start, (int)max(-start, (int64_t)0),
                                               (int)min(size - start, (int64_t)r::bytes));
    uint32_t w[4 * from.loads + 4];
    from.load(w);
    *reinterpret_cast<vec128 *>(smp_out<unsigned char>(io.out, io.out.y0 + y) + b) =
        reversed<PX>(w, (int)((uint64_t)b / 16 % 3));
}

#define TRANSPOSE_REVERSED(channels, format, px)                                                                       \
    SMP_KERNEL_BOUNDS(SMP_TRANSPOSE_THREADS, SMP_TRANSPOSE_BLOCKS,                                                     \
                      transpose_reversed_##channels##_##format##_##format, smp_orientation, io, p)                     \
    {                                                                                                                  \
        flip_reversed<px>(io, p.orientation);                                                                          \
    }
TRANSPOSE_REVERSED(1, u8, 1)
TRANSPOSE_REVERSED(2, u8, 2)
TRANSPOSE_REVERSED(3, u8, 3)
TRANSPOSE_REVERSED(4, u8, 4)
TRANSPOSE_REVERSED(6, u8, 6)
TRANSPOSE_REVERSED(8, u8, 8)
TRANSPOSE_REVERSED(1, u16, 2)
TRANSPOSE_REVERSED(2, u16, 4)
TRANSPOSE_REVERSED(3, u16, 6)
TRANSPOSE_REVERSED(4, u16, 8)
TRANSPOSE_REVERSED(6, u16, 12)
TRANSPOSE_REVERSED(8, u16, 16)
TRANSPOSE_REVERSED(1, f32, 4)
TRANSPOSE_REVERSED(2, f32, 8)
TRANSPOSE_REVERSED(3, f32, 12)
TRANSPOSE_REVERSED(4, f32, 16)

/* Rows copied, from the first or from the last on. */
SMP_DEVICE void flip_rows(const smp_io &io, int32_t orientation, int64_t size)
{
    int64_t y, b;
    if (flip_place(io, size, &y, &b))
        *reinterpret_cast<vec128 *>(smp_out<unsigned char>(io.out, io.out.y0 + y) + b) =
            *reinterpret_cast<const vec128 *>(flip_in(io, orientation, y) + b);
}

#define TRANSPOSE_ROWS(format, bytes)                                                                                  \
    SMP_KERNEL_BOUNDS(SMP_TRANSPOSE_THREADS, SMP_TRANSPOSE_BLOCKS, transpose_rows_##format##_##format,                 \
                      smp_orientation, io, p)                                                                          \
    {                                                                                                                  \
        flip_rows(io, p.orientation, io.out.width *io.out.channels *bytes);                                            \
    }
TRANSPOSE_ROWS(u8, 1)
TRANSPOSE_ROWS(u16, 2)
TRANSPOSE_ROWS(f32, 4)
