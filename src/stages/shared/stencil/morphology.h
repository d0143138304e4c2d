/* Shared by stages of grey morphology (kernels/stencil/morph.h). */
#pragma once

#include "stages/shared/stencil/window_plan.h"
#include "stencil/morph.h"

/* The parameter struct, or its first member. */
typedef struct smp_morph_params {
    int64_t size, width, height; /* INT64_MIN: auto */
    double fill;
    int shape, edge;
} smp_morph_params;

extern const char *const smp_shape_names[];

/* The parameter shape: a row of a parameter table whose struct has this field. */
#define SMP_SHAPE_ROW(type)                                                                                            \
    SMP_PARAM_OF(type, "shape", shape, ENUM, NONE, 0, 0, "square", "which neighbours count", smp_shape_names, 0)

/* Rows of a parameter table whose struct begins with smp_morph_params. flags: SMP_P_MAIN where size is. */
#define SMP_MORPH_SIDE(name, help, flags)                                                                              \
    SMP_PARAM_OF(smp_morph_params, #name, name, INT, PX, 1, SMP_MORPH_MOST, "auto", help, NULL,                        \
                 SMP_P_AUTO | SMP_P_ODD | (flags))
#define SMP_MORPH_TABLE(main)                                                                                          \
    SMP_MORPH_SIDE(size, "of the shape, in both directions; 1 changes nothing", main),                                 \
        SMP_SHAPE_ROW(smp_morph_params), SMP_MORPH_SIDE(width, "of a rectangle, instead of size", 0),                  \
        SMP_MORPH_SIDE(height, "of a rectangle, instead of size", 0), SMP_WINDOW_EDGE(smp_morph_params),               \
        SMP_WINDOW_FILL(smp_morph_params)

/* smp_stage.check: one size, and a rectangle where it has sides. */
smp_code smp_morph_check(const void *params, smp_error *err);

/* Fills in the plan of operation `op` (SMP_MORPH_*). */
void smp_morph_plan(const smp_morph_params *params, int op, smp_node_plan *work);

/* naive, tiled, vhgw: of one pass, and of two. */
extern const smp_variant smp_morph_one_pass[], smp_morph_two_passes[];

/* Fields of the stages of one pass, and of all. */
extern const smp_param smp_morph_rows[];
#define SMP_MORPH_ONE_PASS SMP_MORPH_STAGE, SMP_PARAMS(smp_morph_rows, smp_morph_params), .variants = smp_morph_one_pass
#define SMP_MORPH_STAGE                                                                                                \
    .domain = SMP_IMAGE, .access = SMP_STENCIL, .traits = SMP_TRAIT_NEIGHBOURHOOD, .check = smp_morph_check

#define SMP_MORPH_ABOUT                                                                                                \
    "\nShapes of side s, r = (s - 1) / 2: square; disk dx^2 + dy^2 <= r^2 (skimage.morphology.disk); diamond |dx| + "  \
    "|dy| <= r; cross dx = 0 or dy = 0; or a rectangle of width and height. edge=clamp gives what OpenCV's default "   \
    "does: what lies outside never wins. Floats are ordered by IEEE totalOrder; NaN loses against numbers. Alpha is "  \
    "filtered like a colour; colour is premultiplied."
