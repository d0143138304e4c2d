/* Shared by stages that apply a kernel matrix: parameters, plan, variants. They differ in whether it is flipped. */
#pragma once

#include "stages/stage.h"

typedef struct smp_convolve_params {
    smp_matrix kernel;
    double scale; /* NaN: auto */
    double offset, fill;
    int edge;
} smp_convolve_params;

extern const smp_param smp_convolve_param_list[];
extern const smp_variant smp_convolve_variants[];

/* Fields of the stages, and what both say. */
#define SMP_CONVOLVE_STAGE                                                                                             \
    .domain = SMP_IMAGE, .access = SMP_STENCIL, .traits = SMP_TRAIT_NEIGHBOURHOOD | SMP_TRAIT_PIXELS,                  \
    SMP_PARAMS(smp_convolve_param_list, smp_convolve_params), .check = smp_convolve_check,                             \
    .variants = smp_convolve_variants
#define SMP_CONVOLVE_ABOUT                                                                                             \
    " Every element is a tap, added in row order in f32; one rounding at the end. scale=auto divides by the sum of "   \
    "the weights unless that is 0. A kernel of one row or one column runs as one pass.\n"                              \
    "Alpha is filtered like a colour when the kernel is an average (no negative weights, sum 1 after scaling), and "   \
    "passes through otherwise; colour is premultiplied."

/* smp_stage.check of both: the matrix. */
smp_code smp_convolve_check(const void *params, smp_error *err);

/* Fills the plan; flip turns the kernel by 180 degrees (a true convolution). */
smp_code smp_convolve_plan(const smp_convolve_params *params, bool flip, smp_node_plan *work, smp_error *err);
