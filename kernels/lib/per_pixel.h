/* How much of a picture a block of the tiled pixel kernels (per_pixel.cuh) takes at a time: for kernels and geometries.
 */
#ifndef SMP_KERNELS_PIXEL_H
#define SMP_KERNELS_PIXEL_H

#include "lib/tuning.h"
#include "lib/view.h"

/* Pixels of a tile: as many as fit on the wider side, a multiple of 16, so that each tile of a row starts on 16 bytes
 * when the row does. At least 256. */
SMP_HOST_DEVICE int64_t smp_pixel_tile(const smp_io *io)
{
    int64_t in = io->in.channels * smp_sample_size(io->in.format);
    int64_t out = io->out.channels * smp_sample_size(io->out.format);
    return SMP_PIXEL_TILE / (in > out ? in : out) / 16 * 16;
}

#endif
