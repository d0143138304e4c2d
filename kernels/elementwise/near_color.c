/* key and replace on the CPU. */
#include "elementwise/near_color.h"
SMP_PIXEL_CPU(near_color, ((const smp_near_color *)params)->colours)
