/* curves on GPUs: bytes are looked up, since a curve takes longer than moving them. */
#include "elementwise/curves.h"
#include "lib/elementwise.cuh"
SMP_ELEMENTWISE_GPU(curves, tables, true)
