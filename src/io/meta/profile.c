/* The colour profile of a picture, for stages: its own, or one made of what other metadata say. Sources: PNG (third
 * edition), 11.3.2; ITU-T H.273, table 2; ICC.1:2022. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/format.h"
#include "media/icc.h"

enum { HEADER = 128, TAG = 12, XYZ_BYTES = 20, NAME_BYTES = 76, CURVE_BYTES = 32, PART = 4 };

/* The inverse of a matrix; false: it has none worth the name. */
static bool invert(const double m[9], double to[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            to[3 * c + r] = m[3 * ((r + 1) % 3) + (c + 1) % 3] * m[3 * ((r + 2) % 3) + (c + 2) % 3] -
                            m[3 * ((r + 1) % 3) + (c + 2) % 3] * m[3 * ((r + 2) % 3) + (c + 1) % 3];
    const double determinant = m[0] * to[0] + m[1] * to[3] + m[2] * to[6];
    for (int i = 0; i < 9; i++)
        to[i] /= determinant;
    return fabs(determinant) > 1e-6;
}

static void multiply(const double *a, const double *b, int columns, double *to)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < columns; c++)
            to[columns * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[columns + c] + a[3 * r + 2] * b[2 * columns + c];
}

static const double bradford[9] = {.8951, .2664, -.1614, -.7502, 1.7135, .0367, .0389, -.0685, 1.0296};

/* The change of XYZ from a white to D50, by Bradford's cones. */
static void change_white(const double white[3], double to[9])
{
    double cones[3], wanted[3], back[9], scaled[9];
    (void)invert(bradford, back);
    multiply(bradford, white, 1, cones);
    multiply(bradford, smp_icc_d50, 1, wanted);
    for (int i = 0; i < 9; i++)
        scaled[i] = bradford[i] * wanted[i / 3] / cones[i / 3];
    multiply(back, scaled, 3, to);
}

void smp_srgb_of_white(const double white[3], double to[9])
{
    double light[9], change[9];
    smp_icc_srgb_of_xyz(light);
    change_white(white, change);
    multiply(light, change, 3, to);
}

/* Computes colorants from chromaticities (x y of white, red, green, blue), relative to D50 by Bradford's cones; false:
 * they have none. */
static bool colorants_of(const double chrm[8], double to[9])
{
    double xyz[4][3], p[9], inverse[9], share[3], adapt[9];
    for (int i = 0; i < 4; i++) {
        const double x = chrm[2 * i], y = chrm[2 * i + 1];
        if (!(x >= 0 && y > 1e-3 && x + y <= 1.001))
            return false;
        xyz[i][0] = x / y;
        xyz[i][1] = 1;
        xyz[i][2] = (1 - x - y) / y;
    }
    for (int i = 0; i < 9; i++)
        p[i] = xyz[1 + i % 3][i / 3];
    if (!invert(p, inverse))
        return false;
    multiply(inverse, xyz[0], 1, share);
    for (int i = 0; i < 9; i++)
        p[i] *= share[i % 3];
    change_white(xyz[0], adapt);
    multiply(adapt, p, 3, to);
    bool good = true;
    for (int i = 0; i < 9; i++)
        good = good && fabs(to[i]) < 4; /* NaN is not */
    return good;
}

static void put_fixed(uint8_t *at, double value)
{
    smp_put_be(at, (uint64_t)(uint32_t)(int32_t)lrint(value * 65536), PART);
}

/* The curve by its exponent, or sRGB's. */
static void put_curve(uint8_t *at, double exponent)
{
    static const double srgb[] = {2.4, 1 / 1.055, .055 / 1.055, 1 / 12.92, .04045};
    const bool power = exponent > 0;
    memcpy(at, "para", 4);
    smp_put_be(at + 8, power ? 0 : 3, 2);
    for (int i = 0; i < (power ? 1 : 5); i++)
        put_fixed(at + 12 + PART * i, power ? exponent : srgb[i]);
}

