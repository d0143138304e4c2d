/* saturate: more or less colour, and a turned hue: the channels mixed by a matrix. */
#include "stages/shared/samples/channel_mixing.h"

typedef struct params {
    double amount, hue; /* 1: as it is; degrees */
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(amount, FRACTION, 0, 100, "1", "how much colour: 0 is gray, 1 as it is, 2 twice as much",
                    SMP_P_MAIN),
    SMP_PARAM_FLOAT(hue, DEG, -360, 360, "0deg", "turns every hue by this angle: 120deg makes red green", 0),
    {0},
};

/* One row for each output channel: feColorMatrix saturate, and hueRotate for c = cos, z = sin of the angle. */
static void colour_matrix(double to[3][3], double s, double degrees)
{
    static const double gray[3] = {.213, .715, .072},
                        across[3][3] = {{-.213, -.715, .928}, {.143, .140, -.283}, {-.787, .715, .072}};
    const double turn = degrees * acos(-1.) / 180, c = cos(turn), z = sin(turn);
    double amount[3][3], hue[3][3];
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            const double own = r == k;
            amount[r][k] = gray[k] + (own - gray[k]) * s;
            hue[r][k] = gray[k] + (own - gray[k]) * c + across[r][k] * z;
        }
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            to[r][k] = hue[r][0] * amount[0][k] + hue[r][1] * amount[1][k] + hue[r][2] * amount[2][k];
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    smp_channel_mix mix = {.rows = 3, .cols = 3, .keep_alpha = in->alpha};
    double m[3][3];
    work->effect.none = colours == 1 || (p->amount == 1 && fmod(p->hue, 360) == 0);
    work->effect.already = colours == 1; /* gray stays gray */
    if (work->effect.none)
        return SMP_OK;
    if (colours != 3)
        return smp_fail(err, SMP_E_PIPE, "saturate takes red, green and blue, and the picture has %d colours", colours),
               smp_hint(err, "choose three channels first: matrix [1 0 0 ...; 0 1 0 ...; 0 0 1 ...]");
    colour_matrix(m, p->amount, p->hue);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            mix.weight[r][c] = (float)m[r][c];
    smp_channel_mixing_plan(&mix, work);
    return SMP_OK;
}

const smp_stage smp_stage_saturate = {
    .name = "saturate",
    .help = "more or less colour, and another hue",
    .about =
        "out = H(hue) A(amount) in, the matrices `hueRotate` and `saturate` of W3C Filter Effects 1 (feColorMatrix), "
        "as CSS filters use them, made in double and their product rounded to f32. Grays stay as they are; strong "
        "colours can leave the range and are clipped and counted. Alpha stays, and so does a gray picture.",
    .example = "saturate 1.5 hue=30deg",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_channel_mix_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    SMP_ALSO({"saturation", "saturate 1.5"}, {"vibrance", "saturate 1.3"}, {"huesaturation", "saturate 1.5 hue=30deg"},
             {"hue hue-rotate", "saturate hue=90deg"}),
};
