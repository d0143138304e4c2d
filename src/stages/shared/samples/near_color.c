/* The plan and the variants of key and replace: see near_color.h. */
#include "stages/shared/samples/near_color.h"

#include "stages/shared/samples/elementwise.h"
#include "stages/shared/samples/fill.h"

/* Integers meet whole code values, so that a tolerance of 0 finds what the file holds. */
static smp_code read_color(const char *name, const smp_matrix *color, const smp_shape *in, float *to, smp_error *err)
{
    const int colours = in->channels - in->alpha, count = color->rows * color->cols;
    const float white = smp_white(in->format);
    if (count != 1 && count != colours)
        return smp_fail_color(name, color, in, err);
    for (int c = 0; c < colours; c++) {
        to[c] = (float)(color->values[count == 1 ? 0 : c] * (double)white);
        if (in->format != SMP_F32)
            to[c] = smp_round_to(to[c], white);
    }
    return SMP_OK;
}

smp_code smp_near_color_plan(const smp_near_params *near, bool key, const smp_matrix *to, const smp_shape *in,
                             smp_node_plan *work, smp_error *err)
{
    const int colours = in->channels - in->alpha;
    const double white = (double)smp_white(in->format), within = near->tolerance * white;
    smp_near_color *k = SMP_PLAN_KERNEL(work, smp_near_color);
    *k = (smp_near_color){.colours = colours,
                          .key = key,
                          .most = (float)(within * within * colours),
                          .far = (float)(within + near->soft * white),
                          .scale = near->soft > 0 ? (float)(1 / (near->soft * white)) : 0};
    work->ops = 3. * colours + 6;
    work->values.exactness = near->soft > 0 ? SMP_REAL : SMP_INTEGER;
    if (key && colours == SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_PIPE, "a picture of %d colours has no room for alpha", colours);
    if (key)
        work->out.alpha = 1, work->out.channels = colours + 1;
    SMP_TRY(read_color("color", &near->color, in, k->color, err));
    return !to ? SMP_OK : read_color("to", to, in, k->to, err);
}

SMP_PIXEL_VARIANTS(near_color);
