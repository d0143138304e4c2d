/* modulate: lightness, saturation and hue in HSL. */
#include "elementwise/modulate.h"

#include <math.h>

#include "stages/shared/samples/elementwise.h"

typedef struct params {
    double brightness, saturation, hue;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(brightness, FRACTION, 0, 100, "100%", "times the lightness", SMP_P_MAIN | SMP_P_FACTOR),
    SMP_PARAM_FLOAT(saturation, FRACTION, 0, 100, "100%", "times the saturation: 0% is gray", SMP_P_FACTOR),
    SMP_PARAM_FLOAT(hue, DEG, -360, 360, "0deg", "turns every hue by this angle: 120deg makes red green", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    *SMP_PLAN_KERNEL(work, smp_modulate) =
        (smp_modulate){(float)p->brightness, (float)p->saturation, (float)(p->hue / 360)};
    work->values.clips = true;
    work->ops = 45;
    work->effect.none = p->brightness == 1 && p->saturation == 1 && fmod(p->hue, 360) == 0;
    if (colours == 3)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "modulate takes red, green and blue, and the picture has %d colour%s", colours,
             colours == 1 ? "" : "s");
    return colours == 1 ? smp_hint(err, "`multiply` makes a gray picture brighter, `color rgb` three colours of it")
                        : smp_hint(err, "choose three channels first: matrix [1 0 0 ...; 0 1 0 ...; 0 0 1 ...]");
}

SMP_PIXEL_VARIANTS(modulate);

const smp_stage smp_stage_modulate = {
    .name = "modulate",
    .help = "brightness, saturation and hue, as factors in HSL",
    .about =
        "Lightness L = (max + min) / 2 is multiplied by `brightness`, saturation (max - min) / (1 - |2 L - 1|) by "
        "`saturation`, and the hue turned, as ImageMagick's -modulate does, whose third number, 0 to 200, is the hue "
        "from -180deg to 180deg. What leaves the range is clipped and counted. `saturate` keeps the brightness that "
        "the eye sees.",
    .example = "modulate 120% saturation=80% hue=30deg",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_modulate_variants),
    .traits = SMP_TRAIT_ENCODED | SMP_TRAIT_KEEPS_ALPHA,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$B,$S,$H", "brightness={$B/100} saturation={$S/100} "
                                                                "hue={($H-100)*1.8}"),
                                          SMP_MEANS("$B,$S", "brightness={$B/100} saturation={$S/100}")),
                       .aliases = SMP_ALIASES({"hsl hue_saturation", "modulate 120% saturation=80%"})),
};
