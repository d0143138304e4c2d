/* The colour of what a stage adds round or beside a picture. */
#pragma once

#include "stages/stage.h"

/* Whether a fill is one row of values; says so if not. */
smp_code smp_check_fill_row(const smp_matrix *fill, smp_error *err);

/* Whether a fill has one value, one a colour, or one a channel; says what to write if not. */
smp_code smp_check_fill(const smp_matrix *fill, const smp_shape *in, smp_error *err);

/* Says that a parameter's colour does not fit the picture, and what to write. Gives SMP_E_PIPE. */
smp_code smp_fail_color(const char *name, const smp_matrix *color, const smp_shape *in, smp_error *err);
