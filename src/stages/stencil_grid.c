/* Launch geometries of neighbourhood kernels: see stencil_grid.h. */
#include "stages/stencil_grid.h"

#include "base/checked.h"
#include "bell_fixed.h"
#include "blur_slope.h"
#include "box.h"
#include "gradient.h"
#include "sharpen.h"
#include "stages/geometry.h"
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

const smp_knob smp_knob_band = {.name = "band",
                                .help = "output rows that a block marches down",
                                .min = 4,
                                .max = 512,
                                .values = {8, 12, 16, 24, 32, 48, 64, 128}};

/* Rows of a band of which, `across` samples wide, each SM has `warps`: at least 8 and at most `most`, or `most` where the
 * SMs are not known. */
static int64_t even_band(const smp_io *io, int64_t across, int64_t most, int warps, const smp_grid *grid)
{
    enum { LEAST = 8 };
    const int64_t n = io->out.width * io->out.channels, wanted = (int64_t)grid->units * warps;
    const int64_t even = wanted ? io->out.rows * ((n + across - 1) / across) / wanted : most;
    return smp_clamp_i64(even, most < LEAST ? most : LEAST, most);
}
enum { BAND_WARPS = 12 };
/* tiles() for kernels of one warp a block that march down a band of rows: bands of up to `most` rows, lower ones where a
 * small picture would have fewer than `warps` on an SM; or as tall as the knob says. */
static void bands_for(const smp_io *io, int64_t across, int64_t most, int warps, smp_grid *grid)
{
    const int64_t band = grid->knob ? grid->knob : even_band(io, across, most, warps, grid);
    tiles(io, across, band, 32, 1, grid);
}
static void bands(const smp_io *io, int64_t across, int64_t most, smp_grid *grid)
{
    bands_for(io, across, most, BAND_WARPS, grid);
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

/* Output rows of a band of bell_warp.cuh: with the halo they are whole groups of rows. Where memory binds, so few that the
 * L2 keeps what all warps read and write until the bands below have read it too. Found by trying (docs/gpu-log.md). */
static int bell_band(int from, int to, int radius)
{
    const int r = radius;
    int rows; /* with the halo */
    if (from == SMP_F32 && to == SMP_F32)
        rows = r == 2 ? 12 : r <= 3 ? 16 : r <= 8 ? 4 * r + 4 : 256;
    else if (to == SMP_F32)
        rows = r <= 2 ? 16 : r <= 4 ? 32 : r <= 8 ? 80 : 88;
    else if (from == SMP_F32)
        rows = r <= 3 ? 16 : r <= 5 ? 40 : 64;
    else
        rows = r <= 2 ? 32 : r == 3 ? 64 : r == 4 ? 96 : r <= 8 ? 128 : 256;
    return rows - 2 * r;
}

/* Bands of gaussian_banded.cu, on average: tall ones filter fewer rows twice, but a launch ends later where an SM has few
 * of them; of few rows in all, as many as keep the SMs busy. Measured. */
static void bands_of_banded(const smp_io *io, int steps, smp_grid *grid)
{
    enum { MOST = 320, USUAL = 64, WARPS = 12, SHORT_WARPS = 96, LONG_WARPS = 130 };
    const int64_t busy = even_band(io, SMP_BANDED_ACROSS, USUAL, WARPS, grid);
    const int64_t tall = even_band(io, SMP_BANDED_ACROSS, MOST, steps == 1 ? SHORT_WARPS : LONG_WARPS, grid);
    const int64_t band = grid->knob ? grid->knob : tall > busy ? tall : busy;
    tiles(io, SMP_BANDED_ACROSS, band, 32, 1, grid);
}

void smp_geometry_bell_warp(const smp_io *io, const void *params, smp_grid *grid)
{
    enum { ODD_WARPS = 80 }; /* strips at the ends of odd rows take longer: a launch of few tall bands would end late */
    const smp_bell *bell = params;
    const int radius = smp_bell_warp(bell, io);
    if (smp_banded_warp(bell, io))
        bands_of_banded(io, smp_banded_steps(bell->radius, io->in.channels), grid);
    else if (bell->fixed)
        bands(io, SMP_BANDED_ACROSS, smp_fixed_band(smp_fixed_steps(bell, io->in.channels)), grid);
    else
        bands_for(io, 32 * smp_bell_lane(io->in.format, io->out.format, radius),
                  bell_band(io->in.format, io->out.format, radius),
                  io->in.format == SMP_F32 && !smp_rows_even(io) ? ODD_WARPS : BAND_WARPS, grid);
}

void smp_geometry_taps(const smp_io *io, const void *params, smp_grid *grid)
{
    const int channels = io->in.channels;
    if (smp_taps_warp(params, io)) {
        const int low = io->in.format == SMP_F32 && !smp_rows_even(io);
        bands(io, 512 / smp_sample_size(io->in.format), low ? SMP_TAPS_LOW_BAND : SMP_TAPS_WARP_BAND, grid);
        return;
    }
    tiles(io, SMP_TAPS_ACROSS, SMP_TAPS_DOWN, 32, SMP_TAPS_DOWN / 4, grid);
    grid->shared_bytes = (unsigned)(smp_taps_batch(params, channels) * smp_taps_line(params, channels) * 4);
}

void smp_geometry_gradient(const smp_io *io, const void *params, smp_grid *grid)
{
    if (!smp_gradient_warp(params, io))
        tiles(io, SMP_GRADIENT_ACROSS, SMP_GRADIENT_DOWN, SMP_GRADIENT_ACROSS / 4, SMP_GRADIENT_DOWN / 4, grid);
    else if (io->in.format == SMP_U8)
        bands(io, 512, SMP_GRADIENT_BYTES_BAND, grid);
    else
        bands(io, 128, SMP_GRADIENT_REALS_BAND, grid);
}

void smp_geometry_blur_slope(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_blur_slope *p = params;
    if (smp_blur_slope_warp(p, io))
        bands_for(io, smp_blur_slope_across(p->bell.radius), SMP_BLUR_SLOPE_BAND, 24, grid); /* they wait for memory */
    else
        smp_geometry_samples(io, params, grid);
}

void smp_geometry_box_warp(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_box *box = params;
    bands(io, 512, smp_box_band(box->size), grid);
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
