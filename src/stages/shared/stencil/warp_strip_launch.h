/* Grids of one-warp blocks that walk down strips (the rungs warp and mma; kernels/stencil/warp_strip_grid.h): how tall
 * their bands are. */
#pragma once

#include "lib/tuning.h"
#include "stages/stage.h"
#include "stencil/warp_strip_grid.h"

/* Bands that a kernel's launches need; rows are output rows. */
typedef struct smp_bands {
    int64_t most; /* rows of a band, on average */
    int warps;    /* that an SM had better have in all: where bands are tall, they are lower for it too. 0: no matter */
    int halo;     /* rows that a band reads beside its own */
    bool uneven;  /* those that come first are taller: fewer rows are read twice, and the launch ends together */
} smp_bands;

/* Shares out an output of strips of `across` samples. */
void smp_strip_grid(const smp_io *io, int64_t across, const smp_bands *bands, smp_grid *grid);
