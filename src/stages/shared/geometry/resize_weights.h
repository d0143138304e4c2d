/* Weights of resize, computed in double: which input samples make an output sample of an axis, and how much each
 * counts. n input samples become m; the output stands for the `length` input samples from `begin` on, all of them but
 * where fit=cover leaves some out. Borders: the filter is cut off, and what is left is normalised. */
#pragma once

#include "stages/stage.h"
#include "stencil/resize.h"

typedef enum smp_resize_filter {
    SMP_RESIZE_LANCZOS3,
    SMP_RESIZE_MITCHELL,
    SMP_RESIZE_BICUBIC,
    SMP_RESIZE_BILINEAR,
    SMP_RESIZE_AREA,
    SMP_RESIZE_BOX,
    SMP_RESIZE_NEAREST
} smp_resize_filter;

typedef struct smp_resize_request {
    smp_resize_filter filter;
    bool antialias; /* shrinking: the filter is as wide as the step between output samples */
    bool fixed;
    int64_t n, m;         /* samples of the axis: input, output */
    double begin, length; /* the part of the input: 0, n, or a box */
} smp_resize_request;

/* Whether the axis stays as it is. */
bool smp_resize_keeps(const smp_resize_request *axis);

/* The most input samples of an output sample. */
int64_t smp_resize_most(const smp_resize_request *axis);

/* Fills in the table from axis->starts and axis->weights on, which have room for 2 and axis->taps words an output
 * sample. spare: room for axis->taps numbers. */
void smp_resize_weights(const smp_resize_request *request, const smp_resize_axis *axis, int32_t *table, double *spare);
