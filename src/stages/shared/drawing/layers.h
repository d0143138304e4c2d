/* Outlines laid on a picture, each in a colour of its own: the table and parameters of kernels/elementwise/drawn.h. */
#pragma once

#include "elementwise/drawn.h"
#include "stages/shared/drawing/outline.h"
#include "stages/stage.h"

typedef struct smp_layer {
    const smp_outline *outline;
    smp_vertex by;          /* the outline is moved by this */
    int64_t blur;           /* px: twice as far it is spread out */
    bool outside;           /* what the outline leaves out */
    const smp_matrix *fill; /* one value for all colours, or one for each */
} smp_layer;

/* A rectangle of whole pixels. */
typedef struct smp_box {
    int64_t x, y, width, height;
} smp_box;

/* The smallest box round what the layers cover; `outside` covers nothing. */
smp_box smp_layers_box(const smp_layer *layers, int count);

/* The row of a colour, an smp_matrix of `params`. */
#define SMP_INK(name, field, fallback, help)                                                                           \
    SMP_PARAM_OF(params, name, field, MATRIX, FRACTION, 0, 1, fallback, help, NULL, SMP_P_LEVEL)

/* Whether a colour has a value for each colour of the picture, or one; says what to write if not. */
smp_code smp_check_ink(const smp_matrix *fill, const char *name, const smp_shape *in, smp_error *err);

/* Plans to lay the layers, the uppermost first and at most SMP_DRAWN_LAYERS, on the picture inside the box, as one
 * picture with this opacity: where an upper one covers, a lower one does not shine through. */
smp_code smp_layers_plan(const smp_layer *layers, int count, smp_box box, double opacity, const smp_shape *in,
                         smp_node_plan *work, smp_error *err);

/* Tells of a parameter that is given where it does nothing: where, as "without outline". After smp_layers_plan. */
void smp_tell_idle(bool idle, const char *name, const char *where, smp_node_plan *work);

/* Whether a colour is given, but as [0], which is what is there anyway. */
bool smp_is_ink(const smp_matrix *fill);

extern const smp_variant smp_drawn_variants[];
