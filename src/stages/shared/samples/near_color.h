/* Shared by key and replace: what is near a colour. */
#pragma once

#include "elementwise/near_color.h"
#include "stages/stage.h"

/* Parameters that both have; the first fields of their structs. */
typedef struct smp_near_params {
    smp_matrix color;
    double tolerance, soft;
} smp_near_params;

/* Rows of the parameter table for these fields. */
#define SMP_NEAR_ROWS(type)                                                                                            \
    SMP_PARAM_OF(type, "color", near.color, MATRIX, FRACTION, 0, 1, NULL, "the colour, as white, #0f0 or [0 1 0]",     \
                 NULL, SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_LEVEL),                                                     \
        SMP_PARAM_OF(type, "tolerance", near.tolerance, FLOAT, FRACTION, 0, 1, "0%",                                   \
                     "how far from it a pixel may be; black and white are 100% apart", NULL, 0),                       \
        SMP_PARAM_OF(type, "soft", near.soft, FLOAT, FRACTION, 0, 1, "0%",                                             \
                     "beyond the tolerance, so much further: less and less", NULL, 0)

#define SMP_NEAR_ABOUT                                                                                                 \
    "The distance is the root of the mean of the squared differences of the colours, as a part of full scale, which "  \
    "is what ImageMagick's -fuzz goes by. "

/* The kernel parameters: `key`, or the colour that near pixels become. Errors (SMP_E_PIPE): colours that do not fit. */
smp_code smp_near_color_plan(const smp_near_params *near, bool key, const smp_matrix *to, const smp_shape *in,
                             smp_node_plan *work, smp_error *err);

extern const smp_variant smp_near_color_variants[];
