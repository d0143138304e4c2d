/* bilateral: a blur that stops at edges. */
#include "stencil/bilateral.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/stencil/window_plan.h"

typedef struct params {
    double sigma, range, fill;
    int64_t radius;
    int edge;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(sigma, PX, 0, 50, NULL, "neighbours this far away count 61 %",
                    SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(range, FRACTION, 0, 1, "10%", "differences of this size count 61 %; larger ones are edges",
                    SMP_P_POSITIVE | SMP_P_LEVEL),
    SMP_PARAM_INT(radius, PX, 1, SMP_BILATERAL_MOST, "auto", "of the neighbourhood; auto: 1.5 sigma, at least 1",
                  SMP_P_AUTO),
    SMP_WINDOW_EDGE(params),
    SMP_WINDOW_FILL(params),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    const double white = (double)smp_white(in->format), range = p->range * white;
    const int r = (int)(p->radius != INT64_MIN ? p->radius : smp_max_i64(1, (int64_t)rint(1.5 * p->sigma)));
    const int side = 2 * r + 1, entries = in->format == SMP_U8 ? 255 * colours + 1 : 1;
    smp_bilateral *k = SMP_PLAN_KERNEL(work, smp_bilateral);
    *k = (smp_bilateral){.radius = r,
                         .edge = p->edge,
                         .fill = (float)p->fill,
                         .factor = (float)(1.4426950408889634 / (2 * p->range * p->range)),
                         .unit = (float)(1 / white)};
    work->table.size = (size_t)(side * side + entries) * sizeof(float);
    float *to = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(to, "the weights of bilateral", work->table.size, err);
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            const int square = dx * dx + dy * dy;
            *to++ = square <= r * r ? (float)exp(-square / (2 * p->sigma * p->sigma)) : 0.f;
        }
    for (int d = 0; d < entries; d++)
        *to++ = (float)exp(-d / range * (d / range) / 2);
    work->rows.up = work->rows.down = r;
    work->rows.whole = p->edge == SMP_WRAP;
    work->ops = 3.14 * r * r * (4 * colours + 4);
    return SMP_OK;
}

/* Whether a block's tile fits shared memory, with so many copies of the table. */
static bool fits(const smp_io *io, const void *kernel, int copies, smp_grid *grid)
{
    static const smp_tiles shape = {SMP_BILATERAL_ACROSS, SMP_BILATERAL_DOWN, SMP_BILATERAL_ACROSS, SMP_BILATERAL_DOWN};
    const smp_io pixels = smp_grid_over(io, io->out.width, io->out.rows, 1);
    const int64_t bytes = smp_bilateral_shared(kernel, &io->in, copies);
    smp_grid_sample_tiles(&pixels, &shape, grid);
    grid->shared_bytes = (unsigned)bytes;
    return bytes <= SMP_BILATERAL_SHARED;
}

static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return fits(io, kernel, 1, grid) ? "bilateral_tiled" : NULL;
}

static const char *private(const smp_io *io, const void *kernel, smp_grid *grid)
{
    if (smp_bilateral_last(&io->in) <= 0 || io->in.format == SMP_U16 || io->out.format == SMP_U16)
        return NULL;
    return fits(io, kernel, SMP_BILATERAL_COPIES, grid) ? "bilateral_private" : NULL;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "every neighbour of every pixel", SMP_LAUNCH(bilateral_naive, .geometry = smp_geometry_pixels))},
    {SMP_RUNG("private",
              "on GPUs, gray of 8 bits: as tiled, with a table of weights for each bank: for noise, which meets few "
              "equal ones",
              SMP_LAUNCH_AS(bilateral_tiled, .decide = private)),
     .scratch = smp_bilateral_scratch, .band = 16},
    {SMP_RUNG("tiled", "pixels side by side, weights gathered; on GPUs a tile and the weights in shared memory",
              SMP_LAUNCH_AS(bilateral_tiled, .decide = tiled)),
     .scratch = smp_bilateral_scratch, .band = 16},
    {0},
};

const smp_stage smp_stage_bilateral = {
    .name = "bilateral",
    .help = "smooths, but not across edges",
    .about =
        "The mean of the pixels within the radius, weighted by exp(-distance^2 / (2 sigma^2)) and by exp(-D^2 / (2 "
        "range^2)), where D is the sum of the colours' absolute differences (Tomasi and Manduchi 1998). OpenCV's "
        "bilateralFilter(d, range * 255, sigma) with BORDER_REPLICATE, where it rounds the same numbers.\n"
        "Of 8 bits differences are looked up as whole code values. Alpha stays; colour is premultiplied.",
    .example = "bilateral 1px range=20%",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    SMP_ALSO({"bilateralfilter bilateral_filter denoise_bilateral smartblur", "bilateral 3px"},
             {"surface_blur", "bilateral 5px"}),
};
