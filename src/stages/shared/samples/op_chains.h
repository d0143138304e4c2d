/* Chains of operations on single samples (lib/sample_op.h), for the planner. */
#pragma once

#include "lib/sample_op.h"

/* Makes a chain shorter where it can, with the same result for every sample there is: rising operations up to a
 * threshold become one threshold, at the least value that comes out white. */
void smp_op_chain_shorten(smp_op_chain *chain);
