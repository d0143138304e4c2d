/* palette: each pixel gets one of a few colours, given or found in the picture. */

#include "base/alloc.h"
#include "stages/shared/reduce/counting.h"
#include "stages/shared/samples/color_cut.h"
#include "stages/shared/samples/diffusing.h"
#include "stages/shared/samples/elementwise.h"

enum { NEAREST, DIFFUSE };

typedef struct params {
    int64_t count; /* INT64_MIN: colours are given */
    smp_matrix colors;
    int dither;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(count, NONE, 2, SMP_PALETTE_MOST, "auto", "how many colours to find in the picture",
                  SMP_P_MAIN | SMP_P_AUTO),
    SMP_PARAM_MATRIX(colors, FRACTION, 0, 1, "[0]",
                     "instead: the colours themselves, a row each, as in [0 0 0; 1 1 1; 1 0 0]", 0),
    SMP_PARAM_ENUM(dither, "none",
                   "none: the nearest colour; diffuse: what is left over goes to the neighbours (Floyd and Steinberg)",
                   0, "none", "diffuse"),
    {0},
};

static bool given_colors(const params *p)
{
    return p->colors.rows * p->colors.cols > 1;
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (given_colors(p) != (p->count != INT64_MIN))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE,
             given_colors(p) ? "palette takes count or colors, not both" : "palette needs how many colours, or which");
    return smp_hint(err, "palette 16, or palette colors=[0 0 0; 1 1 1; 1 0 0]");
}

/* Rows of the matrix; a list of grays is one row. */
static smp_code rows_of(const params *p, int colours, int64_t *rows, smp_error *err)
{
    const smp_matrix *m = &p->colors;
    *rows = colours == 1 && m->rows == 1 ? m->cols : m->rows;
    if (m->rows * m->cols != *rows * colours)
        return smp_fail(err, SMP_E_PIPE, "colors of %d values for a picture of %d", m->cols, colours),
               smp_hint(err, colours == 1 ? "write 'color rgb' before it, or grays: colors=[0 0.5 1]"
                                          : "each row has a value for each colour: colors=[0 0 0; 1 1 1]");
    if (*rows < 2 || *rows > SMP_PALETTE_MOST)
        return smp_fail(err, SMP_E_PIPE, "colors has %lld rows; 2 to %d will do", (long long)*rows, SMP_PALETTE_MOST);
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    int64_t count = p->count;
    if (colours != 1 && colours != 3)
        return smp_fail(err, SMP_E_PIPE, "a palette is of 1 or 3 colours, and the picture has %d", colours);
    SMP_TRY(given_colors(p) ? rows_of(p, colours, &count, err) : SMP_OK);
    const smp_palette k = smp_palette_of(in, count, colours);
    smp_plan_kernel(work, &k, sizeof k);
    work->values.exactness = SMP_INTEGER;
    work->ops = (double)(2 * colours + 2) * (double)count;
    work->table.size = smp_palette_size(&k);
    if (given_colors(p)) {
        work->access = SMP_POINT;
        SMP_NEED(work->table.data = smp_alloc(work->table.size), "colours", work->table.size, err);
        smp_palette_fill(&k, in, p->colors.values, work->table.data);
    } else {
        work->reduction.kind = SMP_RESULT_COUNTS;
        work->reduction.size = (size_t)SMP_PALETTE_BINS * SMP_PALETTE_PARTS * sizeof(uint64_t);
    }
    return p->dither == DIFFUSE ? smp_diffuse_plan(&k, in, work, err) : SMP_OK;
}

static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work, smp_measurements *,
                       smp_error *err)
{
    const smp_palette *k = (const smp_palette *)(const void *)work->kernel.bytes;
    double values[3 * SMP_PALETTE_MOST];
    SMP_TRY(smp_color_cut(result, k->colours, k->count, values, err));
    if (work->table.data)
        smp_palette_fill(k, in, values, work->table.data);
    return SMP_OK;
}

SMP_PIXEL_VARIANTS(palette);

static void runs_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_io runs = smp_grid_over(io, (io->in.width + SMP_PALETTE_RUN - 1) / SMP_PALETTE_RUN, io->out.rows, 1);
    smp_geometry_samples(&runs, kernel, grid);
}

static const smp_variant reducers[] = {
    {SMP_RUNG("naive", "pixel by pixel",
              SMP_LAUNCH(palette_count_naive, .geometry = smp_geometry_count_each, .counts = true))},
    {SMP_RUNG("tiled", "neighbours that are alike together",
              SMP_LAUNCH(palette_count_tiled, .geometry = runs_geometry, .counts = true))},
    {0},
};

const smp_stage smp_stage_palette = {
    .name = "palette",
    .help = "a few colours: those given, or the best for the picture",
    .about =
        "Every pixel becomes the colour whose squared distance is least, the first of equal ones; alpha stays. "
        "`palette 16` finds 16 colours: pixels are counted in 32 x 32 x 32 boxes (gray: 256), the box of boxes with "
        "the largest squared deviation is cut at its mean along its longest axis until there are as many, and each "
        "colour is then the mean of the pixels nearest to it (k-means, 4 rounds).\n"
        "dither=diffuse hands what is left over to the pixels that follow, as `posterise` says. It needs the whole "
        "picture in memory. A PNG of it is small with --png-palette.",
    .example = "palette 5",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_palette_variants),
    .traits = SMP_TRAIT_PIXELS,
    .check = check,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = reducers),
    SMP_ALSO({"quantize quantise colors reduce_colors", "palette 16"}, {"pngquant", "palette 256 dither=diffuse"},
             {"remap", "palette colors=[0 0 0; 1 1 1]"}),
};
