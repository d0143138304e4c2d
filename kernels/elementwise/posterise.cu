/* posterise on GPUs. */
#include "elementwise/posterise.h"
#include "lib/elementwise.cuh"
SMP_ELEMENTWISE_GPU(posterise, tables, false)
