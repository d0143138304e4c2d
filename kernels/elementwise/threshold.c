/* threshold on the CPU, the apply pass. */
#include "elementwise/threshold.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(threshold, 1, !p->same, 0)
