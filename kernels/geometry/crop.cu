/* crop on GPUs (gather.cuh).
 *   naive  a sample a thread.
 *   tiled  16 bytes a thread and store: memory bandwidth is the bound. */
#include "geometry/crop.h"

#include "geometry/gather.cuh"
#include "lib/many.h"

SMP_GATHER_GPU(crop, smp_crop, smp_crop_source)
SMP_KERNEL_MANY(crop_tiled, u8, uint8_t, u8, uint8_t, smp_crop)
