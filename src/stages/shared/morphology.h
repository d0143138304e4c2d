/* What the stages of grey morphology share (kernels/stencil/morph.h). */
#ifndef SMP_STAGES_SHARED_MORPHOLOGY_H
#define SMP_STAGES_SHARED_MORPHOLOGY_H

#include "stages/stage.h"
#include "stencil/morph.h"

/* The parameter struct, or its first member. */
typedef struct smp_morph_params {
    int64_t size, width, height; /* INT64_MIN: auto */
    double fill;
    int shape, edge;
} smp_morph_params;

extern const char *const smp_shape_names[];

/* Rows of a parameter table whose struct begins with smp_morph_params. flags: SMP_P_MAIN where size is. */
#define SMP_MORPH_SIDE(name, least, fallback, help, flags)                                                             \
    {                                                                                                                  \
#name, offsetof(smp_morph_params, name), SMP_T_INT, SMP_UNIT_PX, least, SMP_MORPH_MOST, fallback, help, NULL,  \
            SMP_P_ODD | (flags)                                                                                        \
    }
#define SMP_MORPH_TABLE(main)                                                                                          \
    SMP_MORPH_SIDE(size, 1, "auto", "of the shape, in both directions; 1 changes nothing", SMP_P_AUTO | (main)),       \
        {"shape",                                                                                                      \
         offsetof(smp_morph_params, shape),                                                                            \
         SMP_T_ENUM,                                                                                                   \
         SMP_UNIT_NONE,                                                                                                \
         0,                                                                                                            \
         0,                                                                                                            \
         "square",                                                                                                     \
         "which neighbours count",                                                                                     \
         smp_shape_names,                                                                                              \
         0},                                                                                                           \
        SMP_MORPH_SIDE(width, 1, "auto", "of a rectangle, instead of size", SMP_P_AUTO),                               \
        SMP_MORPH_SIDE(height, 1, "auto", "of a rectangle, instead of size", SMP_P_AUTO),                              \
        {"edge",                                                                                                       \
         offsetof(smp_morph_params, edge),                                                                             \
         SMP_T_ENUM,                                                                                                   \
         SMP_UNIT_NONE,                                                                                                \
         0,                                                                                                            \
         0,                                                                                                            \
         "clamp",                                                                                                      \
         "what lies outside the picture",                                                                              \
         smp_edge_names,                                                                                               \
         0},                                                                                                           \
    {                                                                                                                  \
        "fill", offsetof(smp_morph_params, fill), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, "0",                           \
            "the value outside with edge=constant", NULL, 0                                                            \
    }

/* smp_stage.check: one size, and a rectangle where it has sides. */
smp_code smp_morph_check(const void *params, smp_error *err);

/* Fills in the plan of operation `op` (SMP_MORPH_*). */
void smp_morph_plan(const smp_morph_params *params, int op, smp_node_plan *work);

/* naive, tiled, vhgw: of one pass, and of two. */
extern const smp_variant smp_morph_one_pass[], smp_morph_two_passes[];

#define SMP_MORPH_ABOUT                                                                                                \
    "\nShapes of side s, r = (s - 1) / 2: square; disk dx^2 + dy^2 <= r^2 (skimage.morphology.disk); diamond |dx| + "  \
    "|dy| <= r; cross dx = 0 or dy = 0; or a rectangle of width and height. edge=clamp gives what OpenCV's default "   \
    "does: what lies outside never wins. Floats are ordered by IEEE totalOrder; NaN loses against numbers. Alpha is "  \
    "filtered like a colour; colour is premultiplied."

#endif
