/* invert on the CPU. */
#include "elementwise/invert.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(invert, 1, 0, 0)
