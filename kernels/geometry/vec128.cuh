/* Words of 16 bytes for the kernels of transpose's family: loaded from any address. */
#ifndef SMP_KERNELS_TURN_WORD_CUH
#define SMP_KERNELS_TURN_WORD_CUH

#include "lib/gpu_kernel.h"

typedef smp_pack<uint32_t, 4> vec128; /* one access of 16 bytes */

/* The first COUNT words of w after `shift` bytes, 0 to 15 and a multiple of UNIT, are left out; w has more by as much.
 */
template <int UNIT, int COUNT, int N> SMP_DEVICE void transpose_shift(uint32_t (&w)[N], int shift)
{
    static_assert(N >= COUNT + 4, "room for what is shifted");
    if (UNIT <= 8) /* by 8, 4, and 1 to 3 bytes, so that registers need no index at run time */
#pragma unroll
        for (int i = 0; i < COUNT + 2; i++)
            w[i] = shift & 8 ? w[i + 2] : w[i];
    if (UNIT <= 4)
#pragma unroll
        for (int i = 0; i < COUNT + 1; i++)
            w[i] = shift & 4 ? w[i + 1] : w[i];
    if (UNIT <= 2)
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            w[i] = __funnelshift_r(w[i], w[i + 1], 8u * ((unsigned)shift & 3));
}

/* BYTES bytes from `from` on, which is a multiple of UNIT; from..first-1 and last..BYTES-1 are not wanted and not read.
 */
template <int BYTES, int UNIT> struct transpose_bytes {
    static constexpr int count = BYTES / 4, loads = UNIT == 16 ? BYTES / 16 : (16 - UNIT + BYTES + 15) / 16;
    const unsigned char *word; /* the first of the words of 16 bytes that hold them */
    int shift, first, last;    /* bytes before `from` there; the words that are wanted */

    SMP_DEVICE_MEMBER transpose_bytes(const unsigned char *from, int first_byte, int last_byte)
        : shift((int)((uintptr_t)from & 15))
    {
        word = from - shift;
        first = (shift + first_byte) >> 4;
        last = (shift + last_byte + 15) >> 4;
    }
    /* Whether all that is wanted is in words of these bytes alone. */
    SMP_DEVICE_MEMBER bool within(const unsigned char *row, int64_t size) const
    {
        return word + 16 * first >= row && word + 16 * last <= row + size;
    }
    SMP_DEVICE_MEMBER void load(uint32_t (&w)[4 * loads + 4]) const
    {
#pragma unroll
        for (int i = 0; i <= loads; i++) {
            vec128 v;
            v.v[0] = v.v[1] = v.v[2] = v.v[3] = 0;
            if (i < loads && i >= first && i < last)
                v = *reinterpret_cast<const vec128 *>(word + 16 * i);
#pragma unroll
            for (int j = 0; j < 4; j++)
                w[4 * i + j] = v.v[j];
        }
        transpose_shift<UNIT, count>(w, shift);
    }
};

#endif
