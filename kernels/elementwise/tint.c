/* tint on the CPU. */
#include "elementwise/tint.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(tint, 1, 1, 0)
