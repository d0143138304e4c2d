/* The swizzled variant of transpose's family where rows stay rows (flip, rotate 180), on GPUs: 16 bytes of output a
 * thread and access, without shared memory.
 *
 * Vertical flips copy words. Where rows are reversed, byte b of an output row is byte  size - px - b + 2 * (b % px)  of
 * the input row. So 16 bytes of output come from 16 bytes of input, or, as pixels of 3, 6 and 12 bytes straddle words,
 * from 20, 24 or 32 bytes, which start at any byte. A thread loads the two or three words that hold them (its
 * neighbours load the same, so that memory gives each once), shifts them to where its bytes start, and picks 4 bytes at
 * a time with a byte permute. How far to shift is the same for all words of a row; which permute, for every third.
 *
 * A warp's 512 bytes take 8 or 12 wavefronts to load and 4 to store; an SM of an H100 has about 38 cycles for them at
 * the copy's speed. Words at a row's ends whose input is not whole words go byte by byte. */
#include "smp_kernel.h"
#include "transpose.h"

typedef smp_pack<uint32_t, 4> turn_word; /* one access of 16 bytes */

/* What 16 bytes of output are made of: `count` words of 4 bytes, the first at byte  size - 16 - b - before  of the row.
 */
template <int PX> struct reach {
    static constexpr int before = PX == 3 ? 2 : PX == 6 ? 4 : PX == 12 ? 8 : 0;
    static constexpr int bytes = 16 + 2 * before, count = bytes / 4;
    static constexpr int unit = PX & -PX; /* what these bytes start at multiples of */
    static constexpr int loads = unit == 16 ? 1 : (16 - unit + bytes + 15) / 16;
};

/* Word j of the output from u; phase: (output word of 16 bytes + j) % 3. */
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

template <int PX> SMP_DEVICE turn_word reversed(const uint32_t *u, int phase)
{
    turn_word out;
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

/* Where a row's bytes for one word of output are: the first of the 16-byte words to load, and the shift. */
struct turn_source {
    int64_t at; /* bytes from the row's start; may be negative */
    int shift;  /* bytes, 0 to 15 */
};

template <int PX> SMP_DEVICE turn_word reverse_at(const unsigned char *row, int64_t size, turn_source from, int phase)
{
    typedef reach<PX> r;
    uint32_t w[4 * r::loads + 4];
#pragma unroll
    for (int i = 0; i <= r::loads; i++) {
        const int64_t at = from.at + 16 * i;
        turn_word v;
        v.v[0] = v.v[1] = v.v[2] = v.v[3] = 0;
        if (i < r::loads && 16 * i < from.shift + r::bytes && at >= 0 && at + 16 <= size)
            v = *reinterpret_cast<const turn_word *>(row + at);
#pragma unroll
        for (int j = 0; j < 4; j++)
            w[4 * i + j] = v.v[j];
    }
    if (r::unit <= 8) /* by 8, 4, and 1 to 3 bytes, so that registers need no index at run time */
#pragma unroll
        for (int i = 0; i < r::count + 2; i++)
            w[i] = from.shift & 8 ? w[i + 2] : w[i];
    if (r::unit <= 4)
#pragma unroll
        for (int i = 0; i < r::count + 1; i++)
            w[i] = from.shift & 4 ? w[i + 1] : w[i];
    if (r::unit <= 2)
#pragma unroll
        for (int i = 0; i < r::count; i++)
            w[i] = __funnelshift_r(w[i], w[i + 1], 8u * ((unsigned)from.shift & 3));
    return reversed<PX>(w, phase);
}

/* Rows of a picture by blocks of x by y threads: 16 bytes in x; in y rows, SMP_TURN_AT_ONCE of them at a time. */
struct turn_rows {
    int64_t first, step, end; /* of this thread, counted from the first row of the output */
    SMP_MEMBER turn_rows(const smp_io &io)
        : first((int64_t)blockIdx.y * blockDim.y + threadIdx.y), step((int64_t)gridDim.y * blockDim.y), end(io.out.rows)
    {
    }
};
SMP_DEVICE const unsigned char *turn_in(const smp_io &io, int32_t how, int64_t row)
{
    const int64_t y = io.out.y0 + row;
    return smp_in<unsigned char>(io.in, how & SMP_TURN_MIRROR_Y ? io.in.height - 1 - y : y);
}
SMP_DEVICE unsigned char *turn_out(const smp_io &io, int64_t row)
{
    return smp_out<unsigned char>(io.out, io.out.y0 + row);
}

template <int PX> SMP_DEVICE void turn_reversed(const smp_io &io, int32_t how)
{
    typedef reach<PX> r;
    const int64_t size = io.out.width * PX, words = (size + 15) / 16, whole = size & ~(int64_t)15;
    const turn_rows rows(io);
    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < words; k += (int64_t)gridDim.x * blockDim.x) {
        const int64_t b = 16 * k, start = size - 16 - b - r::before;
        if (b + 16 <= size && min(start + r::bytes, size) <= whole) {
            const turn_source from = {start & ~(int64_t)15, (int)(start & 15)};
            const int phase = (int)((uint64_t)k % 3);
            for (int64_t y = rows.first; y < rows.end; y += rows.step * SMP_TURN_AT_ONCE) {
                turn_word v[SMP_TURN_AT_ONCE];
#pragma unroll
                for (int j = 0; j < SMP_TURN_AT_ONCE; j++) /* past the end the last row again, the same bytes */
                    v[j] = reverse_at<PX>(turn_in(io, how, min(y + j * rows.step, rows.end - 1)), size, from, phase);
#pragma unroll
                for (int j = 0; j < SMP_TURN_AT_ONCE; j++)
                    if (y + j * rows.step < rows.end)
                        *reinterpret_cast<turn_word *>(turn_out(io, y + j * rows.step) + b) = v[j];
            }
        } else {
            for (int64_t y = rows.first; y < rows.end; y += rows.step) {
                const unsigned char *in = turn_in(io, how, y);
                unsigned char *out = turn_out(io, y);
#pragma unroll 1
                for (int64_t at = b; at < min(b + 16, size); at++)
                    out[at] = in[size - PX - at + 2 * (int64_t)((uint64_t)at % PX)];
            }
        }
    }
}

