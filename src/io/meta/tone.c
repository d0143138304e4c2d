/* Finds the tone curve of a picture by its metadata. Sources: PNG (third edition), 11.3.2; ITU-T H.273, table 3. */
#include <math.h>

#include "io/format.h"
#include "media/icc.h"

/* The exponent that a curve is, SMP_CURVE_SRGB, or SMP_CURVE_OTHER where it is neither within a five hundredth. */
static double exponent_of(const smp_icc_curve *c)
{
    enum { STEPS = 64 };
    const double tolerance = 1 / 512., middle = smp_icc_light(c, 0.5);
    const double exponent = middle > 0 && middle < 1 ? log(middle) / log(0.5) : SMP_CURVE_OTHER;
    bool is_srgb = true, is_power = exponent > 0.1 && exponent < 10;
    for (int i = 0; i <= STEPS; i++) {
        const double x = (double)i / STEPS, y = smp_icc_light(c, x);
        is_srgb = is_srgb && fabs(y - smp_icc_light(&smp_icc_srgb.curves[0], x)) < tolerance;
        is_power = is_power && fabs(y - pow(x, exponent)) < tolerance;
    }
    return is_srgb ? SMP_CURVE_SRGB : is_power ? exponent : SMP_CURVE_OTHER;
}

static double profile_curve(const smp_blob *icc)
{
    static const char *const signatures[] = {"rTRC", "gTRC", "bTRC"};
    smp_icc_curve c;
    if (smp_icc_curve_named(icc->data, icc->size, "kTRC", &c))
        return exponent_of(&c);
    double found = SMP_CURVE_OTHER;
    for (int i = 0; i < 3; i++) {
        const double one =
            smp_icc_curve_named(icc->data, icc->size, signatures[i], &c) ? exponent_of(&c) : SMP_CURVE_OTHER;
        if (one == SMP_CURVE_OTHER || (i && fabs(one - found) > 0.01))
            return SMP_CURVE_OTHER;
        found = one;
    }
    return found;
}

double smp_meta_curve(const smp_meta *meta)
{
    enum { GAMMA_22 = 4, GAMMA_28 = 5, LINEAR = 8, SRGB = 13 };
    if (meta->has_cicp)
        return meta->cicp[1] == SRGB       ? SMP_CURVE_SRGB
               : meta->cicp[1] == LINEAR   ? 1
               : meta->cicp[1] == GAMMA_22 ? 2.2
               : meta->cicp[1] == GAMMA_28 ? 2.8
                                           : SMP_CURVE_OTHER;
    if (meta->icc.size)
        return profile_curve(&meta->icc);
    if (meta->srgb_intent >= 0 || !(meta->gamma > 0.05 && meta->gamma < 20))
        return SMP_CURVE_SRGB;
    return 1 / meta->gamma;
}
