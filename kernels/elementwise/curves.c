/* curves on the CPU: some 80 operations a sample, whatever the points, so that the loop is vectorised. */
#include "elementwise/curves.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(curves, 1, p->differ, 1)
