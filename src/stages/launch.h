/* From a variant to what a GPU launches: which rung of the ladder serves the work, and kernel and grid of a launch. */
#ifndef SMP_STAGES_LAUNCH_H
#define SMP_STAGES_LAUNCH_H

#include "stages/stage.h"

/* The variant that a GPU runs where `variant` is asked for: itself, or the nearest before it in its stage's list that
 * serves the work. io: the stage's views, without its scratch picture. known: units, shared_most and blocks_most of the
 * device; zeroed where there is none, which is taken to have enough shared memory. (So a variant that falls back for
 * want of shared memory falls to one with the same use of the scratch picture.) */
const smp_variant *smp_variant_serving(const smp_variant *variant, const smp_io *io, const void *params,
                                       const smp_grid *known);

/* The launch's GPU kernel, without formats, and its grid, in which units, shared_most and blocks_most are set as above.
 * Null: its variant does not serve the work. */
const char *smp_launch_decide(const smp_launch *launch, const smp_io *io, const void *params, smp_grid *grid);

/* Whether a block may have the shared memory that *wanted asks for, on a device as described above. */
bool smp_grid_fits(const smp_grid *wanted, const smp_grid *known);

#endif
