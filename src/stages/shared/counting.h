/* What stages share that count how often values occur: the launches of kernels/reduce/histogram*.cu and their geometry.
 * The kernel parameters of such a stage begin with smp_histogram_params. */
#ifndef SMP_STAGES_SHARED_COUNTING_H
#define SMP_STAGES_SHARED_COUNTING_H

#include "reduce/histogram.h"
#include "stages/stage.h"

/* For kernels that count pixel by pixel in global memory; in one histogram a block. */
void smp_geometry_count_each(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_count_tiled(const smp_io *io, const void *params, smp_grid *grid);

/* smp_launch.decide of kernels that count in several copies of a block's histogram, or, where that does not fit shared
 * memory, in parts of it. */
const char *smp_count_private(const smp_io *io, const void *params, smp_grid *grid);

/* The variants of a stage that counts and does nothing else; reducers of those that adjust a picture by its counts. */
extern const smp_variant smp_count_variants[];

#endif
