/* Matrix products of a warp on tensor cores. */
#pragma once

#include "lib/gpu_kernel.h"

/* d (16 x 8) += a (16 x 32) * b (32 x 8): unsigned bytes, sums of 32 bits. All lanes must call it. Lane 4g + t holds
 * (PTX ISA, "Matrix Fragments for mma.m16n8k32"), with byte i of a register in its bits 8i .. 8i+7:
 *   a[0], a[2]  row g, columns 4t + i and 16 + 4t + i;  a[1], a[3]  the same of row g + 8
 *   b0, b1      rows 4t + i and 16 + 4t + i of column g
 *   d[0], d[1]  row g, columns 2t and 2t + 1;           d[2], d[3]  the same of row g + 8 */
SMP_DEVICE void smp_mma_u8(unsigned (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750 /* 8 x 8 x 16: each register of a is one such matrix */
#pragma unroll
    for (int q = 0; q < 4; q++)
        asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+r"(d[q % 2 * 2]), "+r"(d[q % 2 * 2 + 1])
            : "r"(a[q]), "r"(q < 2 ? b0 : b1));
#else
    const int lane = (int)(threadIdx.x & 31), g = lane / 4, t = lane % 4;
    const unsigned long long b = b0 | (unsigned long long)b1 << 32;
    for (int s = 0; s < 4; s++) { /* the part of the sums in lanes 4 * .. + s */
        const unsigned long long low = __shfl_sync(0xffffffffu, a[0] | (unsigned long long)a[2] << 32, 4 * g + s);
        const unsigned long long high = __shfl_sync(0xffffffffu, a[1] | (unsigned long long)a[3] << 32, 4 * g + s);
        for (int n = 0; n < 2; n++) {
            const unsigned long long column = __shfl_sync(0xffffffffu, b, 4 * (2 * t + n) + s);
            d[n] = __dp4a((unsigned)low, (unsigned)column, d[n]);
            d[n] = __dp4a((unsigned)(low >> 32), (unsigned)(column >> 32), d[n]);
            d[n + 2] = __dp4a((unsigned)high, (unsigned)column, d[n + 2]);
            d[n + 2] = __dp4a((unsigned)(high >> 32), (unsigned)(column >> 32), d[n + 2]);
        }
    }
#endif
}
