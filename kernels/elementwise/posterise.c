/* posterise on the CPU. */
#include "elementwise/posterise.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(posterise, 1, 0, 0)
