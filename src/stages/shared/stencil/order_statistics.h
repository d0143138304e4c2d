/* Shared by stages that take an order statistic of a neighbourhood (kernels/stencil/rank.h). */
#pragma once

#include "stages/shared/stencil/morphology.h"
#include "stencil/rank.h"

/* The parameter struct, or its first member. */
typedef struct smp_rank_params {
    int64_t size;
    double fill;
    int shape, edge;
} smp_rank_params;

/* Rows of a parameter table whose struct begins with smp_rank_params. flags: SMP_P_MAIN where size is. */
#define SMP_RANK_TABLE(main)                                                                                           \
    SMP_PARAM_OF(smp_rank_params, "size", size, INT, PX, 1, SMP_RANK_MOST, NULL,                                       \
                 "side of the shape; 1 changes nothing", NULL, SMP_P_REQUIRED | SMP_P_ODD | (main)),                   \
        SMP_SHAPE_ROW(smp_rank_params), SMP_WINDOW_EDGE(smp_rank_params), SMP_WINDOW_FILL(smp_rank_params)

/* Fills in the plan: sample min(n - 1, floor(n percentile / 100)) of the n under the shape, from 0, by size. */
void smp_rank_plan(const smp_rank_params *params, double percentile, smp_node_plan *work);

extern const smp_variant smp_rank_variants[];
