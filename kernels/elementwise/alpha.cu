/* premultiply and straight on GPUs. tiled moves a pixel of four channels in one access; a product and a quotient a
 * sample: memory bandwidth is the bound. */
#include "elementwise/alpha.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU(premultiply, smp_no_params, true, false, io.in.channels)
SMP_PIXEL_GPU(straight, smp_no_params, true, false, io.in.channels)
