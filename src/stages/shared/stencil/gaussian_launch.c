/* GPU launches of the gaussian-shaped blurs: see gaussian_launch.h. */
#include "stages/shared/stencil/gaussian_plan.h"

#include "gaussian/gaussian_weights.h"
#include "stages/shared/stencil/warp_strip_launch.h"

static smp_bands bands_of(int from, int to, int radius)
{
    smp_bands bands = {.halo = 2 * radius};
    const int rows = from == to && to == SMP_F32 ? SMP_GAUSSIAN_BAND_F32(radius)
                     : to == SMP_F32             ? SMP_GAUSSIAN_BAND_U8_F32(radius)
                     : from == SMP_F32           ? SMP_GAUSSIAN_BAND_F32_U8(radius)
                                                 : SMP_GAUSSIAN_BAND_INTEGER(radius);
    if (rows) {
        bands.most = rows - bands.halo;
    } else {
        bands.most = from == SMP_F32 ? SMP_GAUSSIAN_TALL_F32 : SMP_GAUSSIAN_TALL_INTEGER;
        bands.warps = from == SMP_F32 ? SMP_GAUSSIAN_BUSY_F32 : SMP_GAUSSIAN_BUSY_INTEGER;
        bands.uneven = true;
    }
    return bands;
}

void smp_gaussian_warp_grid(const smp_io *io, int radius, smp_grid *grid)
{
    const smp_bands bands = bands_of(io->in.format, io->out.format, radius);
    smp_strip_grid(io, 32 * smp_gaussian_lane(io->in.format, io->out.format, radius), &bands, grid);
}
