/* Colour profiles: which kind, matrix and curves: see icc.h. */
#include "media/icc.h"

#include <math.h>
#include <string.h>

enum { HEADER = 128, MOST_TAGS = 100, MOST_BYTES = 4 << 20, TAG = 12, POINTS = -1 };

typedef struct bytes {
    const uint8_t *data;
    size_t size;
} bytes;

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static double fixed(const uint8_t *at) /* s15Fixed16Number */
{
    return (double)(int32_t)word(at) / 65536;
}

/* Whether the rows of tags that it says it has are there. */
static bool has_tags(const bytes *profile)
{
    return profile->size >= HEADER + 4 && word(profile->data + HEADER) <= MOST_TAGS &&
           word(profile->data + HEADER) <= (profile->size - HEADER - 4) / TAG;
}

/* The data of a tag; no bytes where there is none. */
static bytes find(const bytes *profile, const char *name)
{
    const uint32_t count = word(profile->data + HEADER);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *tag = profile->data + HEADER + 4 + (size_t)TAG * i;
        const uint32_t at = word(tag + 4), size = word(tag + 8);
        if (!memcmp(tag, name, 4) && at <= profile->size && size <= profile->size - at)
            return (bytes){profile->data + at, size};
    }
    return (bytes){.data = NULL};
}

static bool is_type(const bytes *tag, const char *name, size_t least)
{
    return tag->size >= least && !memcmp(tag->data, name, 4);
}

bool smp_icc_curve_read(const uint8_t *data, size_t size, smp_icc_curve *curve, size_t *used)
{
    static const int parameters[] = {1, 3, 4, 5, 7};
    const bytes tag = {data, size};
    *curve = (smp_icc_curve){.kind = 0, .values = {1}};
    if (is_type(&tag, "curv", 12)) {
        const uint32_t count = word(data + 8);
        if (count > (size - 12) / 2)
            return false;
        *used = 12 + 2 * (size_t)count;
        if (count == 1) /* u8Fixed8Number */
            curve->values[0] = (data[12] * 256 + data[13]) / 256.;
        else if (count) {
            curve->kind = POINTS;
            curve->points = data + 12;
            curve->count = count;
        }
        return true;
    }
    if (!is_type(&tag, "para", 12) || data[8] || data[9] > 4)
        return false;
    curve->kind = data[9];
    *used = 12 + 4 * (size_t)parameters[curve->kind];
    if (size < *used)
        return false;
    for (int i = 0; i < parameters[curve->kind]; i++)
        curve->values[i] = fixed(data + 12 + 4 * i);
    return true;
}

static bool read_curve(const bytes *tag, smp_icc_curve *curve)
{
    size_t used;
    return smp_icc_curve_read(tag->data, tag->size, curve, &used);
}

bool smp_icc_curve_named(const void *data, size_t size, const char *name, smp_icc_curve *curve)
{
    const bytes profile = {data, size}, tag = has_tags(&profile) ? find(&profile, name) : (bytes){.data = NULL};
    return read_curve(&tag, curve);
}

static smp_icc_tag tag_of(const bytes *profile, const char *name)
{
    const bytes found = find(profile, name);
    return (smp_icc_tag){found.data, found.size};
}

/* The header, and the tables of colours. */
static const char *read_head(const bytes *profile, bool inks, smp_icc *to)
{
    *to = (smp_icc){.inks = inks};
    if (profile->size > MOST_BYTES || !has_tags(profile) || memcmp(profile->data + 36, "acsp", 4) != 0)
        return "is damaged";
    to->gray = !inks && !memcmp(profile->data + 16, "GRAY", 4);
    if (!to->gray && memcmp(profile->data + 16, inks ? "CMYK" : "RGB ", 4) != 0)
        return inks ? "is not of CMYK" : "is neither of RGB nor of gray";
    to->version = profile->data[8];
    to->lab = !memcmp(profile->data + 20, "Lab ", 4);
    if (!to->lab && memcmp(profile->data + 20, "XYZ ", 4) != 0)
        return "is none of colours";
    if (!to->gray)
        to->tables[SMP_ICC_PERCEPTUAL] = tag_of(profile, "A2B0");
    if (to->tables[SMP_ICC_PERCEPTUAL].data)
        to->tables[SMP_ICC_RELATIVE] = tag_of(profile, "A2B1");
    return NULL;
}

