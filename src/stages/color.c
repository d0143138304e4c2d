/* color: to another colour space, and back. */
#include "elementwise/color_space.h"
#include "stages/shared/samples/channel_mixing.h"
#include "stages/shared/samples/elementwise.h"

enum { NONE, RGB = 4 }; /* of the spaces; between them as in SMP_TO_* */

typedef struct params {
    int to, from;
} params;

static const char *const to_spaces[] = {"none", "lab", "hsv", "ycbcr", "rgb", NULL};
static const char *const from_spaces[] = {"none", "lab", "hsv", "ycbcr", NULL};

static const smp_param table[] = {
    {"to", offsetof(params, to), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "none",
     "lab: CIE L*a*b*, lightness and two axes of colour; hsv: hue, saturation, value; ycbcr: as in JPEG; rgb: a gray "
     "picture gets three equal colours, others stay",
     to_spaces, SMP_P_MAIN},
    {"from", offsetof(params, from), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "none", "back from one of these", from_spaces, 0},
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if ((p->to == NONE) != (p->from == NONE))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, p->to == NONE ? "color needs a colour space" : "color goes one way: to or from");
    return smp_hint(err, "color lab, or color from=lab");
}

static smp_code plan_rgb(const smp_shape *in, int colours, smp_node_plan *work, smp_error *err)
{
    const smp_channel_mix mix = {.rows = 3, .cols = 1, .keep_alpha = in->alpha, .weight = {{1}, {1}, {1}}};
    if (colours == 3)
        work->effect.none = work->effect.already = true;
    else if (colours == 1)
        smp_channel_mixing_plan(&mix, work);
    else
        return smp_fail(err, SMP_E_PIPE, "a picture of %d colours is neither gray nor rgb", colours);
    work->variants = smp_channel_mix_variants;
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    if (p->to == RGB)
        return plan_rgb(in, colours, work, err);
    smp_color_space *k = SMP_PLAN_KERNEL(work, smp_color_space);
    k->kind = p->to != NONE ? SMP_TO_LAB + p->to - 1 : SMP_FROM_LAB + p->from - 1;
    work->values.clips = k->kind != SMP_TO_HSV;
    work->ops = k->kind == SMP_TO_LAB || k->kind == SMP_FROM_LAB ? 90 : 12;
    if (colours == 3)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a colour space has three colours, and the picture has %d", colours);
    return colours == 1 ? smp_hint(err, "write 'color rgb' before it") : SMP_E_PIPE;
}

SMP_PIXEL_VARIANTS(color_space);

const smp_stage smp_stage_color = {
    .name = "color",
    .help = "other colour spaces: Lab, HSV, YCbCr, and back",
    .about =
        "Values are fractions of full scale, so that every depth holds them; alpha stays.\n"
        "hsv: hue in turns (0 for grays), (max - min) / max, max. ycbcr: JPEG's, ITU-R BT.601 in full range: Y = 0.299 "
        "R + 0.587 G + 0.114 B, Cb = (B - Y) / 1.772 + 128/255, Cr = (R - Y) / 1.402 + 128/255. lab: sRGB decoded, XYZ "
        "divided by the white of D65 (0.95047 1 1.08883), then CIE 1976; stored as L / 100, (a + 128) / 255, (b + 128) "
        "/ 255, which is OpenCV's 8-bit Lab.\n"
        "What leaves the range on the way back is clipped and counted. The spaces are of encoded values: under `light "
        "linear` say `light encoded` first.",
    .example = "color lab",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_color_space_variants),
    .traits = SMP_TRAIT_ENCODED | SMP_TRAIT_KEEPS_ALPHA,
    .check = check,
    SMP_ALSO({"colour rgb2lab lab", "color lab"}, {"cvtcolor rgb2hsv hsv", "color hsv"}, {"lab2rgb", "color from=lab"},
             {"hsv2rgb", "color from=hsv"}, {"rgb gray2rgb grey2rgb truecolor", "color rgb"},
             {"yuv ycbcr ycrcb", "color ycbcr"}, {"colorspace", "color lab"}, {"colorspace", "color hsv"},
             {"colorspace", "color ycbcr"}),
};
