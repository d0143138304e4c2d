/* trim: a range of a picture's rows, or of a sound's frames, or several one after the other. Parameters and kernels. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/row_spans.h"

typedef struct smp_trim {
    int64_t start;  /* the input row that becomes the first */
    int32_t spans;  /* of io->table, instead of start; 0: there is one */
    int32_t unused;
} smp_trim;

/* The same launch with input rows numbered as output rows: a copy. */
SMP_HOST_DEVICE smp_io smp_trim_io(const smp_io *io, int64_t shift)
{
    smp_io moved = *io;
    moved.in.y0 -= shift;
    return moved;
}

SMP_CPU_DECLARE(trim_naive);
SMP_CPU_DECLARE(trim_tiled);
