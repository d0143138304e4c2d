/* Launch geometries of neighbourhood kernels: see stencil_grid.h. */
#include "stages/stencil_grid.h"

#include "base/checked.h"
#include "bell_banded.h"
#include "box.h"
#include "gradient.h"
#include "sharpen.h"
#include "stages/geometry.h"
#include "stages/strip_grid.h"
#include "taps.h"

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

void smp_geometry_bell_rows(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)params;
    tiles(io, SMP_BELL_ACROSS, SMP_BELL_LINES, SMP_BELL_LANES, SMP_BELL_ROWS, grid);
}

void smp_geometry_bell_columns(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)params;
    tiles(io, SMP_BELL_COLUMNS, SMP_BELL_DOWN, SMP_BELL_COLUMNS / 4, SMP_BELL_DOWN / SMP_BELL_EACH, grid);
}

/* Bands of bell_warp.cuh. Where memory binds, so low ones that the L2 keeps what all warps read and write until the
 * bands below have read it too; else tall and uneven ones. Found by trying (docs/why.md). */
static smp_bands bell_bands(int from, int to, int radius)
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

static void bell_warp(const smp_io *io, const smp_bell *bell, smp_grid *grid)
{
    const int radius = smp_bell_warp(bell, io), from = io->in.format, to = io->out.format;
    /* Kernels on tensor cores have halos of whole groups of rows. */
    const smp_bands banded = {.most = 320, .warps = 48, .uneven = true};
    const smp_bands plain = bell_bands(from, to, radius);
    if (smp_banded_warp(bell, io))
        smp_strip_grid(io, SMP_BANDED_ACROSS, &banded, grid);
    else
        smp_strip_grid(io, 32 * smp_bell_lane(from, to, radius), &plain, grid);
}

void smp_geometry_bell_warp(const smp_io *io, const void *params, smp_grid *grid)
{
    bell_warp(io, params, grid);
}

void smp_geometry_sharpen_warp(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_sharpen *sharpen = params;
    bell_warp(io, &sharpen->blur, grid);
}

void smp_geometry_taps(const smp_io *io, const void *params, smp_grid *grid)
{
    enum { TAPS_WARPS = 17 };
    const int channels = io->in.channels;
    const smp_taps *taps = params;
    if (smp_taps_warp(taps, io)) {
        const bool bytes = io->in.format == SMP_U8, many = taps->rows > 5;
        const smp_bands bands = {.most = many && bytes ? 160 : 64,
                                 .warps = many && bytes ? TAPS_WARPS : 0,
                                 .halo = (int)taps->rows - 1,
                                 .uneven = many};
        smp_strip_grid(io, bytes ? 512 : 128, &bands, grid);
        return;
    }
    tiles(io, SMP_TAPS_ACROSS, SMP_TAPS_DOWN, 32, SMP_TAPS_DOWN / 4, grid);
    grid->shared_bytes = (unsigned)(smp_taps_batch(params, channels) * smp_taps_line(params, channels) * 4);
}

void smp_geometry_gradient(const smp_io *io, const void *params, smp_grid *grid)
{
    const bool bytes = io->in.format == SMP_U8;
    const smp_bands bands = {.most = bytes ? SMP_GRADIENT_BYTES_BAND : SMP_GRADIENT_REALS_BAND, .halo = 2};
    if (!smp_gradient_warp(params, io))
        tiles(io, SMP_GRADIENT_ACROSS, SMP_GRADIENT_DOWN, SMP_GRADIENT_ACROSS / 4, SMP_GRADIENT_DOWN / 4, grid);
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

const char *smp_choose_gradient(const smp_io *io, const void *params)
{
    static const char *const names[SMP_GRADIENT_TEMPLATES + 1] = {
        "gradient_tiled0", "gradient_tiled1", "gradient_tiled2", "gradient_tiled3", "gradient_tiled4"};
    static const char *const warp[SMP_GRADIENT_Y + 1][SMP_GRADIENT_TEMPLATES] = {
        {"gradient_warp1", NULL, "gradient_warp3", "gradient_warp4"},
        {"gradient_warp_x1", NULL, "gradient_warp_x3", "gradient_warp_x4"},
        {"gradient_warp_y1", NULL, "gradient_warp_y3", "gradient_warp_y4"}};
    const smp_gradient *g = params;
    if (smp_gradient_warp(params, io))
        return warp[g->output][io->in.channels - 1];
    return names[io->in.channels <= SMP_GRADIENT_TEMPLATES ? io->in.channels : 0];
}

smp_io smp_io_of_rows(const smp_io *io)
{
    smp_io whole = *io;
    whole.out.format = io->by.data ? io->by.format : io->out.format;
    return whole;
}

smp_io smp_io_of_columns(const smp_io *io)
{
    smp_io whole = *io;
    whole.in.format = io->by.data ? io->by.format : io->in.format;
    return whole;
}
