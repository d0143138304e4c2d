/* slice: some rows of a picture, frames of a sound: trim. Parameters and kernels. */
#ifndef SMP_KERNELS_SLICE_H
#define SMP_KERNELS_SLICE_H

#include "smp_cpu.h"

typedef struct smp_slice {
    int64_t start; /* the input's row that becomes the first */
} smp_slice;

/* The same work with the input's rows counted as the output's: a copy. */
SMP_FN smp_io smp_slice_io(const smp_io *io, const smp_slice *p)
{
    smp_io moved = *io;
    moved.in.y0 -= p->start;
    return moved;
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(slice_naive);
SMP_CPU_DECLARE(slice_tiled);
#ifdef __cplusplus
}
#endif

#endif
