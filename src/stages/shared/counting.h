/* What stages share that count how often values occur: the launches of kernels/histogram*.cu and their geometry. The
 * kernel parameters of such a stage begin with smp_histogram_params. */
#ifndef SMP_STAGES_SHARED_COUNTING_H
#define SMP_STAGES_SHARED_COUNTING_H

#include "reduce/histogram.h"
#include "stages/stage.h"

/* For kernels that count pixel by pixel in global memory; in one histogram a block; in several copies of it. */
void smp_geometry_count_each(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_count_tiled(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_count_private(const smp_io *io, const void *params, smp_grid *grid);

/* The kernel that counts in several copies: which, depends on the channels. */
const char *smp_count_private(const smp_io *io, const void *params);

/* What to launch where the last one asks for more shared memory than a block may have: parts of the histogram. */
extern const smp_launch smp_count_parts;

/* The variants of a stage that counts and does nothing else; reducers of those that adjust a picture by its counts. */
extern const smp_variant smp_count_variants[];

#endif
