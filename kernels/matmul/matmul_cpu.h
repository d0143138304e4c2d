/* Blocks of a matrix product on the CPU, for kernel files (described in matmul.c): both operands packed in blocks that
 * stay in the second-level cache, as f32 in the order of their use, sums in vector registers. The kernel packs an
 * operand and stores the sums. */
#pragma once

#include "lib/cpu_kernel.h"
#include "matmul/matmul_blocks.h"

/* Sums in registers: MR rows of NR samples. 32 registers of 64 bytes hold 12 x 2 vectors of sums, 16 of 32 bytes 6 x 2.
 */
#if defined(__AVX512F__)
#include <immintrin.h>
enum { LANES = 16, MR = 12 };
typedef __m512 vec;
#define VEC_LOAD(p)      _mm512_loadu_ps(p)
#define VEC_STORE(p, v)  _mm512_storeu_ps(p, v)
#define VEC_SET(s)       _mm512_set1_ps(s)
#define VEC_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
enum { LANES = 8, MR = 6 };
typedef __m256 vec;
#define VEC_LOAD(p)      _mm256_loadu_ps(p)
#define VEC_STORE(p, v)  _mm256_storeu_ps(p, v)
#define VEC_SET(s)       _mm256_set1_ps(s)
#define VEC_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#else /* fmaf is a call, or one scalar instruction */
enum { LANES = 1, MR = 4 };
typedef float vec;
#define VEC_LOAD(p)      (*(p))
#define VEC_STORE(p, v)  (*(p) = (v))
#define VEC_SET(s)       (s)
#define VEC_FMA(a, b, c) fmaf(a, b, c)
#endif
enum {
    NR = 2 * LANES,
    ROWS = SMP_MATMUL_CPU_ROWS,
    PITCH = SMP_MATMUL_CPU_PITCH,
    COLUMNS = SMP_MATMUL_CPU_COLUMNS,
    DEPTH = SMP_MATMUL_CPU_DEPTH
};
_Static_assert(ROWS % MR == 0 && COLUMNS % NR == 0, "blocks are whole numbers of register tiles");

typedef struct matmul_blocks {
    float sums[ROWS * COLUMNS];
    float l[ROWS * PITCH];    /* [y][k] */
    float r[DEPTH * COLUMNS]; /* tiles of NR columns: [k][NR] */
} matmul_blocks;
_Static_assert(sizeof(matmul_blocks) == SMP_MATMUL_CPU_SCRATCH, "the scratch memory that the stage asks for");

/* Packs rows (of L) or columns (of R) first .. first+count-1, samples k .. k+depth-1 of the inner index, as b->l or
 * b->r, with zeros up to whole MR rows or NR columns. */
typedef void matmul_pack(const void *operand, float *restrict to, int64_t first, int64_t count, int64_t k,
                         int64_t depth);

/* Adds `depth` steps of k to MR x NR sums, COLUMNS apart from row to row. */
SMP_INLINE void multiply_tile(float *sums, const float *restrict l, const float *restrict r, int64_t depth)
{
    vec sum[MR][2];
    for (int i = 0; i < MR; i++) {
        sum[i][0] = VEC_LOAD(sums + i * COLUMNS);
        sum[i][1] = VEC_LOAD(sums + i * COLUMNS + LANES);
    }
    for (int64_t k = 0; k < depth; k++, l++, r += NR) {
        const vec r0 = VEC_LOAD(r), r1 = VEC_LOAD(r + LANES);
#pragma GCC unroll 12
        for (int i = 0; i < MR; i++) {
            const vec left = VEC_SET(l[i * PITCH]);
            sum[i][0] = VEC_FMA(left, r0, sum[i][0]);
            sum[i][1] = VEC_FMA(left, r1, sum[i][1]);
        }
    }
    for (int i = 0; i < MR; i++) {
        VEC_STORE(sums + i * COLUMNS, sum[i][0]);
        VEC_STORE(sums + i * COLUMNS + LANES, sum[i][1]);
    }
}

/* b->sums of rows y .. y+rows-1 and columns x .. x+columns-1 over `inner` k. */
SMP_INLINE void matmul_sums(matmul_blocks *b, matmul_pack *pack_l, const void *l, matmul_pack *pack_r, const void *r,
                            int64_t inner, int64_t y, int64_t rows, int64_t x, int64_t columns)
{
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        b->sums[i] = 0.f;
    for (int64_t k = 0; k < inner; k += DEPTH) {
        const int64_t depth = inner - k < DEPTH ? inner - k : DEPTH;
        pack_r(r, b->r, x, columns, k, depth);
        pack_l(l, b->l, y, rows, k, depth);
        for (int64_t tx = 0; tx < columns; tx += NR)
            for (int64_t ty = 0; ty < rows; ty += MR)
                multiply_tile(b->sums + ty * COLUMNS + tx, b->l + ty * PITCH, b->r + tx * depth, depth);
    }
}