const char *smp_icc_read_cmyk(const void *data, size_t size, smp_icc *to)
{
    const bytes profile = {data, size};
    const char *fault = read_head(&profile, true, to);
    if (fault || !to->tables[SMP_ICC_PERCEPTUAL].data)
        return fault ? fault : "has no tables of colours";
    to->print = tag_of(&profile, "B2A0");
    return NULL;
}

const char *smp_icc_read(const void *data, size_t size, smp_icc *to)
{
    static const char *const colours[] = {"rXYZ", "gXYZ", "bXYZ"}, *const tones[] = {"rTRC", "gTRC", "bTRC"};
    const bytes profile = {data, size};
    const char *fault = read_head(&profile, false, to);
    if (fault || to->tables[SMP_ICC_PERCEPTUAL].data)
        return fault;
    if (to->gray) {
        const bytes tone = find(&profile, "kTRC");
        if (read_curve(&tone, &to->curves[0]))
            return NULL;
        return find(&profile, "A2B0").data ? "is of gray by tables, and by a curve alone is supported"
                                           : "is of gray, and its curve is missing or damaged";
    }
    if (to->lab)
        return "has no tables of colours";
    for (int c = 0; c < 3; c++) {
        const bytes colour = find(&profile, colours[c]), tone = find(&profile, tones[c]);
        if (!is_type(&colour, "XYZ ", 20) || !read_curve(&tone, &to->curves[c]))
            return "is damaged";
        for (int i = 0; i < 3; i++)
            to->colorants[3 * i + c] = fixed(colour.data + 8 + 4 * i);
    }
    return NULL;
}

static double power(double base, double exponent)
{
    return base > 0 ? pow(base, exponent) : 0;
}

/* ICC.1:2010, 10.15: Y of X by the type of curve. */
static double parametric(const smp_icc_curve *curve, double x)
{
    const double *v = curve->values, g = v[0], a = v[1], b = v[2], c = v[3], d = v[4];
    switch (curve->kind) {
    case 0:
        return power(x, g);
    case 1:
        return a * x + b >= 0 ? power(a * x + b, g) : 0;
    case 2:
        return a * x + b >= 0 ? power(a * x + b, g) + c : c;
    case 3:
        return x >= d ? power(a * x + b, g) : c * x;
    default:
        return x >= d ? power(a * x + b, g) + v[5] : c * x + v[6];
    }
}

double smp_icc_light(const smp_icc_curve *curve, double value)
{
    double light;
    if (curve->kind == POINTS) {
        const double at = value * (curve->count - 1);
        const uint32_t i = at < curve->count - 2 ? (uint32_t)at : curve->count - 2;
        const uint8_t *p = curve->points + 2 * (size_t)i;
        const double low = p[0] * 256 + p[1], high = p[2] * 256 + p[3];
        light = (low + (at - i) * (high - low)) / 65535;
    } else
        light = parametric(curve, value);
    return light > 0 ? light < 1 ? light : 1 : 0; /* NaN is 0 */
}

double smp_icc_light_of(const smp_icc *icc, int colour, double value)
{
    const double v = smp_icc_light(&icc->curves[colour], value);
    if (!icc->gray || !icc->lab)
        return v;
    const double f = (100 * v + 16) / 116; /* v is a lightness */
    return f > 24. / 116 ? f * f * f : 108. / 841 * (f - 16. / 116);
}

/* The inverse of sRGB's colorants (IEC 61966-2-1, adapted by Bradford). */
void smp_icc_srgb_of_xyz(double inverse[9])
{
    static const double m[9] = {.43604, .38512, .14305, .22249, .71690, .06061, .01392, .09706, .71393};
    const double rows[9] = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    const double determinant = m[0] * rows[0] + m[1] * rows[3] + m[2] * rows[6];
    for (int i = 0; i < 9; i++)
        inverse[i] = rows[i] / determinant;
}

double smp_icc_encoded(double v)
{
    return v <= .0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - .055;
}

void smp_icc_matrix(const smp_icc *icc, float to[9])
{
    double inverse[9];
    smp_icc_srgb_of_xyz(inverse);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += inverse[3 * r + k] * icc->colorants[3 * k + c];
            to[3 * r + c] = (float)sum;
        }
}

