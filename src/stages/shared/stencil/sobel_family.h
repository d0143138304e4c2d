/* Shared by the stages of kernels/stencil/sobel.h (sobel, laplacian). Their kernel parameters are smp_sobel. */
#pragma once

#include "stages/stage.h"
#include "stencil/sobel.h"

/* smp_launch.decide of `tiled`: a kernel for each number of channels. */
const char *smp_sobel_tiled(const smp_io *io, const void *params, smp_grid *grid);

/* smp_variant.scratch of `tiled` and what is the same on a CPU. */
size_t smp_sobel_cpu_scratch(const smp_io *io, const void *params);
