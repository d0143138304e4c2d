/* gaussian on GPUs for u16 and small radii: see gaussian_warp.cuh. */
#include "gaussian/gaussian_warp_radii.cuh"

#define GAUSSIAN_U16(R) GAUSSIAN_WARP(R, SMP_GAUSSIAN_WARPS_U16, uint16_t, u16, uint16_t, u16)
GAUSSIAN_U16(2)
GAUSSIAN_U16(4)
GAUSSIAN_U16(8)
GAUSSIAN_U16(12)
GAUSSIAN_U16(16)
