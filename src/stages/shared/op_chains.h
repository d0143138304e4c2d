/* Programs of operations on single samples (sample_op.h), for the planner. */
#ifndef SMP_STAGES_SHARED_OP_CHAINS_H
#define SMP_STAGES_SHARED_OP_CHAINS_H

#include "lib/sample_op.h"

/* The same results, for every sample there is, with fewer operations where that is possible: what rises up to a step is
 * one step, at the least value that comes out white. */
void smp_op_chain_shorten(smp_op_chain *map);

#endif
