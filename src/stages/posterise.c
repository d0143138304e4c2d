/* posterise: a few evenly spaced values a channel. */
#include "base/alloc.h"
#include "elementwise/ordered.h"
#include "stages/shared/samples/diffusing.h"
#include "stages/shared/samples/elementwise.h"

enum { NEAREST, BAYER8, DIFFUSE };

typedef struct params {
    int64_t levels;
    int dither;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(levels, NONE, 2, 256, NULL, "how many values", SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_PARAM_ENUM(
        dither, "none",
        "none: the nearest value; bayer8: two values take turns in a pattern of 8 x 8 pixels, so that areas keep their "
        "brightness; diffuse: so do they, without a pattern (Floyd and Steinberg)",
        0, "none", "bayer8", "diffuse"),
    {0},
};

SMP_TWO_VARIANTS(ordered, "vectorised blocks in the first-level cache; GPU: 16 bytes a thread", smp_geometry_samples,
                 smp_geometry_packs);

static smp_code plan_diffuse(int64_t levels, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    const smp_palette k = smp_palette_of(in, levels, 0);
    double values[SMP_PALETTE_MOST];
    for (int64_t i = 0; i < levels; i++)
        values[i] = (double)i / (double)(levels - 1);
    smp_plan_kernel(work, &k, sizeof k);
    work->table.size = smp_palette_size(&k);
    work->table.data = smp_alloc(work->table.size);
    SMP_NEED(work->table.data, "a table", work->table.size, err);
    smp_palette_fill(&k, in, values, work->table.data);
    return smp_diffuse_plan(&k, in, work, err);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    if (((const params *)given)->dither == DIFFUSE)
        return plan_diffuse(((const params *)given)->levels, in, work, err);
    work->ops = 6;
    if (((const params *)given)->dither == BAYER8) {
        smp_ordered *k = SMP_PLAN_KERNEL(work, smp_ordered);
        *k = (smp_ordered){(float)(((const params *)given)->levels - 1), smp_white(in->format)};
        work->variants = smp_ordered_variants;
        work->ops = 20;
        return SMP_OK;
    }
    return SMP_ELEMENTWISE_PLAN(work, posterise, (float)(((const params *)given)->levels - 1), smp_white(in->format));
}

SMP_ELEMENTWISE_VARIANTS(posterise, tables);
const smp_stage smp_stage_posterise = {
    .name = "posterise",
    .help = "few evenly spaced values a channel, from black to white",
    .about = "out = round(in / white * (levels - 1)) / (levels - 1) * white, ties to even, in 0..white; alpha stays.\n"
             "dither=bayer8 takes the value above floor(in / white * (levels - 1)) where the fraction is larger than "
             "(b + 1/2) / 64, with Bayer's matrix b of 8 x 8 in every channel: few levels that look like many from "
             "afar. `posterise 2 dither=bayer8` and --png-bits 1 make a small file of black and white.\n"
             "dither=diffuse hands the error of each sample to those that follow: 7/16 to the right, 3/16, 5/16 and "
             "1/16 below, in whole numbers (floats: of 65535ths). `gray`, then `posterise 2 dither=diffuse`, are the "
             "bytes of Pillow's convert('1'). The whole picture is needed in memory. For colours of your own: palette.",
    .example = "posterise 4",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_posterise_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    SMP_ALSO({"posterize", "posterise 4"},
             {"floyd_steinberg floydsteinberg error_diffusion dither", "posterise 2 dither=diffuse"},
             {"halftone bayer", "posterise 2 dither=bayer8"}),
};
