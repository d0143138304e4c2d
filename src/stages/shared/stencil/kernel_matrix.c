/* Parameters, plan and variants of the stages that apply a kernel matrix. */
#include "stages/shared/stencil/kernel_matrix.h"

#include <math.h>

#include "base/alloc.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/stencil/warp_strip_launch.h"
#include "stages/shared/stencil/window_plan.h"
#include "stencil/convolve.h"

const smp_param smp_convolve_param_list[] = {
    {"kernel", offsetof(smp_convolve_params, kernel), SMP_T_MATRIX, SMP_UNIT_NONE, 0, 0, NULL,
     "weights, row by row, at most 63 x 63", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    SMP_WINDOW_EDGE(smp_convolve_params),
    {"scale", offsetof(smp_convolve_params, scale), SMP_T_FLOAT, SMP_UNIT_NONE, 0, 0, "auto",
     "factor for all weights; auto: 1 / their sum, or 1 when they sum to 0", NULL, SMP_P_AUTO},
    {"offset", offsetof(smp_convolve_params, offset), SMP_T_FLOAT, SMP_UNIT_FRACTION, -1, 1, "0",
     "added to the result, as a fraction of full scale", NULL, 0},
    SMP_WINDOW_FILL(smp_convolve_params),
    {0},
};

static size_t scratch(const smp_io *io, const void *kernel)
{
    return smp_convolve_scratch(kernel, io->in.channels);
}

/* Few weights travel with the parameters. */
static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles tiles = {SMP_CONVOLVE_ACROSS, SMP_CONVOLVE_DOWN, 32, SMP_CONVOLVE_DOWN / 4};
    const smp_convolve *taps = kernel;
    const int channels = io->in.channels;
    smp_grid_sample_tiles(io, &tiles, grid);
    grid->shared_bytes = (unsigned)(smp_convolve_batch(taps, channels) * smp_convolve_line(taps, channels) * 4);
    return taps->rows * taps->cols <= SMP_CONVOLVE_INLINE ? "convolve_tiled" : "convolve_tiled_table";
}

/* Small squares have kernels of their own. */
static const char *warp(const smp_io *io, const void *kernel, smp_grid *grid)
{
#define WARP(K) "convolve_warp" #K "_1", NULL, "convolve_warp" #K "_3", "convolve_warp" #K "_4"
    static const char *const names[3][4] = {{WARP(3)}, {WARP(5)}, {WARP(7)}};
#undef WARP
    const int side = smp_convolve_warp(kernel, io);
    const bool many = side > 5, tall = many && io->in.format == SMP_U8;
    const smp_bands bands = {.most = tall ? SMP_CONVOLVE_BAND_TALL : SMP_CONVOLVE_BAND,
                             .warps = tall ? SMP_CONVOLVE_BUSY : 0,
                             .halo = side - 1,
                             .uneven = many};
    if (!side)
        return NULL;
    smp_strip_grid(io, SMP_STRIP_BYTES / smp_sample_size(io->in.format), &bands, grid);
    return names[side / 2 - 1][io->in.channels - 1];
}

const smp_variant smp_convolve_variants[] = {
    {SMP_RUNG("naive", "tap after tap for every sample", SMP_LAUNCH_SAMPLES(convolve_naive))},
    {SMP_RUNG("tiled", "rows stay in cache, or in shared memory, as f32; each that is read serves four output rows",
              SMP_LAUNCH_AS(convolve_tiled, .decide = tiled)),
     .scratch = scratch, .band = 16},
    {.name = "warp",
     .help =
         "GPU, squares of 3, 5 and 7: one warp walks down a strip, sums of all rows in registers; 8 bits and float, "
         "1, 3 or 4 channels, no fill outside; others and CPU as tiled",
     .launches = {SMP_LAUNCH_AS(convolve_tiled, .decide = warp)},
     .scratch = scratch,
     .band = 16},
    {0},
};

smp_code smp_convolve_check(const void *params, smp_error *err)
{
    const smp_matrix *kernel = &((const smp_convolve_params *)params)->kernel;
    const int rows = kernel->rows, cols = kernel->cols;
    if (rows < 1 || cols < 1 || rows > SMP_CONVOLVE_MAX || cols > SMP_CONVOLVE_MAX)
        return smp_fail(err, SMP_E_PIPE, "a kernel of %d x %d weights; at most %d x %d are possible", rows, cols,
                        SMP_CONVOLVE_MAX, SMP_CONVOLVE_MAX),
               smp_hint(err, "for averages over wider squares see the separable blurs");
    for (int i = 0; i < rows * cols; i++)
        if (!isfinite(kernel->values[i]))
            return smp_fail(err, SMP_E_PIPE, "weight %d of the kernel is not a finite number", i + 1);
    return SMP_OK;
}

smp_code smp_convolve_plan(const smp_convolve_params *params, bool flip, smp_node_plan *work, smp_error *err)
{
    const int rows = params->kernel.rows, cols = params->kernel.cols, count = rows * cols;
    const double *given = params->kernel.values;
    double sum = 0, absolute = 0;
    for (int i = 0; i < count; i++) {
        sum += given[i];
        absolute += fabs(given[i]);
    }
    const bool zero = fabs(sum) <= 1e-9 * absolute;
    const double scale = !isnan(params->scale) ? params->scale : zero ? 1 : 1 / sum;

    /* The middle is size / 2, before flipping: where scipy.ndimage puts it. */
    smp_convolve taps = {.rows = rows,
                         .cols = cols,
                         .up = flip ? (rows - 1) / 2 : rows / 2,
                         .left = flip ? (cols - 1) / 2 : cols / 2,
                         .edge = params->edge,
                         .fill = (float)params->fill,
                         .offset = (float)params->offset};
    float *k = taps.k;
    if (count > SMP_CONVOLVE_INLINE) {
        work->table.size = (size_t)count * sizeof *k;
        work->table.data = k = smp_alloc(work->table.size);
        SMP_NEED(k, "a kernel matrix", work->table.size, err);
    }
    bool negative = false;
    for (int i = 0; i < count; i++) {
        double weight = given[flip ? count - 1 - i : i] * scale;
        negative = negative || weight < 0;
        k[i] = (float)weight;
    }
    const bool average = !negative && fabs(sum * scale - 1) < 1e-6;
    taps.keep_alpha = !average;
    taps.inside = average && params->offset == 0;
    smp_plan_kernel(work, &taps, sizeof taps);
    const int64_t down = smp_convolve_down(&taps);
    work->rows.up = smp_stencil_reach(taps.up, down, params->edge);
    work->rows.down = smp_stencil_reach(down, taps.up, params->edge);
    work->rows.whole = params->edge == SMP_WRAP;
    work->values.clips = !taps.inside;
    work->ops = 2. * count;
    return SMP_OK;
}
