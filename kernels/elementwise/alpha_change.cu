/* alpha on GPUs. */
#include "elementwise/alpha_change.h"
#include "lib/pixel_pair.cuh"
SMP_PAIR_GPU(alpha_change)
