/* median: the middle value of a square. */
#include "stencil/median.h"

#include "stages/shared/launch_shapes.h"
#include "stages/shared/window_plan.h"

typedef struct median_params {
    int64_t size;
    double fill;
    int edge;
} median_params;

static const smp_param params[] = {
    {"size", offsetof(median_params, size), SMP_T_INT, SMP_UNIT_PX, 1, 5, NULL, "side of the square; 1 changes nothing",
     NULL, SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_ODD},
    SMP_WINDOW_EDGE(median_params),
    SMP_WINDOW_FILL(median_params),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const median_params *p = given;
    (void)in, (void)by, (void)err;
    work->nothing = p->size == 1;
    work->exactness = SMP_INTEGER;
    work->ops = p->size == 3 ? 38 : 198; /* two an exchange */
    smp_window_plan(&(smp_window){.size = (int32_t)p->size, .edge = p->edge, .fill = (float)p->fill, .alpha = 1},
                    sizeof(smp_window), work);
    return SMP_OK;
}

static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_window *window = kernel;
    smp_grid_sample_tiles(io, &smp_window_tiles, grid);
    return window->size == 3 ? "median_tiled3" : "median_tiled5";
}

static const smp_variant variants[] = SMP_WINDOW_VARIANTS(median, .decide = tiled);

const smp_stage smp_stage_median = {
    .name = "median",
    .help = "middle value of a square: removes specks, keeps edges",
    .about = "The (n + 1) / 2-th smallest of the n = size^2 samples of each channel (scipy.ndimage.median_filter, "
             "cv2.medianBlur). Samples are moved, none are computed: exact in every format. Floats are ordered by IEEE "
             "totalOrder, every NaN last; with edge=constant, fill is rounded to a code value.\n"
             "Alpha is filtered like a colour; colour is premultiplied.",
    .example = "median 3px",
    .domain = SMP_IMAGE,
    .access = SMP_STENCIL,
    .neighbourhood = true,
    .params = params,
    .params_size = sizeof(median_params),
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"medianblur", "median 3"},
                                   {"median_blur", "median 3"},
                                   {"median_filter", "median 3"},
                                   {"medfilt", "median 3"},
                                   {"medfilt2", "median 3"},
                                   {0}},
};
