/* Chains of operations on single samples (lib/sample_op.h), for the planner. */
#ifndef SMP_STAGES_SHARED_SAMPLES_OP_CHAINS_H
#define SMP_STAGES_SHARED_SAMPLES_OP_CHAINS_H

#include "lib/sample_op.h"

/* Makes a chain shorter where it can, with the same result for every sample there is: rising operations up to a
 * threshold become one threshold, at the least value that comes out white. */
void smp_op_chain_shorten(smp_op_chain *chain);

#endif
