/* profile: from the colours of a picture's profile to sRGB. */
#include "elementwise/profile.h"

#include <math.h>

#include "base/alloc.h"
#include "stages/shared/elementwise.h"
#include "stages/shared/icc.h"

enum { EMBEDDED, DISPLAY_P3, ADOBE_RGB };
enum { MISSING_SRGB, MISSING_ERROR };
enum { BYTE_ENTRIES = 256, ENTRIES = 4096 };

typedef struct params {
    int to, from, missing;
} params;

static const smp_param table[] = {
    {"to", offsetof(params, to), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "srgb", "the colours that come out",
     (const char *const[]){"srgb", NULL}, SMP_P_MAIN},
    {"from", offsetof(params, from), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "embedded",
     "the colours that come in: those of the picture's own profile, or what a picture without one is known to have",
     (const char *const[]){"embedded", "display-p3", "adobe-rgb", NULL}, 0},
    {"missing", offsetof(params, missing), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "srgb",
     "a picture without profile: srgb takes it for sRGB, error refuses it",
     (const char *const[]){"srgb", "error", NULL}, 0},
    {0},
};

/* XYZ relative to D50 to linear sRGB: the inverse of sRGB's colorants (IEC 61966-2-1, adapted by Bradford). */
static void srgb_of_xyz(double inverse[9])
{
    static const double m[9] = {.43604, .38512, .14305, .22249, .71690, .06061, .01392, .09706, .71393};
    const double rows[9] = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    const double determinant = m[0] * rows[0] + m[1] * rows[3] + m[2] * rows[6];
    for (int i = 0; i < 9; i++)
        inverse[i] = rows[i] / determinant;
}

static void fill_matrix(const smp_icc *icc, float to[9])
{
    double inverse[9];
    srgb_of_xyz(inverse);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += inverse[3 * r + k] * icc->colorants[3 * k + c];
            to[3 * r + c] = (float)sum;
        }
}

/* Whether the colours are sRGB's, as far as 8 bits show. */
static bool is_srgb(const smp_icc *icc, const smp_profile *k)
{
    static const double near = 2e-3;
    for (int i = 0; i < 9 && !icc->gray; i++)
        if (fabs((double)k->matrix[i] - (i % 4 == 0)) > near)
            return false;
    for (int c = 0; c < (icc->gray ? 1 : 3); c++)
        for (int i = 0; i <= 255; i++) {
            const double x = i / 255., v = smp_icc_light(&icc->curves[c], x);
            const double encoded = v <= .0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - .055;
            if (fabs(encoded - x) > near / 2)
                return false;
        }
    return true;
}

static smp_code fill_table(const smp_icc *icc, int colours, smp_node_plan *work, smp_error *err)
{
    const smp_profile *k = (const smp_profile *)(const void *)work->kernel;
    work->table_size = (size_t)colours * (size_t)(k->entries + 1) * sizeof(float);
    float *to = work->table = smp_alloc(work->table_size);
    if (!to)
        return smp_fail_memory(err, "curves", work->table_size);
    for (int c = 0; c < colours; c++)
        for (int i = 0; i <= k->entries; i++)
            *to++ = (float)smp_icc_light(&icc->curves[c], fmin(1, (double)i / (k->entries - 1)));
    return SMP_OK;
}

/* *known false: there is no profile, and the picture is taken for sRGB. */
static smp_code find_profile(const params *p, const smp_shape *in, smp_icc *icc, bool *known, smp_error *err)
{
    const int colours = in->channels - in->alpha;
    *known = true;
    if (p->from != EMBEDDED) {
        *icc = p->from == DISPLAY_P3 ? smp_icc_display_p3 : smp_icc_adobe_rgb;
        icc->gray = colours == 1;
        return SMP_OK;
    }
    if (!in->icc) {
        *known = false;
        if (p->missing == MISSING_SRGB)
            return SMP_OK;
        smp_fail(err, SMP_E_PIPE, "the picture has no colour profile");
        return smp_hint(err, "missing=srgb takes it for sRGB; from=adobe-rgb names its colours");
    }
    const char *fault = smp_icc_read(in->icc, in->icc_size, icc);
    if (!fault && icc->gray != (colours == 1))
        fault = icc->gray ? "is of gray, and the picture has colours" : "is of colours, and the picture is gray";
    if (!fault)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "the picture's colour profile %s", fault);
    return smp_hint(err, "write the colours by hand, as in `profile from=display-p3`, or leave 'profile' out");
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    smp_profile *k = SMP_PLAN_KERNEL(work, smp_profile);
    smp_icc icc;
    bool known;
    (void)by;
    if (colours != 1 && colours != 3)
        return smp_fail(err, SMP_E_PIPE, "a profile is of gray or of three colours, and the picture has %d", colours);
    smp_code code = find_profile(p, in, &icc, &known, err);
    if (code)
        return code;
    *k = (smp_profile){.entries = in->format == SMP_U8 ? BYTE_ENTRIES : ENTRIES, .gray = colours == 1};
    if (known && !k->gray)
        fill_matrix(&icc, k->matrix);
    work->nothing = work->already = !known || is_srgb(&icc, k);
    if (work->nothing)
        return SMP_OK;
    work->out.icc = NULL;
    work->out.icc_size = 0;
    work->out.curve = SMP_CURVE_SRGB;
    work->makes_srgb = true;
    work->ops = 40;
    return fill_table(&icc, colours, work, err);
}

SMP_PIXEL_VARIANTS(profile);

const smp_stage smp_stage_profile = {
    .name = "profile",
    .help = "from the colours of the picture's own profile to sRGB",
    .about =
        "Wide-gamut photographs (Display P3, Adobe RGB) look pale where programs ignore their profile: this makes sRGB "
        "of them. The ICC profile's three curves become tables of 4096 entries (8 bits: 256), its colorants, relative "
        "to D50, a matrix to linear sRGB; what lies outside sRGB is clamped, then encoded (IEC 61966-2-1). Gray "
        "profiles have one curve. The file that is written has no profile, and is sRGB. Profiles with tables of "
        "colours, as printers have them, are refused. A picture that is sRGB already stays as it is.\n"
        "It works on encoded values: first in a pipeline, before `light linear`. Alpha stays.",
    .example = "profile from=display-p3",
    .domain = SMP_IMAGE,
    .access = SMP_POINT,
    .encoded = true,
    .keeps_alpha = true,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .variants = smp_profile_variants,
    .aliases = (const smp_alias[]){{"icc icc_transform srgb tosrgb colormanage", "profile"}, {0}},
};
