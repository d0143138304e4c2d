/* local-threshold: black and white by the surroundings. */
#include <math.h>

#include "stages/shared/launch_shapes.h"
#include "stages/shared/stencil/window_plan.h"
#include "stencil/local_threshold.h"

typedef struct params {
    int64_t size;
    int method, edge;
    double k, r, offset, fill;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(size, PX, 3, SMP_LOCAL_MOST, "31",
                  "of the square whose samples decide; larger than the strokes of writing", SMP_P_MAIN | SMP_P_ODD),
    SMP_PARAM_ENUM(method, "sauvola", "how the level comes from mean and deviation", 0, "sauvola", "niblack", "bradley",
                   "mean"),
    SMP_PARAM_FLOAT(k, NONE, -10, 10, "auto",
                    "share of the deviation, with bradley of the mean; auto: 0.2, bradley 0.15", SMP_P_AUTO),
    SMP_PARAM_FLOAT(r, FRACTION, 0, 1, "50%", "with sauvola: the largest deviation, of full scale",
                    SMP_P_POSITIVE | SMP_P_LEVEL),
    SMP_PARAM_FLOAT(offset, FRACTION, -1, 1, "2%", "with mean: how far below it the level lies", SMP_P_LEVEL),
    SMP_WINDOW_EDGE(params),
    SMP_WINDOW_FILL(params),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    const double white = (double)smp_white(in->format);
    const smp_local_threshold k = {
        .size = (int32_t)p->size,
        .edge = p->edge,
        .method = p->method,
        .fill = (float)p->fill,
        .k = !isnan(p->k)                     ? p->k
             : p->method == SMP_LOCAL_BRADLEY ? 0.15
                                              : 0.2,
        .r = p->r * white,
        .offset = p->offset * white,
    };
    smp_plan_kernel(work, &k, sizeof k);
    work->values.exactness = SMP_INTEGER;
    work->rows.up = work->rows.down = k.size / 2;
    work->rows.whole = k.edge == SMP_WRAP;
    work->ops = 16;
    return SMP_OK;
}

static void naive(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const int64_t rows = (io->out.rows + SMP_LOCAL_DOWN - 1) / SMP_LOCAL_DOWN;
    const smp_io pieces = smp_grid_over(io, io->out.width, rows, io->out.channels);
    smp_geometry_samples(&pieces, kernel, grid);
}

/* Sums of floats have an order, which running sums would not keep. */
static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles lines = {SMP_LOCAL_ACROSS, SMP_LOCAL_DOWN, SMP_LOCAL_ACROSS, 1};
    smp_grid_sample_tiles(io, &lines, grid);
    grid->shared_bytes =
        (unsigned)smp_local_line(kernel, io->in.channels) * (unsigned)(sizeof(uint64_t) + sizeof(uint32_t));
    return io->in.white != 1.f ? "local_threshold_tiled" : NULL;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "every row of every square", SMP_LAUNCH(local_threshold_naive, .geometry = naive))},
    {SMP_RUNG("tiled", "sums of columns move down with the rows, on GPUs in shared memory (8 and 16 bits)",
              SMP_LAUNCH_AS(local_threshold_tiled, .decide = tiled)),
     .scratch = smp_local_scratch},
    {0},
};

const smp_stage smp_stage_local_threshold = {
    .name = "local-threshold",
    .help = "black and white by the surroundings: writing on uneven paper",
    .about =
        "A sample becomes full scale where it reaches a level T, else 0 (NaN too), each channel by itself; alpha "
        "stays. m and s are mean and deviation of the square round it:\n"
        "sauvola T = m (1 + k (s / r - 1)); niblack T = m - k s (k = -0.2 as in his paper, 0.2 as in scikit-image); "
        "bradley T = m (1 - k); mean T = m - offset.\n"
        "Sums are exact for 8 and 16 bits, in double for float pictures; s = sqrt(n Q - S^2) / n with the sums S of "
        "samples and Q of their squares. Equal to scikit-image's threshold_sauvola and threshold_niblack with "
        "edge=mirror. Fractions between stages count as the code value that a file would hold. Colours count however "
        "transparent they are.",
    .example = "local-threshold 5px",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .hints = SMP_HINTS(.aliases =
                           SMP_ALIASES({"adaptive sauvola autolocalthreshold", "local-threshold 31px"},
                                       {"adaptivethreshold adaptive_threshold lat", "local-threshold 31px method=mean"},
                                       {"threshold_sauvola", "local-threshold 15px edge=mirror"},
                                       {"niblack", "local-threshold 31px method=niblack"},
                                       {"bradley", "local-threshold 31px method=bradley"})),
};
