/* profile: from the colours of a picture's profile to sRGB. */
#include "elementwise/profile.h"

#include <math.h>

#include "base/alloc.h"
#include "media/icc.h"
#include "stages/shared/samples/elementwise.h"

enum { EMBEDDED, DISPLAY_P3, ADOBE_RGB };
enum { MISSING_SRGB, MISSING_ERROR };
enum { UNUSABLE_ERROR, UNUSABLE_SRGB };
enum { RELATIVE, PERCEPTUAL };
enum { BYTE_ENTRIES = 256, ENTRIES = 4096 };

typedef struct params {
    int to, from, intent, missing, unusable;
    bool black_point;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(to, "srgb", "the colours that come out", SMP_P_MAIN, "srgb"),
    SMP_PARAM_ENUM(
        from, "embedded",
        "the colours that come in: those of the picture's own profile, or what a picture without one is known to have",
        0, "embedded", "display-p3", "adobe-rgb"),
    SMP_PARAM_ENUM(intent, "relative",
                   "of profiles with tables: relative keeps colours that sRGB has, perceptual their relations", 0,
                   "relative", "perceptual"),
    {"black-point", offsetof(params, black_point), SMP_T_BOOL, SMP_UNIT_NONE, 0, 0, "yes",
     "of profiles with tables: yes makes their darkest colour black", NULL, 0},
    SMP_PARAM_ENUM(missing, "srgb", "a picture without profile: srgb takes it for sRGB, error refuses it", 0, "srgb",
                   "error"),
    SMP_PARAM_ENUM(
        unusable, "error",
        "a damaged profile, or one of colours in a gray picture: error refuses it, srgb takes the picture for sRGB", 0,
        "error", "srgb"),
    {0},
};

static smp_code fill_table(const smp_icc *icc, int colours, smp_node_plan *work, smp_error *err)
{
    const smp_profile *k = (const smp_profile *)(const void *)work->kernel.bytes;
    work->table.size = (size_t)colours * (size_t)(k->entries + 1) * sizeof(float);
    float *to = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(to, "curves", work->table.size, err);
    for (int c = 0; c < colours; c++)
        for (int i = 0; i <= k->entries; i++)
            *to++ = (float)smp_icc_light_of(icc, c, fmin(1, (double)i / (k->entries - 1)));
    return SMP_OK;
}

/* The grid: encoded colours of sRGB. Black point compensation as ISO 18619 has it: XYZ is scaled about white. *same: it
 * changes nothing that 8 bits show. */
static smp_code fill_grid(const params *p, const smp_icc *icc, smp_node_plan *work, bool *same, smp_error *err)
{
    enum { N = SMP_PROFILE_POINTS };
    static const double near = 2e-3;
    const smp_icc_intent intent = p->intent == RELATIVE ? SMP_ICC_RELATIVE : SMP_ICC_PERCEPTUAL;
    smp_icc_lut lut;
    double inverse[9], xyz[3];
    const char *fault = smp_icc_lut_open(icc, intent, &lut);
    if (fault)
        return smp_fail(err, SMP_E_PIPE, "the picture's colour profile %s", fault);
    const double black = p->black_point ? smp_icc_lut_black(icc, intent, &lut) : 0;
    work->table.size = (size_t)(N * N * N) * 3 * sizeof(float);
    float *to = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(to, "a table of colours", work->table.size, err);
    smp_icc_srgb_of_xyz(inverse);
    *same = true;
    for (int i = 0; i < N * N * N; i++) {
        const double rgb[3] = {i / (N * N) / (N - 1.), i / N % N / (N - 1.), i % N / (N - 1.)};
        smp_icc_lut_xyz(&lut, rgb, xyz);
        for (int c = 0; c < 3; c++)
            xyz[c] = (xyz[c] - black * smp_icc_d50[c]) / (1 - black);
        for (int c = 0; c < 3; c++, to++) {
            const double v = inverse[3 * c] * xyz[0] + inverse[3 * c + 1] * xyz[1] + inverse[3 * c + 2] * xyz[2];
            *to = (float)smp_icc_encoded(v > 0 ? fmin(v, 1) : 0); /* NaN is 0 */
            *same = *same && fabs((double)*to - rgb[c]) < near;
        }
    }
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
    smp_icc_lut lut;
    if (!fault && icc->tables[SMP_ICC_PERCEPTUAL].data)
        fault = smp_icc_lut_open(icc, p->intent == RELATIVE ? SMP_ICC_RELATIVE : SMP_ICC_PERCEPTUAL, &lut);
    *known = !fault;
    if (!fault || p->unusable == UNUSABLE_SRGB)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "the picture's colour profile %s", fault);
    if (colours == 1)
        return smp_hint(err, "unusable=srgb takes the gray for sRGB's; or leave 'profile' out");
    return smp_hint(err, "write the colours by hand, as in `profile from=display-p3`, or leave 'profile' out");
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    smp_profile *k = SMP_PLAN_KERNEL(work, smp_profile);
    smp_icc icc;
    bool known;
    if (colours != 1 && colours != 3)
        return smp_fail(err, SMP_E_PIPE, "a profile is of gray or of three colours, and the picture has %d", colours);
    SMP_TRY(find_profile(p, in, &icc, &known, err));
    smp_code code = SMP_OK;
    *k = (smp_profile){.entries = in->format == SMP_U8 ? BYTE_ENTRIES : ENTRIES, .gray = colours == 1};
    if (known && !k->gray && !icc.tables[SMP_ICC_PERCEPTUAL].data)
        smp_icc_matrix(&icc, k->matrix);
    bool same = !known;
    k->grid = known && icc.tables[SMP_ICC_PERCEPTUAL].data;
    if (k->grid)
        code = fill_grid(p, &icc, work, &same, err);
    else if (known)
        same = smp_icc_is_srgb(&icc);
    work->effect.none = work->effect.already = same;
    if (same) {
        smp_free(work->table.data);
        work->table.data = NULL;
        work->table.size = 0;
    }
    if (code || same)
        return code;
    work->out.icc = NULL;
    work->out.icc_size = 0;
    work->out.curve = SMP_CURVE_SRGB;
    work->change.makes_srgb = true;
    work->ops = 40;
    if (k->grid)
        return SMP_OK;
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
        "profiles have one curve, of light or of lightness (CIE L*). Where a PNG has "
        "gAMA, cHRM or cICP (of sRGB, Display P3 or BT.2020, with a power) and no profile, they are the colours. The "
        "file that is written has no profile, and is sRGB. A picture that is sRGB already stays as it is.\n"
        "Of profiles with tables of colours (scanners; A2B0, A2B1) a grid of 33 x 33 x 33 colours of sRGB is made, "
        "with the black point compensated (ISO 18619), and between its points tetrahedra. CMYK is sRGB already: files "
        "of it are read so, by their profile.\n"
        "It works on encoded values: first in a pipeline, before `light linear`. Alpha stays.",
    .example = "profile from=display-p3",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_profile_variants),
    .traits = SMP_TRAIT_ENCODED | SMP_TRAIT_KEEPS_ALPHA,
    SMP_ALSO({"icc icc_transform srgb tosrgb colormanage", "profile"}),
};
