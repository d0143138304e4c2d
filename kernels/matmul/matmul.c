/* matmul on the CPU.
 *   naive  sample by sample: the definition. Every sample of R's column is on another cache line.
 *   tiled  copies ("packs") both operands in blocks that stay in the second-level cache, as f32 code values in the
 *          order of their use. The innermost loop keeps MR x NR sums in vector registers; for each k it reads two
 *          vectors of R and MR samples of L, for 2 MR vector fmaf. Between blocks of k sums are in memory, which
 *          changes no bit. fmaf is the limit: 1024 x 1024 runs at 78 % of a core's peak with vectors of 64 bytes, at 80
 *          % with 32 (a Xeon of 3.6 GHz). */
#include "matmul/matmul.h"
#include "lib/elementwise.h"
#include "matmul/matmul_cpu.h"

SMP_CPU_KERNEL(matmul_naive)
{
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

typedef struct plane { /* an operand */
    const smp_view *view;
    int channel;
} plane;

SMP_INLINE void pack_row_as(float *restrict to, const void *from, int format, int64_t at, int64_t step, int64_t n)
{
    if (step == 1)
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_load(from, at + i, format);
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_load(from, at + i * step, format);
}

/* Loads n samples of a row, `step` samples apart. */
SMP_INLINE void pack_row(float *restrict to, const void *from, int format, int64_t at, int64_t step, int64_t n)
{
    if (format == SMP_U8)
        pack_row_as(to, from, SMP_U8, at, step, n);
    else if (format == SMP_U16)
        pack_row_as(to, from, SMP_U16, at, step, n);
    else
        pack_row_as(to, from, SMP_F32, at, step, n);
}

static void pack_l(const void *operand, float *restrict to, int64_t y, int64_t rows, int64_t k, int64_t depth)
{
    const smp_view *l = ((const plane *)operand)->view;
    const int64_t at = k * l->channels + ((const plane *)operand)->channel;
    const int64_t all = (rows + MR - 1) / MR * MR;
    for (int64_t i = 0; i < rows; i++)
        pack_row(to + i * PITCH, smp_row(l, y + i), l->format, at, l->channels, depth);
    for (int64_t i = rows; i < all; i++)
        memset(to + i * PITCH, 0, (size_t)depth * sizeof *to);
}

static void pack_r(const void *operand, float *restrict to, int64_t x, int64_t columns, int64_t k, int64_t depth)
{
    const smp_view *r = ((const plane *)operand)->view;
    const int channel = ((const plane *)operand)->channel;
    for (int64_t j = 0; j < depth; j++) {
        const void *row = smp_row(r, k + j);
        for (int64_t tile = 0; tile < columns; tile += NR) {
            const int64_t n = columns - tile < NR ? columns - tile : NR;
            float *at = to + tile * depth + j * NR;
            if (n == NR && r->format == SMP_F32 && r->channels == 1) {
                memcpy(at, (const float *)row + x + tile, NR * sizeof *at);
                continue;
            }
            pack_row(at, row, r->format, (x + tile) * r->channels + channel, r->channels, n);
            for (int64_t i = n; i < NR; i++)
                at[i] = 0.f;
        }
    }
}

SMP_INLINE void put_row_as(void *restrict to, int format, int64_t at, int64_t step, const float *restrict from,
                           int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        smp_store(to, at + i * step, format, from[i]);
}

/* Stores n values into every step-th sample of a row. */
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
    matmul_blocks *b = scratch;
    for (int c = 0; c < out->channels; c++) {
        const plane left = {l, smp_matmul_plane(l, c)}, right = {r, smp_matmul_plane(r, c)};
        for (int64_t x = 0; x < out->width; x += COLUMNS)
            for (int64_t y = y0; y < y1; y += ROWS) {
                const int64_t columns = out->width - x < COLUMNS ? out->width - x : COLUMNS;
                const int64_t rows = y1 - y < ROWS ? y1 - y : ROWS;
                matmul_sums(b, pack_l, &left, pack_r, &right, l->width, y, rows, x, columns);
                for (int64_t i = 0; i < rows; i++) {
                    float *sums = b->sums + i * COLUMNS;
                    for (int64_t j = 0; j < columns; j++)
                        sums[j] = smp_matmul_value(sums[j], p->divisor);
                    put_row(out, y + i, x * out->channels + c, sums, columns, io->clipped);
                }
            }
    }
}
