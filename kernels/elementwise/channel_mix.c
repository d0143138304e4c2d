/* channel_mix on the CPU. */
#include "elementwise/channel_mix.h"
#include "lib/per_pixel.h"
SMP_PIXEL_CPU(channel_mix, ((const smp_channel_mix *)params)->cols)
