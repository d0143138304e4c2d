/* overlay on GPUs. */
#include "elementwise/overlay.h"
#include "lib/pixel_pair.cuh"
SMP_PAIR_GPU(overlay)