#define TURN_REVERSED(channels, format, px)                                                                            \
    SMP_KERNEL(transpose_reversed_##channels##_##format##_##format, smp_turn, io, p)                                   \
    {                                                                                                                  \
        turn_reversed<px>(io, p.how);                                                                                  \
    }
TURN_REVERSED(1, u8, 1)
TURN_REVERSED(2, u8, 2)
TURN_REVERSED(3, u8, 3)
TURN_REVERSED(4, u8, 4)
TURN_REVERSED(6, u8, 6)
TURN_REVERSED(8, u8, 8)
TURN_REVERSED(1, u16, 2)
TURN_REVERSED(2, u16, 4)
TURN_REVERSED(3, u16, 6)
TURN_REVERSED(4, u16, 8)
TURN_REVERSED(6, u16, 12)
TURN_REVERSED(8, u16, 16)
TURN_REVERSED(1, f32, 4)
TURN_REVERSED(2, f32, 8)
TURN_REVERSED(3, f32, 12)
TURN_REVERSED(4, f32, 16)

/* Rows copied, from the first or from the last on. */
template <typename IN, typename OUT> SMP_DEVICE void transpose_rows(const smp_io &io, const smp_turn &p)
{
    const int64_t size = io.out.width * io.out.channels * (int64_t)sizeof(IN), words = (size + 15) / 16;
    const turn_rows rows(io);
    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < words; k += (int64_t)gridDim.x * blockDim.x) {
        const int64_t b = 16 * k;
        if (b + 16 <= size) {
            for (int64_t y = rows.first; y < rows.end; y += rows.step * SMP_TURN_AT_ONCE) {
                turn_word v[SMP_TURN_AT_ONCE];
#pragma unroll
                for (int j = 0; j < SMP_TURN_AT_ONCE; j++)
                    v[j] = *reinterpret_cast<const turn_word *>(
                        turn_in(io, p.how, min(y + j * rows.step, rows.end - 1)) + b);
#pragma unroll
                for (int j = 0; j < SMP_TURN_AT_ONCE; j++)
                    if (y + j * rows.step < rows.end)
                        *reinterpret_cast<turn_word *>(turn_out(io, y + j * rows.step) + b) = v[j];
            }
        } else {
            for (int64_t y = rows.first; y < rows.end; y += rows.step)
#pragma unroll 1
                for (int64_t at = b; at < size; at++)
                    turn_out(io, y)[at] = turn_in(io, p.how, y)[at];
        }
    }
}
SMP_KERNEL_SAME(transpose_rows, smp_turn)
