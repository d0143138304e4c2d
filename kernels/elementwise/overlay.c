/* overlay on the CPU. */
#include "elementwise/overlay.h"
SMP_PAIR_CPU(overlay, 2)
