/* profile on GPUs: look-ups in three tables of up to 16 KB, which the caches hold, and a power a sample; or four
 * colours of a grid of 431 KB in the second-level cache. */
#include "elementwise/profile.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU(profile, smp_profile, true, false, io.in.channels)
