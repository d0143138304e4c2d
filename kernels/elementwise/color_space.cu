/* color on GPUs: memory bandwidth is the bound but for Lab, which takes six powers a pixel. */
#include "elementwise/color_space.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU(color_space, smp_color_space, true, false, io.in.channels)
