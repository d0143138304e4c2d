/* Finds the tone curve of a picture by its metadata. Sources: PNG (third edition), 11.3.2; ITU-T H.273, table 3;
 * ICC.1:2022, 10.6 (curveType), 10.18 (parametricCurveType). */
#include <math.h>
#include <string.h>

#include "io/bytes.h"
#include "io/format.h"

enum { HEADER = 128, TAG = 12, SHORTEST = 12 /* bytes: of a profile, a row of its table, a curve */ };

static double srgb(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* A curve of a profile: `size` bytes at `data`, the type first. */
typedef struct curve {
    const uint8_t *data;
    size_t size;
} curve;

/* The tag of this signature; false: the profile has none. */
static bool find_curve(const smp_blob *icc, const char *signature, curve *found)
{
    if (icc->size < HEADER + 4)
        return false;
    const size_t most = (icc->size - HEADER - 4) / TAG, count = smp_get_be(icc->data + HEADER, 4);
    for (size_t i = 0; i < count && i < most; i++) {
        const uint8_t *row = icc->data + HEADER + 4 + i * TAG;
        const size_t at = smp_get_be(row + 4, 4), size = smp_get_be(row + 8, 4);
        if (memcmp(row, signature, 4) != 0)
            continue;
        if (at > icc->size || size > icc->size - at || size < SHORTEST)
            return false;
        *found = (curve){icc->data + at, size};
        return true;
    }
    return false;
}

/* A parameter of a parametric curve, s15Fixed16Number. */
static double parameter(const curve *c, int index)
{
    const size_t at = SHORTEST + (size_t)index * 4;
    return at + 4 <= c->size ? (double)(int32_t)smp_get_be(c->data + at, 4) / 65536 : 0;
}

static double parametric(const curve *c, double x)
{
    const uint32_t kind = smp_get_be(c->data + 8, 2);
    const double g = parameter(c, 0), a = kind ? parameter(c, 1) : 1, b = kind ? parameter(c, 2) : 0;
    const double base = a * x + b, power = base > 0 ? pow(base, g) : 0;
    switch (kind) {
    case 0:
        return power;
    case 1:
        return a > 0 && x >= -b / a ? power : 0;
    case 2:
        return a > 0 && x >= -b / a ? power + parameter(c, 3) : parameter(c, 3);
    case 3:
        return x >= parameter(c, 4) ? power : parameter(c, 3) * x;
    case 4:
        return x >= parameter(c, 4) ? power + parameter(c, 5) : parameter(c, 3) * x + parameter(c, 6);
    default:
        return (double)NAN;
    }
}

/* The linear light of value x, 0..1; NaN: the curve cannot be read. */
static double value_of(const curve *c, double x)
{
    if (!memcmp(c->data, "para", 4))
        return parametric(c, x);
    const size_t count = smp_get_be(c->data + 8, 4);
    if (memcmp(c->data, "curv", 4) != 0 || count > (c->size - SHORTEST) / 2)
        return (double)NAN;
    if (count == 0)
        return x;
    if (count == 1)
        return pow(x, smp_get_be(c->data + SHORTEST, 2) / 256.);
    const double at = x * (double)(count - 1);
    const size_t low = at < (double)(count - 1) ? (size_t)at : count - 2;
    const double a = smp_get_be(c->data + SHORTEST + low * 2, 2), b = smp_get_be(c->data + SHORTEST + low * 2 + 2, 2);
    return (a + (at - (double)low) * (b - a)) / 65535;
}

/* The exponent that a curve is, SMP_CURVE_SRGB, or SMP_CURVE_OTHER where it is neither within a five hundredth. */
static double exponent_of(const curve *c)
{
    enum { STEPS = 64 };
    const double tolerance = 1 / 512., middle = value_of(c, 0.5);
    const double exponent = middle > 0 && middle < 1 ? log(middle) / log(0.5) : SMP_CURVE_OTHER;
    bool is_srgb = true, is_power = exponent > 0.1 && exponent < 10;
    for (int i = 0; i <= STEPS; i++) {
        const double x = (double)i / STEPS, y = value_of(c, x);
        is_srgb = is_srgb && fabs(y - srgb(x)) < tolerance; /* NaN is neither */
        is_power = is_power && fabs(y - pow(x, exponent)) < tolerance;
    }
    return is_srgb ? SMP_CURVE_SRGB : is_power ? exponent : SMP_CURVE_OTHER;
}

static double profile_curve(const smp_blob *icc)
{
    static const char *const signatures[] = {"rTRC", "gTRC", "bTRC"};
    curve c;
    if (find_curve(icc, "kTRC", &c))
        return exponent_of(&c);
    double found = SMP_CURVE_OTHER;
    for (int i = 0; i < 3; i++) {
        const double one = find_curve(icc, signatures[i], &c) ? exponent_of(&c) : SMP_CURVE_OTHER;
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
