/* 16-byte vectors for the kernels of transpose's family, loaded from any address. */
#pragma once

#include "lib/gpu_kernel.h"

typedef smp_pack<uint32_t, 4> vec128; /* one access of 16 bytes */

/* Drops the first `shift` bytes of w, 0 to 15 and a multiple of UNIT: COUNT words are valid afterwards. */
template <int UNIT, int COUNT, int N> SMP_DEVICE void vec128_shift(uint32_t (&w)[N], int shift)
{
    static_assert(N >= COUNT + 4, "room for the bytes that are shifted in");
    if (UNIT <= 8) /* by 8, 4, and 1 to 3 bytes, so that no register is indexed */
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

/* BYTES bytes from `from`, a multiple of UNIT. Vectors that lie wholly before first_byte or after last_byte - 1, both
 * counted from `from`, are not read. */
template <int BYTES, int UNIT> struct vec128_bytes {
    static constexpr int count = BYTES / 4, loads = UNIT == 16 ? BYTES / 16 : (16 - UNIT + BYTES + 15) / 16;
    const unsigned char *vec; /* the first of the vectors that hold them */
    int shift, first, last;   /* bytes before `from` there; the vectors to read */

    SMP_DEVICE_MEMBER vec128_bytes(const unsigned char *from, int first_byte, int last_byte)
        : shift((int)((uintptr_t)from & 15))
    {
        vec = from - shift;
        first = (shift + first_byte) >> 4;
        last = (shift + last_byte + 15) >> 4;
    }
    SMP_DEVICE_MEMBER void load(uint32_t (&w)[4 * loads + 4]) const
    {
#pragma unroll
        for (int i = 0; i <= loads; i++) {
            vec128 v;
            v.v[0] = v.v[1] = v.v[2] = v.v[3] = 0;
            if (i < loads && i >= first && i < last)
                v = *reinterpret_cast<const vec128 *>(vec + 16 * i);
#pragma unroll
            for (int j = 0; j < 4; j++)
                w[4 * i + j] = v.v[j];
        }
        vec128_shift<UNIT, count>(w, shift);
    }
};
