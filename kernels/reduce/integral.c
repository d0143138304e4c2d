/* integral on the CPU.
 *   naive  every sum from its beginning: the definition.
 *   tiled  one walk: the row's running sum, added to a line of column sums in vectors. */
#include "reduce/integral.h"

#include <string.h>

static double *block_of(const smp_io *io, int64_t y)
{
    return (double *)io->result + y / SMP_INTEGRAL_ROWS * io->in.width * io->in.channels;
}

SMP_CPU_KERNEL(integral_blocks_naive)
{
    (void)scratch;
    const int channels = io->in.channels;
    for (int64_t top = y0; top < y1; top += SMP_INTEGRAL_ROWS)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                double sum = 0.;
                for (int64_t y = top; y < y1 && y < top + SMP_INTEGRAL_ROWS; y++)
                    sum = sum + smp_integral_at(params, io, x, y, c);
                block_of(io, top)[x * channels + c] = smp_integral_one_nan(sum);
            }
}

SMP_CPU_KERNEL(integral_naive)
{
    (void)scratch;
    const smp_integral *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                const int64_t i = x * channels + c, block = y / SMP_INTEGRAL_ROWS;
                double sum = 0.;
                if (p->along == SMP_ALONG_ROWS)
                    sum = smp_integral_at(p, io, x, y, c);
                else {
                    sum = ((const double *)io->table)[block * io->in.width * channels + i];
                    for (int64_t k = block * SMP_INTEGRAL_ROWS; k <= y; k++)
                        sum = sum + smp_integral_at(p, io, x, k, c);
                }
                ((float *)smp_row(&io->out, y))[i] = smp_integral_result(sum, p->white);
            }
}

/* ------------------------------------------------------------------------------------------------ tiled */

/* The row's running sums, or its samples. */
static void sums_along(double *restrict to, const smp_io *io, int64_t y, int along)
{
    const int channels = io->in.channels, format = io->in.format;
    const int64_t n = io->in.width * channels;
    const void *row = smp_row(&io->in, y);
    if (!along) {
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_integral_value(row, i, format, io->in.white);
        return;
    }
    for (int c = 0; c < channels; c++) {
        smp_integral_run run = {0., 0., 0};
        for (int64_t i = c; i < n; i += channels)
            to[i] = smp_integral_next(&run, smp_integral_value(row, i, format, io->in.white), 1);
    }
}

/* One channel of bytes: whole numbers, exact in any way. */
static void sums_of_bytes(double *restrict to, const uint8_t *restrict row, int64_t n)
{
    uint32_t sum = 0; /* up to 2^24 pixels */
    for (int64_t i = 0; i < n; i++) {
        sum += row[i];
        to[i] = (double)(int32_t)sum;
    }
}

SMP_INLINE void add_row(double *restrict sums, const double *restrict row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sums[i] = sums[i] + row[i];
}

enum { BYTES_MOST = 1 << 23 /* pixels of a row whose sum of bytes fits 31 bits */ };

static int bytes_alone(const smp_io *io)
{
    return io->in.format == SMP_U8 && io->in.channels == 1 && io->in.width < BYTES_MOST;
}

/* Sums of bytes down a block's columns. */
static void block_of_bytes(uint16_t *restrict sums, const smp_io *io, int64_t y, int64_t end)
{
    const int64_t n = io->in.width;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (; y < end; y++) {
        const uint8_t *restrict row = smp_row(&io->in, y);
        for (int64_t i = 0; i < n; i++)
            sums[i] = (uint16_t)(sums[i] + row[i]);
    }
}

SMP_CPU_KERNEL(integral_blocks_tiled)
{
    const smp_integral *p = params;
    const int64_t n = io->in.width * io->in.channels;
    double *row = scratch;
    for (int64_t top = y0; top < y1; top += SMP_INTEGRAL_ROWS) {
        const int64_t end = top + SMP_INTEGRAL_ROWS < y1 ? top + SMP_INTEGRAL_ROWS : y1;
        double *restrict to = block_of(io, top);
        if (bytes_alone(io)) {
            uint16_t *sums = scratch;
            double sum = 0.;
            block_of_bytes(sums, io, top, end);
            for (int64_t i = 0; i < n; i++) {
                sum = p->along == SMP_ALONG_BOTH ? sum + (double)sums[i] : (double)sums[i];
                to[i] = sum;
            }
            continue;
        }
        memset(to, 0, (size_t)n * sizeof *to);
        for (int64_t y = top; y < end; y++) {
            sums_along(row, io, y, p->along == SMP_ALONG_BOTH);
            add_row(to, row, n);
        }
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_integral_one_nan(to[i]);
    }
}

SMP_INLINE void store(float *restrict to, const double *restrict sums, int64_t n, const double white)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_integral_result(sums[i], white);
}

SMP_INLINE void add_and_store(float *restrict to, double *restrict sums, const double *restrict row, int64_t n,
                              const double white)
{
    for (int64_t i = 0; i < n; i++) {
        sums[i] = sums[i] + row[i];
        to[i] = smp_integral_result(sums[i], white);
    }
}

SMP_CPU_KERNEL(integral_tiled)
{
    const smp_integral *p = params;
    const int64_t n = io->in.width * io->in.channels;
    double *sums = scratch, *row = sums + n;
    for (int64_t y = y0; y < y1; y++) {
        float *to = smp_row(&io->out, y);
        if (bytes_alone(io) && p->along != SMP_ALONG_COLUMNS)
            sums_of_bytes(row, smp_row(&io->in, y), n);
        else
            sums_along(row, io, y, p->along != SMP_ALONG_COLUMNS);
        if (p->along == SMP_ALONG_ROWS) {
            store(to, row, n, p->white);
            continue;
        }
        if (y % SMP_INTEGRAL_ROWS == 0)
            memcpy(sums, (const double *)io->table + y / SMP_INTEGRAL_ROWS * n, (size_t)n * sizeof *sums);
        add_and_store(to, sums, row, n, p->white);
    }
}
