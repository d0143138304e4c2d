/* slice: some rows of a picture, frames of a sound: trim. Parameters and kernels. */
#ifndef SMP_KERNELS_SLICE_H
#define SMP_KERNELS_SLICE_H

#include "lib/cpu_kernel.h"

typedef struct smp_trim {
    int64_t start; /* the input's row that becomes the first */
} smp_trim;

/* The same work with the input's rows counted as the output's: a copy. */
SMP_HOST_DEVICE smp_io smp_trim_io(const smp_io *io, const smp_trim *p)
{
    smp_io moved = *io;
    moved.in.y0 -= p->start;
    return moved;
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(trim_naive);
SMP_CPU_DECLARE(trim_tiled);
#ifdef __cplusplus
}
#endif

#endif
