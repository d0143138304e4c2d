/* crop on GPUs (gather.cuh).
 *   naive  a sample a thread.
 *   tiled  16 bytes a thread and store: memory bandwidth is the bound. */
#include "geometry/crop.h"

#include "geometry/gather.cuh"

SMP_GATHER_GPU(crop, smp_crop, smp_crop_source)
