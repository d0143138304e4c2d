/* template: where a small picture lies in a larger one. */
#include <string.h>

#include "base/checked.h"
#include "reduce/template.h"
#include "stages/shared/launch_shapes.h"

enum { INPUT, SCORE };

typedef struct params {
    smp_operand by;
    int output;
    const char *name;
} params;

static const smp_param table[] = {
    {"by", offsetof(params, by), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL,
     "the picture to look for: @name or \"file\", no larger than this one, with as many colours", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE | SMP_P_ANYSIZE},
    SMP_PARAM_ENUM(output, "input",
                   "input: the picture as it was; score: how well it fits at each place, float, -1 to 1", 0, "input",
                   "score"),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    smp_template *k = SMP_PLAN_KERNEL(work, smp_template);
    if (!by)
        return smp_fail(err, SMP_E_PIPE, "template needs a second picture");
    if (by->kind != SMP_IMAGE || by->channels - by->alpha != colours) {
        const int others = by->kind == SMP_IMAGE ? by->channels - by->alpha : 0;
        smp_fail(err, SMP_E_PIPE, "a template of %d colour%s cannot be found in a picture of %d", others,
                 others == 1 ? "" : "s", colours);
        return smp_hint(err, "'gray' brings both to one");
    }
    if (by->width > in->width || by->height > in->height)
        return smp_fail(err, SMP_E_PIPE, "the template, %lldx%lld, is larger than the picture, %lldx%lld",
                        (long long)by->width, (long long)by->height, (long long)in->width, (long long)in->height),
               smp_hint(err, "give the larger picture as the input, and the smaller one as by=");
    *k = (smp_template){.width = by->width,
                        .height = by->height,
                        .across = in->width - by->width + 1,
                        .down = in->height - by->height + 1,
                        .colours = colours};
    if (!smp_mul_size((size_t)k->across, (size_t)k->down * sizeof(float), &work->reduction.size))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to be searched");
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->rows.down = by->height - 1;
    work->ops = 6 * (double)by->width * (double)by->height * colours;
    if (p->output == INPUT) {
        work->access = SMP_REDUCE;
        return SMP_OK;
    }
    work->table.size = work->reduction.size;
    work->out.format = SMP_F32;
    work->out.channels = 1;
    work->out.alpha = false;
    work->values.no_light = true;
    return SMP_OK;
}

static smp_code finish(const void *, const smp_shape *, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const smp_template *k = (const smp_template *)(const void *)work->kernel.bytes;
    const float *scores = result;
    int64_t best = 0;
    for (int64_t i = 1; i < k->across * k->down; i++) /* of equal ones the first */
        best = scores[i] > scores[best] ? i : best;
    if (work->table.data)
        memcpy(work->table.data, scores, work->table.size);
    SMP_TRY(smp_measurements_add(measurements, "x", -1, (double)(best % k->across), err));
    SMP_TRY(smp_measurements_add(measurements, "y", -1, (double)(best / k->across), err));
    return smp_measurements_add(measurements, "score", -1, (double)scores[best], err);
}

static void places_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_template *k = kernel;
    const smp_io places = smp_grid_over(io, k->across, io->out.rows, 1);
    smp_geometry_samples(&places, kernel, grid);
}

static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles shape = {SMP_TEMPLATE_ACROSS, 1, SMP_TEMPLATE_ACROSS, 1};
    enum { SHARED = 48 * 1024 };
    const smp_template *k = kernel;
    const int64_t bytes = (smp_template_line(k) + k->width * k->colours) * (int64_t)sizeof(float);
    const smp_io places = smp_grid_over(io, k->across, io->out.rows, 1);
    smp_grid_sample_tiles(&places, &shape, grid);
    grid->shared_bytes = bytes <= SHARED ? (unsigned)bytes : 0;
    return bytes <= SHARED ? "template_scores_tiled" : NULL;
}

static const smp_variant reducers[] = {
    {SMP_RUNG("naive", "place by place", SMP_LAUNCH(template_scores_naive, .geometry = places_geometry))},
    {SMP_RUNG("tiled", "32 places side by side; on GPUs rows of both pictures in shared memory",
              SMP_LAUNCH_AS(template_scores_tiled, .decide = tiled)),
     .scratch = smp_template_scratch},
    {0},
};

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "a look-up a sample", SMP_LAUNCH_SAMPLES(template_naive))},
    {0},
};

const smp_stage smp_stage_template = {
    .name = "template",
    .help = "where a small picture lies in this one, and how well it fits",
    .about =
        "At every place where the second picture lies inside this one: the coefficient of correlation of the samples "
        "under it with its own, (n S_IT - S_I S_T) / sqrt((n S_II - S_I^2) (n S_TT - S_T^2)), over all colours "
        "together. 1: the same but for brightness and contrast; 0: nothing in common, or one of them flat; -1: the "
        "negative. OpenCV's matchTemplate with TM_CCOEFF_NORMED, scikit-image's match_template.\n"
        "Reports the best place, x and y of the second picture's first pixel, and its score. output=score gives all "
        "scores as a float picture of the same size, 0 where it does not fit. Turned and scaled copies are not found. "
        "Time grows with the product of both sizes: templates of up to about 64 x 64 are meant. Alpha does not count; "
        "the second picture is kept in memory, and a number for each place.",
    .example = "template by=@input output=score",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, variants),
    .traits = SMP_TRAIT_PIXELS,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = reducers),
    .hints = SMP_HINTS(.aliases =
                           SMP_ALIASES({"matchtemplate", "template by=@name"}, {"match_template", "template by=@name"},
                                       {"match-template", "template by=@name"}, {"ncc", "template by=@name"},
                                       {"find_image", "template by=\"part.png\""})),
};
