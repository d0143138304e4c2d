/* modulate on the CPU: bound by arithmetic, since each channel works out the hue. */
#include "elementwise/modulate.h"
SMP_PIXEL_CPU(modulate, io->in.channels)
