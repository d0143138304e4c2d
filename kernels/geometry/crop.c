/* crop on the CPU (gather.h).
 *   naive  sample by sample.
 *   tiled  a row is one copy. */
#include "geometry/crop.h"

SMP_GATHER_CPU(crop, smp_crop_source)
