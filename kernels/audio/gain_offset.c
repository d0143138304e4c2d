/* gain_offset on the CPU. */
#include "audio/gain_offset.h"
#include "lib/elementwise.h"
SMP_ELEMENTWISE_CPU(gain_offset, 1, !p->same, 0)
