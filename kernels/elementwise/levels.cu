/* levels on GPUs, the apply pass. The table makes a gamma of bytes free. */
#include "elementwise/levels.h"
#include "lib/elementwise.cuh"
SMP_ELEMENTWISE_GPU(levels, tables, true)
