/* Launch geometries of neighbourhood kernels: see stencil_launch.h. */
#include "stages/shared/stencil_launch.h"

#include "base/checked.h"
#include "gaussian/banded_mma.h"
#include "gaussian/sharpen.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/strip_launch.h"
#include "stencil/box.h"
#include "stencil/convolve.h"
#include "stencil/sobel.h"

/* Blocks of width x height threads over tiles of `across` samples and `down` rows. */
static void tiles(const smp_io *io, int64_t across, int64_t down, unsigned width, unsigned height, smp_grid *grid)
{
    const int64_t n = io->out.width * io->out.channels;
    *grid = (smp_grid){
        .grid = {(unsigned)smp_clamp_i64((n + across - 1) / across, 1, INT32_MAX),
                 (unsigned)smp_clamp_i64((io->out.rows + down - 1) / down, 1, smp_grid_most(grid)), 1},
        .block = {width, height, 1},
    };
}

void smp_geometry_gaussian_rows(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)params;
    tiles(io, SMP_GAUSSIAN_ACROSS, SMP_GAUSSIAN_LINES, SMP_GAUSSIAN_LANES, SMP_GAUSSIAN_ROWS, grid);
}

void smp_geometry_gaussian_columns(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)params;
    tiles(io, SMP_GAUSSIAN_COLUMNS, SMP_GAUSSIAN_DOWN, SMP_GAUSSIAN_COLUMNS / 4, SMP_GAUSSIAN_DOWN / SMP_GAUSSIAN_EACH,
          grid);
}

/* Bands of gaussian_warp.cuh. Where memory binds, so low ones that the L2 keeps what all warps read and write until the
 * bands below have read it too; else tall and uneven ones. Found by trying (docs/why.md). */
static smp_bands gaussian_bands(int from, int to, int radius)
{
    enum { F32_WARPS = 28, WARPS = 17 };
    const int r = radius;
    int rows = 0; /* with the halo; 0: tall */
    if (from == SMP_F32 && to == SMP_F32) {
        rows = r == 2 ? 12 : r <= 3 ? 16 : r <= 8 ? 4 * r + 4 : 0;
        if (!rows)
            return (smp_bands){.most = 400, .warps = F32_WARPS, .halo = 2 * r, .uneven = true};
    } else if (to == SMP_F32) {
        rows = r <= 2 ? 16 : 32;
    } else if (from == SMP_F32) {
        rows = 16;
    } else {
        rows = r <= 2 ? 32 : r == 3 ? 64 : r == 4 ? 96 : 0;
        if (!rows)
            return (smp_bands){.most = 320, .warps = WARPS, .halo = 2 * r, .uneven = true};
    }
    return (smp_bands){.most = rows - 2 * r, .halo = 2 * r};
}

static void gaussian_warp(const smp_io *io, const smp_gaussian *gaussian, smp_grid *grid)
{
    const int radius = smp_gaussian_warp(gaussian, io), from = io->in.format, to = io->out.format;
    /* Kernels on tensor cores have halos of whole groups of rows. */
    const smp_bands banded = {.most = 320, .warps = 48, .uneven = true};
    const smp_bands plain = gaussian_bands(from, to, radius);
    if (smp_banded_warp(gaussian, io))
        smp_strip_grid(io, SMP_BANDED_ACROSS, &banded, grid);
    else
        smp_strip_grid(io, 32 * smp_gaussian_lane(from, to, radius), &plain, grid);
}

void smp_geometry_gaussian_warp(const smp_io *io, const void *params, smp_grid *grid)
{
    gaussian_warp(io, params, grid);
}

void smp_geometry_sharpen_warp(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_sharpen *sharpen = params;
    gaussian_warp(io, &sharpen->blur, grid);
}

