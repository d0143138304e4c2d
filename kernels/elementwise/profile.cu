/* profile on GPUs: look-ups in three tables of up to 16 KB, which the caches hold, and a power a sample. */
#include "elementwise/profile.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU(profile, smp_profile, true, false, io.in.channels)
