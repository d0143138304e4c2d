/* integral: summed area tables, and running sums along rows or columns. All sums are double: of 8 and 16 bits they are
 * whole numbers below 2^53, and so exact in any order; of floats the order is the definition's.
 *   rows     R(x): pixels in blocks of 1024, in order inside; the sums of the blocks before, in order, added to that
 *   columns  C(y): rows in blocks of SMP_INTEGRAL_ROWS, each from the sum of the blocks before on, in order; of R where
 *            both are asked for, else of the samples
 * The result is the sum divided by full scale in double, rounded to f32 once. Fractions of 8 and 16 bits that come from
 * a stage before count as the code value that a file would hold.
 *
 * Two passes. Counting: double [blocks][width * channels], the sums of a block's rows. Applying: io->table has the sums
 * of the blocks before, the same shape. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum {
    SMP_INTEGRAL_ROWS = 16,     /* of a block; strips begin at multiples */
    SMP_INTEGRAL_PIXELS = 1024, /* of a block along a row */
    SMP_INTEGRAL_ACROSS = 32,   /* GPU: columns of a tile */
    SMP_INTEGRAL_LOOK = 1024,   /* the same for look-back */
    SMP_INTEGRAL_THREADS = 256  /* of such a tile */
};

typedef enum smp_along { SMP_ALONG_BOTH, SMP_ALONG_ROWS, SMP_ALONG_COLUMNS } smp_along;

typedef struct smp_integral {
    int32_t along; /* smp_along */
    double white;
} smp_integral;

SMP_HOST_DEVICE double smp_integral_one_nan(double v)
{
    return v == v ? v : (double)smp_one_nan((float)NAN);
}

/* Look-back: tiles of a row. */
SMP_HOST_DEVICE int64_t smp_integral_tiles(int64_t width)
{
    return (width + SMP_INTEGRAL_LOOK - 1) / SMP_INTEGRAL_LOOK;
}

/* A sample as it counts. */
SMP_HOST_DEVICE double smp_integral_value(const void *row, int64_t i, int format, float white)
{
    const float v = smp_load(row, i, format);
    return white == 1.f || format != SMP_F32 ? (double)v : (double)smp_round_to(v, white);
}

SMP_HOST_DEVICE float smp_integral_result(double sum, double white)
{
    return smp_one_nan((float)(sum / white));
}

/* A running sum along a row. Without `along`, each sample by itself. */
typedef struct smp_integral_run {
    double before, here;
    int32_t pixels;
} smp_integral_run;
SMP_HOST_DEVICE double smp_integral_next(smp_integral_run *run, double v, int along)
{
    if (!along)
        return v;
    if (run->pixels == SMP_INTEGRAL_PIXELS) {
        run->before = run->before + run->here;
        run->here = 0.;
        run->pixels = 0;
    }
    run->here = run->here + v;
    run->pixels++;
    return run->before + run->here;
}

/* The definition walks: along a block of rows in one channel, with a running sum for each row, or down a block in one
 * column where columns alone are summed. How many walks a block of rows has: */
SMP_HOST_DEVICE int64_t smp_integral_walks(const smp_integral *p, const smp_io *io)
{
    return (p->along == SMP_ALONG_COLUMNS ? io->in.width : 1) * io->in.channels;
}

/* Walk number `first` of rows top .. bottom-1, which are of one block. applies: the picture; else the sums of the
 * block's rows. */
SMP_HOST_DEVICE void smp_integral_walk(const smp_integral *p, const smp_io *io, int64_t top, int64_t bottom,
                                       int64_t first, int applies)
{
    const int64_t n = io->in.width * io->in.channels, at = top / SMP_INTEGRAL_ROWS * n;
    smp_integral_run run[SMP_INTEGRAL_ROWS];
    for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
        run[r].before = run[r].here = 0.;
        run[r].pixels = 0;
    }
    for (int64_t i = first; i < n; i += smp_integral_walks(p, io)) {
        double sum = applies && p->along != SMP_ALONG_ROWS ? ((const double *)io->table)[at + i] : 0.;
        for (int64_t y = top; y < bottom; y++) {
            const double v = smp_integral_value(smp_row(&io->in, y), i, io->in.format, io->in.white);
            const double here = smp_integral_next(&run[y - top], v, p->along != SMP_ALONG_COLUMNS);
            sum = p->along == SMP_ALONG_ROWS ? here : sum + here;
            if (applies)
                ((float *)smp_row(&io->out, y))[i] = smp_integral_result(sum, p->white);
        }
        if (!applies)
            ((double *)io->result)[at + i] = smp_integral_one_nan(sum);
    }
}

/* CPU scratch: sums of the columns of a block. */
static inline size_t smp_integral_scratch(const smp_io *io, const void *params)
{
    (void)params;
    return ((size_t)io->in.width * (size_t)io->in.channels + 64) * 2 * sizeof(double);
}

SMP_CPU_DECLARE(integral_blocks_naive);
SMP_CPU_DECLARE(integral_blocks_tiled);
SMP_CPU_DECLARE(integral_naive);
SMP_CPU_DECLARE(integral_tiled);
