/* alpha on the CPU. */
#include "elementwise/alpha_change.h"
SMP_PAIR_CPU(alpha_change, 5)
