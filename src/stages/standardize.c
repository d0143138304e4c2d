/* standardize: mean 0 and deviation 1, as networks want pictures. */
#include "elementwise/standardize.h"

#include <math.h>

#include "stages/shared/reduce/reduction_chunks.h"
#include "stages/shared/samples/elementwise.h"

enum { GIVEN, IMAGENET, AUTO, CHANNELS };

typedef struct params {
    int mode;
    smp_matrix mean, std;
} params;

static const char *const modes[] = {"given", "imagenet", "auto", "channels", NULL};

static const smp_param table[] = {
    {"mode", offsetof(params, mode), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "given",
     "given: by mean and std; imagenet: by those of ImageNet's photographs; auto: by the picture's own; channels: each "
     "channel by its own",
     modes, SMP_P_MAIN},
    SMP_PARAM_MATRIX(mean, NONE, 0, 0, "[0]", "given: fractions of full scale, one or one a colour", 0),
    SMP_PARAM_MATRIX(std, NONE, 0, 0, "[1]", "given: above 0, one or one a colour", 0),
    {0},
};

static bool is_list_of(const smp_matrix *list, double value)
{
    return list->rows * list->cols == 1 && list->values[0] == value;
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    for (int i = 0; i < p->std.rows * p->std.cols; i++)
        if (!(p->std.values[i] > 0))
            return smp_fail(err, SMP_E_PIPE, "std must be above 0, and %g is not", p->std.values[i]);
    if (p->mode == GIVEN || (is_list_of(&p->mean, 0) && is_list_of(&p->std, 1)))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "'standardize %s' has a mean and deviation of its own", modes[p->mode]);
    return smp_hint(err, "leave out mean= and std=, or the word %s", modes[p->mode]);
}

static smp_code colours_of(const char *name, const smp_matrix *list, int colours, double *to, smp_error *err)
{
    const int count = list->rows * list->cols;
    if (count != 1 && count != colours)
        return smp_fail(err, SMP_E_PIPE, "%s has %d values, and the picture %d colour%s", name, count, colours,
                        colours == 1 ? "" : "s");
    for (int c = 0; c < colours; c++)
        to[c] = list->values[count == 1 ? 0 : c];
    return SMP_OK;
}

/* mean, std: fractions of full scale. */
static void set_colour(smp_standardize *k, int c, double mean, double std)
{
    k->mean[c] = (float)mean;
    k->scale[c] = (float)(1 / std);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_standardize *k = SMP_PLAN_KERNEL(work, smp_standardize);
    const int colours = in->channels - in->alpha;
    double mean[SMP_MAX_CHANNELS] = {0.485, 0.456, 0.406}, std[SMP_MAX_CHANNELS] = {0.229, 0.224, 0.225};
    k->unit = (float)(1 / (double)smp_white(in->format));
    work->out.format = SMP_F32;
    work->out.channels = colours;
    work->out.alpha = false;
    work->values.no_light = true;
    work->ops = 3;
    if (p->mode == IMAGENET && colours != 3)
        return smp_fail(err, SMP_E_PIPE, "ImageNet's means are for three colours, and the picture has %d", colours);
    if (p->mode == AUTO || p->mode == CHANNELS) {
        work->reduction.kind = SMP_RESULT_CHUNKS;
        work->reduction.size = smp_chunk_bytes(in);
        return SMP_OK;
    }
    work->access = SMP_POINT;
    SMP_TRY(p->mode == IMAGENET ? SMP_OK : colours_of("mean", &p->mean, colours, mean, err));
    if (p->mode == GIVEN)
        SMP_TRY(colours_of("std", &p->std, colours, std, err));
    for (int c = 0; c < colours; c++)
        set_colour(k, c, mean[c], std[c]);
    return SMP_OK;
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *, smp_error *)
{
    const params *p = given;
    smp_standardize *k = (smp_standardize *)(void *)work->kernel.bytes;
    const int colours = in->channels - in->alpha;
    const double white = (double)smp_white(in->format);
    double mean[SMP_MAX_CHANNELS], squares[SMP_MAX_CHANNELS], count[SMP_MAX_CHANNELS], all = 0, sum = 0, spread = 0;
    for (int c = 0; c < colours; c++) {
        const smp_stats_chunk found = smp_chunks_fold(result, in, c);
        count[c] = (double)found.count;
        mean[c] = count[c] > 0 ? found.sum / count[c] / white : 0;
        squares[c] = found.squares / (white * white);
        all += count[c];
        sum += mean[c] * count[c];
    }
    const double middle = all > 0 ? sum / all : 0;
    for (int c = 0; c < colours; c++)
        spread += squares[c] + count[c] * (mean[c] - middle) * (mean[c] - middle);
    for (int c = 0; c < colours; c++) {
        const bool own = p->mode == CHANNELS;
        const double n = fmax(own ? count[c] : all, 1), std = sqrt((own ? squares[c] : spread) / n);
        set_colour(k, c, own ? mean[c] : middle, fmax(std, 1 / sqrt(n)));
    }
    return SMP_OK;
}

SMP_PIXEL_VARIANTS(standardize);

const smp_stage smp_stage_standardize = {
    .name = "standardize",
    .help = "mean 0 and deviation 1, as floats: what networks take",
    .about = "out = (in / full scale - mean) * (1 / std), a float picture without alpha. imagenet: mean 0.485 0.456 "
             "0.406, std 0.229 0.224 0.225 (torchvision's Normalize). auto: mean and deviation of all samples of all "
             "colours, the deviation at least 1 / sqrt(samples) (tf.image.per_image_standardization); channels: the "
             "same of each channel. Values leave 0..1 on purpose: write them as npy, or as 32-bit floats.",
    .example = "standardize auto",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_standardize_variants),
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = smp_chunk_variants),
    SMP_ALSO({"zscore", "standardize channels"}, {"normalize_imagenet", "standardize imagenet"},
             {"per_image_standardization whiten", "standardize auto"}, {"meanstd", "standardize mean=[0.5] std=[0.5]"}),
};
