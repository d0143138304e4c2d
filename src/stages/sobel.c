/* sobel: first derivatives by the 3 x 3 Sobel operator. */
#include "stencil/sobel.h"
#include "stages/shared/stencil/sobel_family.h"
#include "stages/shared/stencil/warp_strip_launch.h"
#include "stages/shared/stencil/window_plan.h"
#include "stages/stage.h"

typedef struct params {
    double fill;
    int output, edge;
} params;

static const char *const outputs[] = {"magnitude", "x", "y", NULL}; /* as smp_sobel_output */

static const smp_param table[] = {
    SMP_PARAM_ROW(output, ENUM, NONE, 0, 0, "magnitude", "which derivative", outputs, SMP_P_MAIN),
    SMP_WINDOW_EDGE(params),
    SMP_WINDOW_FILL(params),
    {0},
};

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    const smp_sobel g = {.output = p->output, .edge = p->edge, .fill = (float)p->fill};
    smp_plan_kernel(work, &g, sizeof g);
    work->rows.up = work->rows.down = 1;
    work->rows.whole = p->edge == SMP_WRAP;
    work->values.clips = true;
    work->ops = p->output == SMP_SOBEL_MAGNITUDE ? 12 : 4;
    return SMP_OK;
}

static const char *warp(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const char *const names[SMP_SOBEL_Y + 1][4] = {{"sobel_warp1", NULL, "sobel_warp3", "sobel_warp4"},
                                                          {"sobel_warp_x1", NULL, "sobel_warp_x3", "sobel_warp_x4"},
                                                          {"sobel_warp_y1", NULL, "sobel_warp_y3", "sobel_warp_y4"}};
    const smp_sobel *g = kernel;
    const bool bytes = io->in.format == SMP_U8;
    const smp_bands bands = {.most = bytes ? SMP_SOBEL_BYTES_BAND : SMP_SOBEL_REALS_BAND, .halo = 2};
    if (!smp_sobel_warp(g, io))
        return NULL;
    smp_strip_grid(io, SMP_STRIP_BYTES / smp_sample_size(io->in.format), &bands, grid);
    return names[g->output][io->in.channels - 1];
}

static const smp_variant variants[] = {
    {.name = "naive", .help = "nine samples for every result", .launches = {SMP_LAUNCH_SAMPLES(sobel_naive)}},
    {.name = "tiled",
     .help =
         "CPU: three rows in cache, down the columns first, then across; GPU: a tile with its halo in shared memory",
     .launches = {SMP_LAUNCH_AS(sobel_tiled, .decide = smp_sobel_tiled)},
     .scratch = smp_sobel_cpu_scratch,
     .band = 16},
    {.name = "warp",
     .help = "GPU: one warp walks down a strip, rows in registers; 8 bits and float, 1, 3 or 4 channels without alpha, "
             "no fill outside; others and CPU as tiled",
     .launches = {SMP_LAUNCH_AS(sobel_tiled, .decide = warp)},
     .scratch = smp_sobel_cpu_scratch,
     .band = 16},
    {0},
};

const smp_stage smp_stage_sobel = {
    .name = "sobel",
    .help = "edges: derivatives by the 3 x 3 Sobel operator",
    .about =
        "x = [-1 0 1; -2 0 2; -1 0 1], y = its transpose, applied as they stand (scipy.ndimage.sobel, cv2.Sobel, no "
        "scaling: values reach 4 times full scale); magnitude = sqrt(x^2 + y^2). x and y have signs: negative values "
        "stay in float data and are clamped to 0, and counted, where an integer format is stored at the end.\n"
        "Alpha passes through; colour is premultiplied.",
    .example = "sobel output=magnitude edge=mirror",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD | SMP_TRAIT_PIXELS,
    SMP_ALSO({"edge edges edgedetect gradient", "sobel"}),
};
