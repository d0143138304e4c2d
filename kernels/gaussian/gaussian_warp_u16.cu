/* gaussian on GPUs for 16 bits and small radii: see gaussian_warp.cuh. */
#include "gaussian/gaussian_warp_radii.cuh"

#define SHORTS(R) GAUSSIAN_WARP(R, SMP_GAUSSIAN_WARPS_U16, uint16_t, u16, uint16_t, u16)
SHORTS(2)
SHORTS(4)
SHORTS(8)
SHORTS(12)
SHORTS(16)
