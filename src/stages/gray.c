/* gray: colour to one channel of brightness. */
#include "stages/shared/samples/channel_mixing.h"
#include "stages/stage.h"

typedef struct gray_params {
    smp_matrix weights;
} gray_params;

static const smp_param table[] = {
    {"weights", offsetof(gray_params, weights), SMP_T_MATRIX, SMP_UNIT_NONE, 0, 0, "[0.2126 0.7152 0.0722]",
     "one for each colour channel", NULL, SMP_P_MAIN},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const gray_params *p = params;
    int colours = in->channels - in->alpha, count = p->weights.rows * p->weights.cols;
    if (colours == 1) { /* gray already */
        work->effect.none = work->effect.already = true;
        return SMP_OK;
    }
    if (count != colours) {
        smp_fail(err, SMP_E_PIPE, "%d weights for a picture of %d colour channels", count, colours);
        smp_hint(err, "give one weight for each channel: weights=[...]");
        return SMP_E_PIPE;
    }
    smp_channel_mix mix = {.rows = 1, .cols = colours, .keep_alpha = in->alpha};
    for (int c = 0; c < colours; c++)
        mix.weight[0][c] = (float)p->weights.values[c];
    smp_channel_mixing_plan(&mix, work);
    return SMP_OK;
}

const smp_stage smp_stage_gray = {
    .name = "gray",
    .help = "colour to gray: a weighted sum of the colour channels",
    .about = "out = w0 red + w1 green + w2 blue; an alpha channel stays as the second. The default weights are the "
             "luminance of Rec. ITU-R BT.709; [0.299 0.587 0.114] are those of BT.601, as OpenCV and JPEG use them. "
             "The sum is over values as stored (luma); under `light linear` it is luminance proper.",
    .example = "gray",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, gray_params, smp_channel_mix_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    SMP_ALSO({"grey decolor grayscale greyscale desaturate luma luminance bw monochrome colorspace", "gray"}),
};
