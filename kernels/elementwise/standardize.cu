/* standardize on GPUs: memory bandwidth is the bound. */
#include "elementwise/standardize.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU_F32(standardize, smp_standardize, true, false, io.in.channels)
