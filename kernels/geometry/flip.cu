/* The swizzled variant of transpose's family where rows stay rows (flip, rotate 180), on GPUs: a thread makes one
 * 16-byte word of output, without shared memory.
 *
 * Vertical flips copy bytes. Where rows are reversed, byte b of an output row is byte  size - px - b + 2 * (b % px)  of
 * the input row. So 16 bytes of output come from 16 bytes of input, or, as pixels of 3, 6 and 12 bytes straddle words,
 * from 20, 24 or 32 bytes, which start at any byte. A thread loads the two or three words that hold them (its
 * neighbours load the same, so that memory gives each once), shifts them to where its bytes start, and picks 4 bytes at
 * a time with a byte permute. How far to shift, and which permutes, depends on where both rows begin: so rows need not
 * begin at 16-byte boundaries, only at multiples of what divides the pixel's size.
 *
 * One word a thread and 2048 threads an SM run at a copy's speed (99.5 to 100.7 %): 32 registers, so nothing is counted
 * in loops. A warp's 512 bytes take 4 to 12 wavefronts to load and 4 to store; an SM of an H100 has about 38 cycles for
 * them. Words at a row's ends, and those whose input is not whole words, go byte by byte. */
#include "geometry/transpose.h"
#include "geometry/vec128.cuh"
#include "lib/gpu_kernel.h"

/* What 16 bytes of output at byte b are made of: so many bytes from byte  size - 16 - b - before  of the input row on.
 */
template <int PX> struct reach {
    static constexpr int before = PX == 3 ? 2 : PX == 6 ? 4 : PX == 12 ? 8 : 0;
    static constexpr int bytes = 16 + 2 * before;
    static constexpr int unit = PX & -PX; /* what they start at multiples of */
};

/* Word j of the output from u; phase: (b + j) % 3. */
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

/* The output row that is this thread's, and its word there. Of the first and the last word of a row some bytes may be
 * the neighbours'. */
SMP_DEVICE int64_t transpose_row()
{
    return ((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
}
SMP_DEVICE int64_t transpose_column()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}
SMP_DEVICE const unsigned char *transpose_in(const smp_io &io, int32_t orientation, int64_t row)
{
    const int64_t y = io.out.y0 + row;
    return smp_in<unsigned char>(io.in, orientation & SMP_ORIENT_MIRROR_Y ? io.in.height - 1 - y : y);
}

/* Byte i of an output row comes from here in the input row: PX 0 where rows are copied. */
template <int PX> SMP_DEVICE int64_t transpose_byte(int64_t size, int64_t i)
{
    return PX ? size - PX - i + 2 * (int64_t)((uint64_t)i % (PX ? PX : 1)) : i;
}

/* The output's word at byte b of a row, where the row ends or its input is not whole words. */
template <int PX> SMP_DEVICE void transpose_slowly(const unsigned char *in, unsigned char *out, int64_t size, int64_t b)
{
#pragma unroll 1
    for (int i = 0; i < 16; i += 4) {
        unsigned char v[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (b + i + j >= 0 && b + i + j < size)
                v[j] = in[transpose_byte<PX>(size, b + i + j)];
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (b + i + j >= 0 && b + i + j < size)
                out[b + i + j] = v[j];
    }
}

template <int PX> SMP_DEVICE void transpose_reversed(const smp_io &io, int32_t orientation)
{
    typedef reach<PX> r;
    const int64_t size = io.out.width * PX, y = transpose_row(), k = transpose_column();
    if (y >= io.out.rows)
        return;
    const unsigned char *in = transpose_in(io, orientation, y);
    unsigned char *out = smp_out<unsigned char>(io.out, io.out.y0 + y);
    const int skew = (int)((uintptr_t)out & 15);
    const int64_t b = 16 * k - skew, start = size - 16 - b - r::before;
    const transpose_bytes<r::bytes, r::unit> from(in + start, (int)max(-start, (int64_t)0),
                                                  (int)min(size - start, (int64_t)r::bytes));
    if (b >= 0 && b + 16 <= size && from.within(in, size)) {
        uint32_t w[4 * from.loads + 4];
        from.load(w);
        *reinterpret_cast<vec128 *>(out + b) = reversed<PX>(w, (int)((uint64_t)(k + 15 - skew) % 3));
    } else {
        transpose_slowly<PX>(in, out, size, b);
    }
}

#define TRANSPOSE_REVERSED(channels, format, px)                                                                       \
    SMP_KERNEL_BOUNDS(SMP_TRANSPOSE_THREADS, SMP_TRANSPOSE_BLOCKS,                                                     \
                      transpose_reversed_##channels##_##format##_##format, smp_orientation, io, p)                     \
    {                                                                                                                  \
        transpose_reversed<px>(io, p.orientation);                                                                     \
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
template <int UNIT> SMP_DEVICE void flip_rows_of(const smp_io &io, int32_t orientation, int64_t size)
{
    const int64_t y = transpose_row(), k = transpose_column();
    if (y >= io.out.rows)
        return;
    const unsigned char *in = transpose_in(io, orientation, y);
    unsigned char *out = smp_out<unsigned char>(io.out, io.out.y0 + y);
    const int64_t b = 16 * k - (int64_t)((uintptr_t)out & 15);
    const transpose_bytes<16, UNIT> from(in + b, 0, 16);
    if (b >= 0 && b + 16 <= size && from.within(in, size)) {
        uint32_t w[4 * from.loads + 4];
        from.load(w);
        vec128 word;
        word.v[0] = w[0], word.v[1] = w[1], word.v[2] = w[2], word.v[3] = w[3];
        *reinterpret_cast<vec128 *>(out + b) = word;
    } else {
        transpose_slowly<0>(in, out, size, b);
    }
}

#define TRANSPOSE_ROWS(format, bytes)                                                                                  \
    SMP_KERNEL_BOUNDS(SMP_TRANSPOSE_THREADS, SMP_TRANSPOSE_BLOCKS, transpose_rows_##format##_##format,                 \
                      smp_orientation, io, p)                                                                          \
    {                                                                                                                  \
        flip_rows_of<bytes>(io, p.orientation, io.out.width * io.out.channels * bytes);                                \
    }
TRANSPOSE_ROWS(u8, 1)
TRANSPOSE_ROWS(u16, 2)
TRANSPOSE_ROWS(f32, 4)
