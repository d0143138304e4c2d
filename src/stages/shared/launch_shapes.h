/* Grids that launches of any stage share: grid, block and dynamic shared memory of a GPU kernel for given views. A
 * stage names one in its smp_launch, or has its own; null means smp_geometry_samples. README.md tells which to take. */
#pragma once

#include "lib/tuning.h"
#include "stages/stage.h"

enum { SMP_GRID_MOST = 65535 /* blocks in y and z, on every GPU */ };

/* Blocks each way for kernels that stride; more than enough in x. Ask before *grid is written. */
static inline int64_t smp_grid_most(const smp_grid *grid)
{
    return grid->blocks_most ? grid->blocks_most : SMP_GRID_MOST;
}

/* The same views with an output of another size: a grid over what is no sample of the output, such as its pixels (one
 * channel) or words of bits. */
static inline smp_io smp_grid_over(const smp_io *io, int64_t width, int64_t rows, int32_t channels)
{
    smp_io over = *io;
    over.out.width = width;
    over.out.rows = rows;
    over.out.channels = channels;
    return over;
}

/* For kernels that stride over the samples of a row (x) and over rows (y): blocks of 256 threads, as wide as the row up
 * to 256, so that narrow pictures and sound use their threads on several rows. */
void smp_geometry_samples(const smp_io *io, const void *params, smp_grid *grid);

/* For kernels with 256 threads that take 16 bytes each in turn, rows that lie end to end joined (smp_point_packs). */
void smp_geometry_packs(const smp_io *io, const void *params, smp_grid *grid);

/* The same with fewer blocks, for kernels whose blocks first make a table (smp_point_tables). */
void smp_geometry_tables(const smp_io *io, const void *params, smp_grid *grid);

/* Blocks of 256 threads in one row over pieces of rows that fit shared memory (smp_pixel_tiles), rows that lie end to
 * end joined; for narrow pictures as smp_geometry_pixels. */
void smp_geometry_pixel_tiles(const smp_io *io, const void *params, smp_grid *grid);

/* As smp_geometry_samples, for kernels that stride over the pixels of a row (smp_pixel_each). */
void smp_geometry_pixels(const smp_io *io, const void *params, smp_grid *grid);

/* Blocks in x over `items`, `each` of them a block: at least one, as many as a GPU can have. */
void smp_grid_line(int64_t items, int64_t each, int threads, smp_grid *grid);

/* The same for kernels that stride over the items: no more blocks than the device takes in y, so that tests' devices of
 * small grids make them stride. */
void smp_grid_striding_line(int64_t items, int64_t each, int threads, smp_grid *grid);

/* smp_launch.items of what one thread of a CPU does. */
int64_t smp_one_item(const smp_io *io, const void *params);

/* Blocks over tiles of the output: smp_launch.tiles. For a stage's own geometry or decision; it sets dynamic shared
 * memory afterwards. */
void smp_grid_sample_tiles(const smp_io *io, const smp_tiles *tiles, smp_grid *grid);
