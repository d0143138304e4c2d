/* GPU launches that the gaussian-shaped blurs share (gaussian, sharpen). */
#pragma once

#include "lib/tuning.h"
#include "stages/stage.h"

/* smp_launch.tiles of the row and of the column pass of `tiled`. */
#define SMP_GAUSSIAN_ROW_TILES                                                                                         \
    {                                                                                                                  \
        SMP_GAUSSIAN_ACROSS, SMP_GAUSSIAN_LINES, SMP_GAUSSIAN_LANES, SMP_GAUSSIAN_ROWS                                 \
    }
#define SMP_GAUSSIAN_COLUMN_TILES                                                                                      \
    {                                                                                                                  \
        SMP_GAUSSIAN_COLUMNS, SMP_GAUSSIAN_DOWN, SMP_GAUSSIAN_COLUMNS / 4, SMP_GAUSSIAN_DOWN / SMP_GAUSSIAN_EACH       \
    }

/* The grid of a kernel of kernels/gaussian/gaussian_warp.cuh of this radius. */
void smp_gaussian_warp_grid(const smp_io *io, int radius, smp_grid *grid);
