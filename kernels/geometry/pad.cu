/* pad on GPUs: gather.cuh has the ladder. */
#include "geometry/gather.cuh"
#include "geometry/pad.h"

SMP_GATHER_FILL_GPU(pad, smp_pad, smp_pad_source, smp_pad_fill)
