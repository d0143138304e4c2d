/* Decides what a GPU launches for a variant: see launch.h. */
#include "stages/launch.h"

#include <string.h>

#include "stages/foreign.h"

#include "stages/shared/launch_shapes.h"

const char *smp_launch_decide(const smp_launch *launch, const smp_io *io, const void *params, smp_grid *grid)
{
    if (launch->foreign) {
        const smp_foreign *k = launch->foreign;
        memcpy(grid->block, k->block.n, sizeof grid->block);
        grid->shared_bytes = k->shared;
        grid->grid[0] = grid->grid[1] = grid->grid[2] = 1;
        if (k->copies)
            return "copy";
        (void)smp_foreign_grid(k, io, grid->grid); /* a launch says what is wrong with it */
        return k->entry->name;
    }
    if (launch->decide)
        return launch->decide(io, params, grid);
    if (launch->geometry)
        launch->geometry(io, params, grid);
    else if (launch->tiles.across)
        smp_grid_sample_tiles(io, &launch->tiles, grid);
    else
        smp_geometry_samples(io, params, grid);
    return launch->cuda;
}

/* Its first launch says it for all: what follows works on what that one made. */
static bool serves(const smp_variant *variant, const smp_io *io, const void *params, const smp_grid *known)
{
    for (int i = 0; i < SMP_MAX_LAUNCHES; i++) {
        smp_grid grid = *known;
        if (smp_launch_runs(&variant->launches[i], true))
            return smp_launch_decide(&variant->launches[i], io, params, &grid) != NULL;
    }
    return true;
}

const smp_variant *smp_variant_serving(const smp_variant *variant, const smp_io *io, const void *params,
                                       const smp_grid *known)
{
    while (!serves(variant, io, params, known))
        variant--;
    return variant;
}

bool smp_grid_fits(const smp_grid *wanted, const smp_grid *known)
{
    return !known->shared_most || wanted->shared_bytes <= known->shared_most;
}
