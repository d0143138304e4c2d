/* balance on the CPU. */
#include "elementwise/balance.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(balance, 1, 1, 0)
