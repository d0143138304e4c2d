/* key and replace on GPUs: a root and a division a pixel; memory bandwidth is the bound. */
#include "elementwise/near_color.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU(near_color, smp_near_color, false, false, p.colours)
