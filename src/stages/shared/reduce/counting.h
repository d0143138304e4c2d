/* Shared by stages that count how often values occur: the launches of kernels/reduce/histogram*.cu and their geometry.
 * The kernel parameters of such a stage begin with smp_histogram_params. */
#pragma once

#include "stages/shared/reduce/reduction_chunks.h"

/* For kernels that count pixel by pixel in global memory; in one histogram a block. */
void smp_geometry_count_each(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_count_tiled(const smp_io *io, const void *params, smp_grid *grid);

/* smp_launch.decide of kernels that count in several copies of a block's histogram, or, where that does not fit shared
 * memory, in parts of it. */
const char *smp_count_private(const smp_io *io, const void *params, smp_grid *grid);

/* The variants of a stage that counts and does nothing else; reducers of those that adjust a picture by its counts.
 * Their first launches make chunks, where the stage asks for both. */
extern const smp_variant smp_count_variants[];

/* The same with the second picture's counts, from work->reduction.second_at on. */
extern const smp_variant smp_count_both_variants[];

/* The least and the most sample of channels first .. last-1, where counts are right only for those in the bins. */
typedef struct smp_extent {
    double least, most;
    bool infinite;     /* some are */
    bool below, above; /* some lie outside the bins, by more than a bin */
} smp_extent;

/* For plan(): asks for the counts of work's parameters and, of float samples, for chunks, which tell what lies outside
 * the bins. */
void smp_count_ask(const smp_shape *in, smp_node_plan *work);

/* Before it: has one plane counted, of the luma of Rec. 601, or of the mean where there are not three colours. */
void smp_count_luma(const smp_shape *in, smp_histogram_params *k);

/* After it: asks for those of a second picture too, of SMP_P_ANYSIZE. */
void smp_count_ask_second(const smp_shape *by, smp_node_plan *work);

/* For finish(): the counts among a result that was asked for so. */
const uint64_t *smp_count_result(const smp_node_plan *work, const void *result);

/* And the extent of channels first .. last-1 of a float picture; of other formats nothing lies outside. */
smp_extent smp_count_extent(const smp_shape *in, const smp_node_plan *work, const void *result, int first, int last);

/* Adds to `extent` what is known of one channel. nonfinite, nan: how many samples are not finite, and of those NaN. */
void smp_extent_add(smp_extent *extent, const smp_histogram_params *k, const smp_stats_chunk *all, uint64_t nonfinite,
                    uint64_t nan);

/* Says in work->reduction.outside that the outcome is wrong for samples of this extent; null: that it is right. */
void smp_count_outside(const smp_extent *extent, const smp_histogram_params *k, smp_node_plan *work);
