/* Stages whose table says what becomes of a value: see value_tables.h. */
#include "stages/shared/samples/value_tables.h"

#include "stages/shared/launch_shapes.h"
#include "stages/shared/samples/elementwise.h"

static void geometry_tiled(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_equalize *p = params;
    if (p->count.colours)
        smp_geometry_pixel_tiles(io, params, grid);
    else
        smp_geometry_tables(io, params, grid);
}

SMP_TWO_VARIANTS(equalize, "blocks in the first-level cache; bytes through a table of bytes", smp_geometry_pixels,
                 geometry_tiled);
