/* levels on the CPU, the apply pass. */
#include "elementwise/levels.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(levels, 2, !p->same, p->kind)
