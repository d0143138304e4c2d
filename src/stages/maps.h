/* Programs of operations on single samples (smp_map.h), for the planner. */
#ifndef SMP_STAGES_MAPS_H
#define SMP_STAGES_MAPS_H

#include "smp_map.h"

/* The same results, for every sample there is, with fewer operations where that is possible: what rises up to a step is
 * one step, at the least value that comes out white. */
void smp_map_shorten(smp_map *map);

#endif