void smp_geometry_convolve(const smp_io *io, const void *params, smp_grid *grid)
{
    enum { CONVOLVE_WARPS = 17 };
    const int channels = io->in.channels;
    const smp_convolve *taps = params;
    if (smp_convolve_warp(taps, io)) {
        const bool bytes = io->in.format == SMP_U8, many = taps->rows > 5;
        const smp_bands bands = {.most = many && bytes ? 160 : 64,
                                 .warps = many && bytes ? CONVOLVE_WARPS : 0,
                                 .halo = (int)taps->rows - 1,
                                 .uneven = many};
        smp_strip_grid(io, bytes ? 512 : 128, &bands, grid);
        return;
    }
    tiles(io, SMP_CONVOLVE_ACROSS, SMP_CONVOLVE_DOWN, 32, SMP_CONVOLVE_DOWN / 4, grid);
    grid->shared_bytes = (unsigned)(smp_convolve_batch(params, channels) * smp_convolve_line(params, channels) * 4);
}

void smp_geometry_sobel(const smp_io *io, const void *params, smp_grid *grid)
{
    const bool bytes = io->in.format == SMP_U8;
    const smp_bands bands = {.most = bytes ? SMP_SOBEL_BYTES_BAND : SMP_SOBEL_REALS_BAND, .halo = 2};
    if (!smp_sobel_warp(params, io))
        tiles(io, SMP_SOBEL_ACROSS, SMP_SOBEL_DOWN, SMP_SOBEL_ACROSS / 4, SMP_SOBEL_DOWN / 4, grid);
    else
        smp_strip_grid(io, bytes ? 512 : 128, &bands, grid);
}

void smp_geometry_box_warp(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_box *box = params;
    const smp_bands bands = {.most = smp_box_band(box->size), .halo = box->size - 1};
    smp_strip_grid(io, 512, &bands, grid);
}

void smp_geometry_box_rows(const smp_io *io, const void *params, smp_grid *grid)
{
    const unsigned bytes = smp_box_row_shared(params, io->in.channels);
    if (bytes) {
        tiles(io, SMP_BOX_ACROSS, 1, SMP_BOX_ACROSS / 4, 1, grid);
        grid->shared_bytes = bytes;
    } else {
        smp_geometry_samples(io, params, grid);
    }
}

void smp_geometry_box_columns(const smp_io *io, const void *params, smp_grid *grid)
{
    const unsigned bytes = smp_box_column_shared(params);
    if (bytes) {
        tiles(io, SMP_BOX_COLUMNS, SMP_BOX_DOWN, SMP_BOX_COLUMNS / 4 * SMP_BOX_DOWN / 2, 1, grid);
        grid->shared_bytes = bytes;
    } else {
        smp_geometry_samples(io, params, grid);
    }
}

const char *smp_choose_sobel(const smp_io *io, const void *params)
{
    static const char *const names[SMP_SOBEL_TEMPLATES + 1] = {"sobel_tiled0", "sobel_tiled1", "sobel_tiled2",
                                                               "sobel_tiled3", "sobel_tiled4"};
    static const char *const warp[SMP_SOBEL_Y + 1][SMP_SOBEL_TEMPLATES] = {
        {"sobel_warp1", NULL, "sobel_warp3", "sobel_warp4"},
        {"sobel_warp_x1", NULL, "sobel_warp_x3", "sobel_warp_x4"},
        {"sobel_warp_y1", NULL, "sobel_warp_y3", "sobel_warp_y4"}};
    const smp_sobel *g = params;
    if (smp_sobel_warp(params, io))
        return warp[g->output][io->in.channels - 1];
    return names[io->in.channels <= SMP_SOBEL_TEMPLATES ? io->in.channels : 0];
}

smp_io smp_io_of_rows(const smp_io *io)
{
    smp_io whole = *io;
    whole.out.format = io->second.data ? io->second.format : io->out.format;
    return whole;
}

smp_io smp_io_of_columns(const smp_io *io)
{
    smp_io whole = *io;
    whole.in.format = io->second.data ? io->second.format : io->in.format;
    return whole;
}
