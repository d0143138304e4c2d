/* standardize on the CPU. */
#include "elementwise/standardize.h"
SMP_PIXEL_CPU(standardize, io->in.channels)
