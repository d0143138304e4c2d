/* Shared by stages that sample at transformed coordinates: the transform of their parameters, the plan, the
 * variants. */
#pragma once

#include "geometry/warp.h"
#include "stages/stage.h"

/* The output's size: the input's; as large as the turned picture; the largest that is full. */
enum { SMP_WARP_KEEP, SMP_WARP_FIT, SMP_WARP_INSIDE };

typedef struct smp_warp_params {
    double angle, scale; /* degrees, clockwise; factor */
    smp_matrix matrix, fill;
    smp_matrix corners;     /* 4 x 2: input pixels that become the output's corners; no rows: not given */
    int size, filter, edge; /* SMP_WARP_KEEP ..; SMP_WARP_BILINEAR ..; an smp_edge */
} smp_warp_params;

bool smp_warp_is_identity(const smp_matrix *matrix);

/* For plan(): everything but what is refused whatever the input. */
smp_code smp_warp_plan(const smp_warp_params *params, const smp_shape *in, smp_node_plan *work, smp_error *err);

/* The same through a lens; filter, edge and fill as above. */
smp_code smp_warp_lens_plan(const smp_warp_lens *lens, int filter, int edge, const smp_matrix *fill,
                            const smp_shape *in, smp_node_plan *work, smp_error *err);

extern const smp_variant smp_warp_variants[];
