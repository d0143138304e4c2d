/* Shared by sobel and laplacian: see sobel_family.h. */
#include "stages/shared/stencil/sobel_family.h"

#include "stages/shared/launch_shapes.h"

const char *smp_sobel_tiled(const smp_io *io, const void *, smp_grid *grid)
{
    static const char *const names[SMP_SOBEL_TEMPLATES + 1] = {"sobel_tiled0", "sobel_tiled1", "sobel_tiled2",
                                                               "sobel_tiled3", "sobel_tiled4"};
    static const smp_tiles tiles = {SMP_SOBEL_ACROSS, SMP_SOBEL_DOWN, SMP_SOBEL_ACROSS / 4, SMP_SOBEL_DOWN / 4};
    smp_grid_sample_tiles(io, &tiles, grid);
    return names[io->in.channels <= SMP_SOBEL_TEMPLATES ? io->in.channels : 0];
}

size_t smp_sobel_cpu_scratch(const smp_io *, const void *)
{
    return smp_sobel_scratch();
}
