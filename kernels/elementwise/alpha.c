/* premultiply and straight on the CPU. */
#include "elementwise/alpha.h"
#include "lib/per_pixel.h"
SMP_PIXEL_CPU(premultiply, io->in.channels)
SMP_PIXEL_CPU(straight, io->in.channels)
