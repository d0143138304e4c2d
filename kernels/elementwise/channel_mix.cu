/* channel_mix on GPUs. Memory bandwidth is the bound of tiled up to about 4 x 4 weights. Gray from three bytes has a
 * kernel of its own in gray_u8.cu: of the 142 instructions that this one executes for four pixels, most part and join
 * words. */
#include "elementwise/channel_mix.h"
#include "lib/per_pixel.cuh"
SMP_PIXEL_GPU(channel_mix, smp_channel_mix, false, true, p.cols)
