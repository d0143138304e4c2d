/* What the stages share that take an order statistic of a neighbourhood (kernels/stencil/rank.h). */
#ifndef SMP_STAGES_SHARED_ORDER_STATISTICS_H
#define SMP_STAGES_SHARED_ORDER_STATISTICS_H

#include "stages/shared/morphology.h"
#include "stencil/rank.h"

/* The parameter struct, or its first member. */
typedef struct smp_rank_params {
    int64_t size;
    double fill;
    int shape, edge;
} smp_rank_params;

/* Rows of a parameter table whose struct begins with smp_rank_params. flags: SMP_P_MAIN where size is. */
#define SMP_RANK_TABLE(main)                                                                                           \
    {"size",    offsetof(smp_rank_params, size),                                                                       \
     SMP_T_INT, SMP_UNIT_PX,                                                                                           \
     1,         SMP_RANK_MOST,                                                                                         \
     NULL,      "side of the shape; 1 changes nothing",                                                                \
     NULL,      SMP_P_REQUIRED | SMP_P_ODD | (main)},                                                                  \
        {"shape",                                                                                                      \
         offsetof(smp_rank_params, shape),                                                                             \
         SMP_T_ENUM,                                                                                                   \
         SMP_UNIT_NONE,                                                                                                \
         0,                                                                                                            \
         0,                                                                                                            \
         "square",                                                                                                     \
         "which neighbours count",                                                                                     \
         smp_shape_names,                                                                                              \
         0},                                                                                                           \
        {"edge",                                                                                                       \
         offsetof(smp_rank_params, edge),                                                                              \
         SMP_T_ENUM,                                                                                                   \
         SMP_UNIT_NONE,                                                                                                \
         0,                                                                                                            \
         0,                                                                                                            \
         "clamp",                                                                                                      \
         "what lies outside the picture",                                                                              \
         smp_edge_names,                                                                                               \
         0},                                                                                                           \
    {                                                                                                                  \
        "fill", offsetof(smp_rank_params, fill), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, "0",                            \
            "the value outside with edge=constant", NULL, 0                                                            \
    }

/* Fills in the plan: sample min(n - 1, floor(n percentile / 100)) of the n under the shape, from 0, by size. */
void smp_rank_plan(const smp_rank_params *params, double percentile, smp_node_plan *work);

extern const smp_variant smp_rank_variants[];

#endif
