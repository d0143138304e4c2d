/* The colour of what a stage adds: see fill.h. */
#include "stages/shared/samples/fill.h"

smp_code smp_check_fill(const smp_matrix *fill, const smp_shape *in, smp_error *err)
{
    const int colours = in->channels - in->alpha, values = fill->cols;
    if (values == 1 || values == colours || values == in->channels)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "fill has %d values, and the picture %d channel%s%s", values, in->channels,
             in->channels == 1 ? "" : "s", in->alpha ? ", one of them alpha" : "");
    if (colours == 1 && (values == 3 || (values == 4 && in->alpha)))
        return smp_hint(err, "write `color rgb` before it, or give one value for all colours");
    if (values == 4 && colours == 3)
        return smp_hint(err, "write `alpha opaque` before it, or give one value a colour");
    return smp_hint(err, "one value serves all colours");
}
