/* The colour of what a stage adds: see fill.h. */
#include "stages/shared/samples/fill.h"

smp_code smp_fail_color(const char *name, const smp_matrix *color, const smp_shape *in, smp_error *err)
{
    const int colours = in->channels - in->alpha, values = color->cols;
    smp_fail(err, SMP_E_PIPE, "%s has %d values, and the picture %d channel%s%s", name, values, in->channels,
             in->channels == 1 ? "" : "s", in->alpha ? ", one of them alpha" : "");
    if (colours == 1 && (values == 3 || (values == 4 && in->alpha)))
        return smp_hint(err, "write `color rgb` before it, or give one value for all colours");
    if (values == 4 && colours == 3 && !in->alpha)
        return smp_hint(err, "write `alpha opaque` before it, or give one value a colour");
    return smp_hint(err, "one value serves all colours");
}

smp_code smp_check_fill_row(const smp_matrix *fill, smp_error *err)
{
    return fill->rows <= 1 && fill->cols >= 1 && fill->cols <= SMP_MAX_CHANNELS
               ? SMP_OK
               : smp_fail(err, SMP_E_PIPE, "fill takes one row of 1 to %d values", SMP_MAX_CHANNELS);
}

smp_code smp_check_fill(const smp_matrix *fill, const smp_shape *in, smp_error *err)
{
    const int values = fill->cols;
    return values == 1 || values == in->channels - in->alpha || values == in->channels
               ? SMP_OK
               : smp_fail_color("fill", fill, in, err);
}
