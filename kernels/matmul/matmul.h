/* matmul: the product of two matrices, plane by plane: a channel of a picture is a matrix of height x width.
 * Parameters, tile geometry, and the definition's last step.
 *
 * out = L x R. L has as many columns as R has rows: the inner size. The stage's input is L or R, `io->second` the
 * other. Each sample of the output is one chain of fmaf over the inner index k in ascending order, from 0:
 *
 *     sum = 0;  for k = 0, 1, ...: sum = fmaf(L[y][k], R[k][x], sum)
 *
 * A naive loop, vectors over x, tiles of k and a thread's registers all keep that order at no cost, so that every
 * variant on every device gives the same bits. Tiles may be filled with zeros: fmaf(0, 0, sum) is sum, except for the
 * sign of a zero, which the last step removes. Samples are code values. The final division by the second picture's full
 * scale makes it the product of a picture with a matrix whose 1 is white. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/tuning.h"

typedef struct smp_matmul_params {
    int32_t left;  /* 1: the second picture is L, the input R; 0: the input is L */
    float divisor; /* the second picture's full scale */
} smp_matmul_params;

SMP_HOST_DEVICE const smp_view *smp_matmul_l(const smp_io *io, const smp_matmul_params *p)
{
    return p->left ? &io->second : &io->in;
}
SMP_HOST_DEVICE const smp_view *smp_matmul_r(const smp_io *io, const smp_matmul_params *p)
{
    return p->left ? &io->in : &io->second;
}

/* The plane of a view for channel c of the output: a picture of one channel serves all. */
SMP_HOST_DEVICE int smp_matmul_plane(const smp_view *v, int c)
{
    return v->channels > 1 ? c : 0;
}

/* The value stored: no negative zero, one NaN. */
SMP_HOST_DEVICE float smp_matmul_value(float sum, float divisor)
{
    return smp_one_nan(sum / divisor + 0.f);
}

SMP_CPU_DECLARE(matmul_naive);
SMP_CPU_DECLARE(matmul_tiled);
