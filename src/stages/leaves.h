/* What the stages share that reduce a picture or a sound to the leaves of kernels/stats.h. */
#ifndef SMP_STAGES_LEAVES_H
#define SMP_STAGES_LEAVES_H

#include "stages/stage.h"
#include "stats.h"

/* Launch geometries of the kernels: a thread a leaf, a warp a leaf and channel, a warp a leaf. */
void smp_geometry_leaf_naive(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_leaf_tree(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_leaf_shuffle(const smp_io *io, const void *params, smp_grid *grid);

/* Leaves alone, for stages that adjust by them (smp_stage.reducers): naive, interleaved, tiled, shuffle. */
extern const smp_variant smp_leaf_variants[];

/* Bytes of the leaves of a shape. */
size_t smp_leaf_bytes(const smp_shape *shape);

/* Folds the leaves of one channel as a binary tree over their numbers. */
smp_stats_leaf smp_leaves_fold(const smp_stats_leaf *leaves, const smp_shape *shape, int channel);

#endif
