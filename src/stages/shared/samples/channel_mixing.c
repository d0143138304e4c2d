/* Shared by stages that mix a pixel's channels: one pair of kernels, whose parameters are the weights. */
#include "stages/shared/samples/channel_mixing.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"

/* Warps side by side in a row, or in rows one above the other where rows are short. */
static void gray_grid(const smp_io *io, smp_grid *grid)
{
    const bool joined = io->in.stride == 3 * io->in.width && io->out.stride == io->out.width;
    const int64_t n = joined ? io->out.width * io->out.rows : io->out.width, rows = joined ? 1 : io->out.rows;
    const int64_t pieces = (n + SMP_GRAY_PIECE - 1) / SMP_GRAY_PIECE, most = smp_grid_most(grid);
    int64_t beside = 1;
    while (beside < SMP_GRAY_WARPS && beside < pieces)
        beside *= 2;
    const int64_t above = SMP_GRAY_WARPS / beside;
    const int64_t x = smp_clamp_i64((pieces + beside - 1) / beside, 1, INT32_MAX);
    const int64_t y = smp_clamp_i64((rows + above - 1) / above, 1, smp_min_i64(most, INT32_MAX / x));
    *grid = (smp_grid){.grid = {(unsigned)x, (unsigned)y, 1}, .block = {(unsigned)(32 * beside), (unsigned)above, 1}};
}

static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    if (!smp_channel_mix_gray(kernel, io)) {
        smp_geometry_pixel_tiles(io, kernel, grid);
        return "channel_mix_tiled";
    }
    gray_grid(io, grid);
    return "channel_mix_gray";
}

SMP_CPU_DECLARE(channel_mix_naive);
SMP_CPU_DECLARE(channel_mix_tiled);

const smp_variant smp_channel_mix_variants[] = {
    {SMP_RUNG("naive", "pixel by pixel, or frame by frame",
              SMP_LAUNCH(channel_mix_naive, .geometry = smp_geometry_pixels))},
    {SMP_RUNG("tiled", "blocks of pixels or frames parted into planes, vectorised along them",
              SMP_LAUNCH_AS(channel_mix_tiled, .decide = tiled))},
    {0},
};

void smp_channel_mixing_plan(const smp_channel_mix *mix, smp_node_plan *work)
{
    bool picks = true; /* every row takes one channel as it is, or none */
    for (int r = 0; r < mix->rows; r++) {
        double least = (double)mix->constant[r], most = least;
        int taken = 0;
        picks = picks && mix->constant[r] == 0;
        for (int c = 0; c < mix->cols; c++) {
            float w = mix->weight[r][c];
            *(w < 0 ? &least : &most) += (double)w;
            taken += w == 1;
            picks = picks && (w == 0 || w == 1);
        }
        picks = picks && taken <= 1;
        /* Weights are rounded to f32: a sum of 1 may be a little off, which rounding hides. */
        work->values.clips = work->values.clips || least < -1e-6 || most > 1 + 1e-6;
    }
    work->values.exactness = picks ? SMP_INTEGER : SMP_REAL;
    work->out.channels = mix->rows + mix->keep_alpha;
    work->ops = 2. * mix->rows * mix->cols / work->out.channels;
    smp_plan_kernel(work, mix, sizeof *mix);
}
