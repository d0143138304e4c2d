/* Launch geometries of neighbourhood kernels: see stencil_grid.h. */
#include "stages/stencil_grid.h"

#include "base/checked.h"
#include "bell.h"
#include "stages/geometry.h"

/* Blocks of width x height threads over tiles of `across` samples and `down` rows. */
static void tiles(const smp_io *io, int64_t across, int64_t down, unsigned width, unsigned height, smp_grid *grid)
{
    const int64_t n = io->out.width * io->out.channels;
    *grid = (smp_grid){
        .grid = {(unsigned)smp_clamp_i64((n + across - 1) / across, 1, INT32_MAX),
                 (unsigned)smp_clamp_i64((io->out.rows + down - 1) / down, 1, SMP_GRID_MOST), 1},
        .block = {width, height, 1},
    };
}

void smp_geometry_bell_rows(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)params;
    tiles(io, SMP_BELL_ACROSS, SMP_BELL_LINES, SMP_BELL_LANES, SMP_BELL_LINES, grid);
}

void smp_geometry_bell_columns(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)params;
    tiles(io, SMP_BELL_COLUMNS, SMP_BELL_DOWN, SMP_BELL_COLUMNS / 4, SMP_BELL_DOWN / 4, grid);
}

void smp_geometry_bell_fused(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_bell *bell = params;
    const unsigned threads = (unsigned)smp_bell_threads(bell->radius);
    tiles(io, 4 * (int64_t)threads, smp_bell_band(bell->radius), threads, 1, grid);
    grid->shared_bytes = smp_bell_shared(bell->radius, io->in.channels, (int)smp_sample_size(io->in.format));
}

const char *smp_choose_bell_fused(const smp_io *io, const void *params, const char *const *names)
{
    return smp_bell_fused(params, io->in.channels) ? names[io->in.channels - 1] : NULL;
}

const char *smp_choose_bell_two(const smp_io *io, const void *params, const char *name)
{
    return smp_bell_fused(params, io->in.channels) ? NULL : name;
}
