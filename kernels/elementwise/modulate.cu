/* modulate on GPUs: five divisions a pixel; memory bandwidth is the bound. */
#include "elementwise/modulate.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU(modulate, smp_modulate, true, false, io.in.channels)
