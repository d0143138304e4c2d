/* matmul on the CPU.
 *   naive  sample by sample: the definition. Every sample of R's column is on another cache line.
 *   tiled  Both operands are copied ("packed") in blocks that stay in the second cache, as f32 code values in exactly
 * the order of their use; the innermost loop keeps MR x NR sums in vector registers and for each k reads NR samples of
 * R and MR of L, each of those used for NR: two loads of a vector and MR of a sample for 2 MR vector fmaf. Sums rest in
 * memory between blocks of k, which changes no bit. Bound by fmaf: > 60 % of a core's peak. */
#include "matmul.h"

#include "smp_point.h"

SMP_CPU_KERNEL(matmul_naive)
{
    (void)scratch;
    const smp_matmul_params *p = params;
    const smp_view *l = smp_matmul_l(io, p), *r = smp_matmul_r(io, p), *out = &io->out;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < out->width; x++)
            for (int c = 0; c < out->channels; c++) {
                const int lc = smp_matmul_plane(l, c), rc = smp_matmul_plane(r, c);
                float sum = 0.f;
                for (int64_t k = 0; k < l->width; k++)
                    sum = fmaf(smp_load(smp_row(l, y), k * l->channels + lc, l->format),
                               smp_load(smp_row(r, k), x * r->channels + rc, r->format), sum);
                smp_put(io, smp_row(out, y), x * out->channels + c, smp_matmul_value(sum, p->divisor));
            }
}

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
#else /* fmaf is a call, or one instruction for one sample */
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

typedef struct blocks {
    float sums[ROWS * COLUMNS];
    float l[ROWS * PITCH];    /* [y][k] */
    float r[DEPTH * COLUMNS]; /* tiles of NR columns: [k][NR] */
} blocks;
_Static_assert(sizeof(blocks) == SMP_MATMUL_CPU_SCRATCH, "the scratch memory that the stage asks for");

SMP_INLINE void pack_row_as(float *restrict to, const void *from, int format, int64_t at, int64_t step, int64_t n)
{
    if (step == 1)
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_load(from, at + i, format);
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_load(from, at + i * step, format);
}

/* n samples of a row, `step` samples apart. */
SMP_INLINE void pack_row(float *restrict to, const void *from, int format, int64_t at, int64_t step, int64_t n)
{
    if (format == SMP_U8)
        pack_row_as(to, from, SMP_U8, at, step, n);
    else if (format == SMP_U16)
        pack_row_as(to, from, SMP_U16, at, step, n);
    else
        pack_row_as(to, from, SMP_F32, at, step, n);
}

/* Rows y .. y+rows-1 and columns k .. k+depth-1 of L; rows that fill up the last tile are zeros. */
static void pack_l(float *restrict to, const smp_view *l, int plane, int64_t y, int64_t rows, int64_t k, int64_t depth)
{
    const int64_t all = (rows + MR - 1) / MR * MR;
    for (int64_t i = 0; i < rows; i++)
        pack_row(to + i * PITCH, smp_row(l, y + i), l->format, k * l->channels + plane, l->channels, depth);
    for (int64_t i = rows; i < all; i++)
        memset(to + i * PITCH, 0, (size_t)depth * sizeof *to);
}

/* Rows k .. k+depth-1 and columns x .. x+columns-1 of R; columns that fill up the last tile are zeros. */
static void pack_r(float *restrict to, const smp_view *r, int plane, int64_t x, int64_t columns, int64_t k,
                   int64_t depth)
{
    for (int64_t j = 0; j < depth; j++) {
        const void *row = smp_row(r, k + j);
        for (int64_t tile = 0; tile < columns; tile += NR) {
            const int64_t n = columns - tile < NR ? columns - tile : NR;
            float *at = to + tile * depth + j * NR;
            if (n == NR && r->format == SMP_F32 && r->channels == 1) {
                memcpy(at, (const float *)row + x + tile, NR * sizeof *at);
                continue;
            }
            pack_row(at, row, r->format, (x + tile) * r->channels + plane, r->channels, n);
            for (int64_t i = n; i < NR; i++)
                at[i] = 0.f;
        }
    }
}

/* MR x NR sums, COLUMNS apart from row to row, go on by `depth` steps of k. */
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

/* The sums of one block of the output: rows y .. y+rows-1, columns x .. x+columns-1 of one plane. */
static void multiply_block(blocks *b, const smp_view *l, int lc, const smp_view *r, int rc, int64_t y, int64_t rows,
                           int64_t x, int64_t columns)
{
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        b->sums[i] = 0.f;
    for (int64_t k = 0; k < l->width; k += DEPTH) {
        const int64_t depth = l->width - k < DEPTH ? l->width - k : DEPTH;
        pack_r(b->r, r, rc, x, columns, k, depth);
        pack_l(b->l, l, lc, y, rows, k, depth);
        for (int64_t tx = 0; tx < columns; tx += NR)
            for (int64_t ty = 0; ty < rows; ty += MR)
                multiply_tile(b->sums + ty * COLUMNS + tx, b->l + ty * PITCH, b->r + tx * depth, depth);
    }
}

SMP_INLINE void put_row_as(void *restrict to, int format, int64_t at, int64_t step, const float *restrict from,
                           int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        smp_store(to, at + i * step, format, from[i]);
}

/* n values into every step-th sample of a row. */
static void put_row(const smp_view *out, int64_t y, int64_t at, const float *values, int64_t n, uint64_t *clipped)
{
    void *row = smp_row(out, y);
    if (out->format == SMP_U8)
        put_row_as(row, SMP_U8, at, out->channels, values, n);
    else if (out->format == SMP_U16)
        put_row_as(row, SMP_U16, at, out->channels, values, n);
    else
        put_row_as(row, SMP_F32, at, out->channels, values, n);
    if (clipped && out->format != SMP_F32) {
        int some = 0;
        for (int64_t i = 0; i < n; i++)
            some += smp_clips(values[i], out->format == SMP_U8 ? 255.f : 65535.f);
        *clipped += (uint64_t)some;
    }
}

SMP_CPU_KERNEL(matmul_tiled)
{
    const smp_matmul_params *p = params;
    const smp_view *l = smp_matmul_l(io, p), *r = smp_matmul_r(io, p), *out = &io->out;
    blocks *b = scratch;
    for (int c = 0; c < out->channels; c++)
        for (int64_t x = 0; x < out->width; x += COLUMNS)
            for (int64_t y = y0; y < y1; y += ROWS) {
                const int64_t columns = out->width - x < COLUMNS ? out->width - x : COLUMNS;
                const int64_t rows = y1 - y < ROWS ? y1 - y : ROWS;
                multiply_block(b, l, smp_matmul_plane(l, c), r, smp_matmul_plane(r, c), y, rows, x, columns);
                for (int64_t i = 0; i < rows; i++) {
                    float *sums = b->sums + i * COLUMNS;
                    for (int64_t j = 0; j < columns; j++)
                        sums[j] = smp_matmul_value(sums[j], p->divisor);
                    put_row(out, y + i, x * out->channels + c, sums, columns, io->clipped);
                }
            }
}