/* Between the encoded values that the curves give and sRGB's, of 0 to 1: the most and the mean. */
static void curves_beside_srgb(const smp_icc *icc, double *most, double *mean)
{
    const int curves = icc->gray ? 1 : 3;
    *most = *mean = 0;
    for (int c = 0; c < curves; c++)
        for (int i = 0; i <= 255; i++) {
            const double x = i / 255., d = fabs(smp_icc_encoded(smp_icc_light_of(icc, c, x)) - x);
            *most = fmax(*most, d);
            *mean += d / (256 * curves);
        }
}

bool smp_icc_levels_like_srgb(const smp_icc *icc)
{
    static const double near = 0.02;
    double most, mean;
    if (icc->tables[SMP_ICC_PERCEPTUAL].data)
        return false;
    curves_beside_srgb(icc, &most, &mean);
    return mean < near;
}

bool smp_icc_is_srgb(const smp_icc *icc)
{
    static const double near = 2e-3;
    double most, mean;
    float matrix[9];
    if (icc->tables[SMP_ICC_PERCEPTUAL].data)
        return false;
    smp_icc_matrix(icc, matrix);
    for (int i = 0; i < 9 && !icc->gray; i++)
        if (fabs((double)matrix[i] - (i % 4 == 0)) > near)
            return false;
    curves_beside_srgb(icc, &most, &mean);
    return most <= near / 2;
}

bool smp_icc_same(const smp_icc *a, const smp_icc *b)
{
    static const double near = 2e-3;
    if (a->tables[SMP_ICC_PERCEPTUAL].data || b->tables[SMP_ICC_PERCEPTUAL].data || a->gray != b->gray)
        return false;
    for (int i = 0; i < 9 && !a->gray; i++)
        if (fabs(a->colorants[i] - b->colorants[i]) > near)
            return false;
    for (int c = 0; c < (a->gray ? 1 : 3); c++)
        for (int i = 0; i <= 255; i++)
            if (fabs(smp_icc_encoded(smp_icc_light_of(a, c, i / 255.)) -
                     smp_icc_encoded(smp_icc_light_of(b, c, i / 255.))) > near / 2)
                return false;
    return true;
}

void smp_icc_name(const void *data, size_t size, char name[64])
{
    enum { MOST = 63, OLD = 12, RECORD = 16, RECORDS = 28 };
    const bytes profile = {data, size};
    name[0] = '\0';
    if (!has_tags(&profile))
        return;
    const bytes tag = find(&profile, "desc");
    size_t at = OLD, step = 1, end = tag.size; /* ASCII; else UTF-16 of the first record */
    if (is_type(&tag, "mluc", RECORDS)) {
        const uint32_t length = word(tag.data + RECORD + 4), begin = word(tag.data + RECORD + 8);
        if (begin > tag.size || length > tag.size - begin)
            return;
        at = begin + 1;
        step = 2;
        end = begin + length;
    } else if (!is_type(&tag, "desc", OLD))
        return;
    size_t n = 0;
    for (; at < end && n < MOST && tag.data[at]; at += step)
        if (tag.data[at] >= ' ' && tag.data[at] < 127 && (step == 1 || !tag.data[at - 1]))
            name[n++] = (char)tag.data[at];
    name[n] = '\0';
}

#define SRGB     .kind = 3, .values = {2.4, 1 / 1.055, .055 / 1.055, 1 / 12.92, .04045}
#define GAMMA(g) .kind = 0, .values = {g}
const smp_icc smp_icc_srgb = {.colorants = {.43604, .38512, .14305, .22249, .71690, .06061, .01392, .09706, .71393},
                              .curves = {{SRGB}, {SRGB}, {SRGB}}};
const smp_icc smp_icc_display_p3 = {
    .colorants = {.51512, .29198, .15710, .24120, .69225, .06657, -.00105, .04189, .78407},
    .curves = {{SRGB}, {SRGB}, {SRGB}}};
const smp_icc smp_icc_adobe_rgb = {
    .colorants = {.60974, .20528, .14919, .31111, .62567, .06322, .01947, .06087, .74457},
    .curves = {{GAMMA(2.19921875)}, {GAMMA(2.19921875)}, {GAMMA(2.19921875)}}};
