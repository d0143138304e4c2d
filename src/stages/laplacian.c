/* laplacian: the sum of second derivatives over 3 x 3 samples. */
#include "stages/shared/stencil/sobel_family.h"
#include "stages/shared/stencil/window_plan.h"
#include "stages/stage.h"
#include "stencil/sobel.h"

typedef struct params {
    int64_t neighbours;
    double fill;
    int edge;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(neighbours, NONE, 4, 8, "4", "4: above, below, left, right; 8: the corners too", 0),
    SMP_WINDOW_EDGE(params),
    SMP_WINDOW_FILL(params),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    return p->neighbours == 4 || p->neighbours == 8
               ? SMP_OK
               : smp_fail(err, SMP_E_PIPE, "'neighbours' is 4 or 8, not %lld", (long long)p->neighbours);
}

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    const smp_sobel g = {
        .output = p->neighbours == 4 ? SMP_LAPLACE_4 : SMP_LAPLACE_8, .edge = p->edge, .fill = (float)p->fill};
    smp_plan_kernel(work, &g, sizeof g);
    work->rows.up = work->rows.down = 1;
    work->rows.whole = p->edge == SMP_WRAP;
    work->values.clips = true;
    work->ops = p->neighbours == 4 ? 5 : 6;
    return SMP_OK;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "nine samples for every result", SMP_LAUNCH_SAMPLES(sobel_naive))},
    {SMP_RUNG("tiled", "CPU: three rows in cache; GPU: a tile with its halo in shared memory",
              SMP_LAUNCH_AS(sobel_tiled, .decide = smp_sobel_tiled)),
     .scratch = smp_sobel_cpu_scratch, .band = 16},
    {0},
};

const smp_stage smp_stage_laplacian = {
    .name = "laplacian",
    .help = "sum of second derivatives: bright where a sample is below its neighbours",
    .about = "[0 1 0; 1 -4 1; 0 1 0] (scipy.ndimage.laplace, cv2.Laplacian), or with neighbours=8 [1 1 1; 1 -8 1; 1 1 "
             "1]. Values have signs: negative ones stay in float data and are clamped to 0, and counted, where an "
             "integer format is stored at the end.\n"
             "Alpha passes through; colour is premultiplied.",
    .example = "laplacian edge=reflect",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD | SMP_TRAIT_PIXELS,
    .check = check,
    SMP_ALSO({"laplace laplacefilter", "laplacian"}),
};
