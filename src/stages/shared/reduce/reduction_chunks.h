/* Shared by stages that reduce a picture or a sound to the chunks of kernels/reduce/stats.h. */
#pragma once

#include "reduce/stats.h"
#include "stages/stage.h"

/* Launch geometries of the kernels: a thread a chunk, a warp a chunk and channel, a warp a chunk. */
void smp_geometry_chunk_naive(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_chunk_tree(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_chunk_shuffle(const smp_io *io, const void *params, smp_grid *grid);

/* Chunks alone, for stages that adjust by them (smp_reduction_ops.reducers): naive, interleaved, tiled, shuffle. */
extern const smp_variant smp_chunk_variants[];

/* Bytes of the chunks of a shape. */
size_t smp_chunk_bytes(const smp_shape *shape);

/* Folds the chunks of one channel as a binary tree over their numbers. */
smp_stats_chunk smp_chunks_fold(const smp_stats_chunk *chunks, const smp_shape *shape, int channel);
