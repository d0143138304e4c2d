/* threshold on GPUs, the apply pass. With the table neither the level of each channel nor conversions cost anything. */
#include "elementwise/threshold.h"
#include "lib/elementwise.cuh"
SMP_ELEMENTWISE_GPU(threshold, tables, true)
