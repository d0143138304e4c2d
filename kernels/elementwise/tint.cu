/* tint on GPUs. */
#include "elementwise/tint.h"
#include "lib/elementwise.cuh"
SMP_ELEMENTWISE_GPU(tint, packs, true)
