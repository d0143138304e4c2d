/* Pictures of bit planes. A reduction makes a plane (SMP_RESULT_CHUNKS: the words of a row are written by one thread,
 * or as whole words), the host follows its shapes, and bits_fill makes a picture of what is left: full scale and 0. */
#pragma once

#include "lib/bits.h"
#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

/* Pixels that hang together, as GPUs (label.h) and the host measure them. */
typedef struct smp_component {
    uint64_t area, sum_x, sum_y;      /* pixels; sums of their coordinates: exact */
    int32_t left, top, right, bottom; /* right, bottom: the last column and row */
} smp_component;

/* Sample i of row y of what bits_fill makes of the plane io->table; alpha passes. */
SMP_HOST_DEVICE float smp_bits_sample(const smp_io *io, int64_t y, int64_t i)
{
    const int channels = io->in.channels;
    const int64_t x = channels == 1 ? i : i / channels;
    if (channels > 1 && io->in.alpha && i - x * channels == channels - 1)
        return smp_load(smp_row(&io->in, y), i, io->in.format);
    return smp_bits_at(io->table, io->in.width, x, y) ? io->out.white : 0.f;
}

SMP_CPU_DECLARE(bits_fill_naive);
SMP_CPU_DECLARE(bits_fill_tiled);