static void put_profile(uint8_t *data, size_t size, const char *name, bool gray, double exponent,
                        const double colorants[9])
{
    static const char *const tags[] = {"desc", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"};
    enum { COUNT = sizeof tags / sizeof *tags };
    size_t at = HEADER + PART + TAG * COUNT;
    smp_put_be(data, size, PART);
    smp_put_be(data + 8, 4, 1);
    memcpy(data + 12, gray ? "mntrGRAYXYZ " : "mntrRGB XYZ ", 12);
    memcpy(data + 36, "acsp", 4);
    smp_put_be(data + HEADER, COUNT, PART);
    for (int i = 0; i < COUNT; i++) {
        uint8_t *row = data + HEADER + PART + TAG * i;
        const size_t bytes = i == 0 ? NAME_BYTES : i < 4 ? XYZ_BYTES : CURVE_BYTES;
        memcpy(row, gray && i == 4 ? "kTRC" : tags[i], 4);
        smp_put_be(row + 4, at, PART);
        smp_put_be(row + 8, bytes, PART);
        if (i == 0) {
            memcpy(data + at, "desc", 4);
            snprintf((char *)data + at + 12, NAME_BYTES - 12, "%s", name);
        } else if (i < 4) {
            memcpy(data + at, "XYZ ", 4);
            for (int k = 0; k < 3; k++)
                put_fixed(data + at + 8 + PART * k, colorants[3 * k + i - 1]);
        } else
            put_curve(data + at, exponent);
        at += bytes;
    }
}

bool smp_chromaticities(int primaries, double chrm[8])
{
    static const struct {
        int number;
        double chrm[8];
    } known[] = {{1, {.3127, .3290, .64, .33, .30, .60, .15, .06}},
                 {9, {.3127, .3290, .708, .292, .170, .797, .131, .046}},
                 {12, {.3127, .3290, .680, .320, .265, .690, .150, .060}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == primaries)
            return memcpy(chrm, known[i].chrm, sizeof known[i].chrm);
    return false;
}

/* Reads the colours of cICP or gAMA and cHRM; false: none, or sRGB, or colours that such a profile cannot express. */
static bool stated(const smp_meta *meta, double *exponent, double colorants[9], char name[64])
{
    static const double about_srgb[2] = {2.1, 2.3};
    memcpy(colorants, smp_icc_srgb.colorants, sizeof smp_icc_srgb.colorants);
    *exponent = smp_meta_curve(meta);
    if (*exponent < 0)
        return false;
    if (meta->has_cicp) {
        double chrm[8];
        snprintf(name, 64, "cICP %d %d", meta->cicp[0], meta->cicp[1]);
        return smp_chromaticities(meta->cicp[0], chrm) && colorants_of(chrm, colorants);
    }
    if (meta->srgb_intent >= 0)
        return false;
    if (*exponent > about_srgb[0] && *exponent < about_srgb[1])
        *exponent = 0;
    const bool chrm = meta->has_chrm && colorants_of(meta->chrm, colorants);
    snprintf(name, 64, "%sgAMA %.5g", chrm ? "cHRM, " : "", meta->gamma);
    if (chrm && !(meta->gamma > 0))
        snprintf(name, 64, "cHRM");
    return *exponent > 0 || chrm;
}

smp_blob smp_meta_profile(const smp_meta *meta, const smp_shape *shape, smp_blob *made)
{
    const size_t size = HEADER + PART + 7 * TAG + NAME_BYTES + 3 * (XYZ_BYTES + CURVE_BYTES);
    double exponent, colorants[9];
    char name[64];
    smp_icc icc;
    *made = (smp_blob){.size = 0};
    if (meta->icc.size)
        return meta->icc;
    if (shape->kind != SMP_IMAGE || shape->format == SMP_F32 || !stated(meta, &exponent, colorants, name) ||
        !(made->data = smp_alloc(size)))
        return *made;
    made->size = size;
    put_profile(made->data, size, name, shape->channels - shape->alpha == 1, exponent, colorants);
    if (smp_icc_read(made->data, size, &icc) || smp_icc_is_srgb(&icc)) {
        smp_free(made->data);
        *made = (smp_blob){.size = 0};
    }
    return *made;
}
