/* Launch geometries that stages share: see launch_shapes.h. */
#include "stages/shared/launch_shapes.h"

#include "base/checked.h"
#include "lib/per_pixel.h"

/* At most so many blocks in all. */
static void limit_blocks(int64_t most, smp_grid *grid)
{
    grid->grid[0] = (unsigned)smp_min_i64(grid->grid[0], most);
    grid->grid[1] = (unsigned)smp_min_i64(grid->grid[1], smp_max_i64(1, most / grid->grid[0]));
}

static unsigned blocks_for(int64_t items, int64_t each, int64_t most)
{
    return (unsigned)smp_clamp_i64((items + each - 1) / each, 1, most);
}

/* n items across, rows down; blocks of 256 threads. */
static void spread(int64_t n, int64_t rows, smp_grid *grid)
{
    int64_t width = 1, most = smp_grid_most(grid);
    while (width < n && width < SMP_BLOCK_THREADS)
        width *= 2;
    int64_t height = SMP_BLOCK_THREADS / width;
    *grid = (smp_grid){
        .grid = {blocks_for(n, width, most), blocks_for(rows, height, most), 1},
        .block = {(unsigned)width, (unsigned)height, 1},
    };
}

void smp_geometry_samples(const smp_io *io, const void *, smp_grid *grid)
{
    spread(io->out.width * io->out.channels, io->out.rows, grid);
}

void smp_geometry_packs(const smp_io *io, const void *, smp_grid *grid)
{
    int64_t in_size = smp_sample_size(io->in.format), out_size = smp_sample_size(io->out.format);
    int64_t n = io->out.width * io->out.channels, rows = io->out.rows;
    int64_t pack = 16 / smp_max_i64(in_size, out_size);
    if (io->in.stride == n * in_size && io->out.stride == n * out_size) {
        n *= rows;
        rows = 1;
    }
    spread((n + pack - 1) / pack, rows, grid);
}

void smp_geometry_tables(const smp_io *io, const void *params, smp_grid *grid)
{
    const int64_t most = smp_max_i64(1, grid->units) * SMP_BLOCKS_TABLES;
    smp_geometry_packs(io, params, grid);
    limit_blocks(most, grid);
}

void smp_geometry_pixels(const smp_io *io, const void *, smp_grid *grid)
{
    spread(io->out.width, io->out.rows, grid);
}

void smp_geometry_pixel_tiles(const smp_io *io, const void *params, smp_grid *grid)
{
    int64_t in_row = io->in.width * io->in.channels * smp_sample_size(io->in.format);
    int64_t out_row = io->out.width * io->out.channels * smp_sample_size(io->out.format);
    int64_t n = io->out.width, rows = io->out.rows, most = smp_grid_most(grid);
    if (io->in.stride == in_row && io->out.stride == out_row) {
        n *= rows;
        rows = 1;
    }
    smp_geometry_pixels(io, params, grid);
    if (n > SMP_BLOCK_THREADS / 2 || rows == 1)
        *grid = (smp_grid){
            .grid = {blocks_for(n, smp_pixel_tile(io), most), blocks_for(rows, 1, most), 1},
            .block = {SMP_BLOCK_THREADS, 1, 1},
        };
}

void smp_grid_line(int64_t items, int64_t each, int threads, smp_grid *grid)
{
    *grid = (smp_grid){.grid = {blocks_for(items, each, INT32_MAX), 1, 1}, .block = {(unsigned)threads, 1, 1}};
}

void smp_grid_striding_line(int64_t items, int64_t each, int threads, smp_grid *grid)
{
    const int64_t most = smp_grid_most(grid);
    smp_grid_line(items, each, threads, grid);
    grid->grid[0] = blocks_for(items, each, most);
}

int64_t smp_one_item(const smp_io *, const void *)
{
    return 1;
}

void smp_grid_sample_tiles(const smp_io *io, const smp_tiles *tiles, smp_grid *grid)
{
    *grid = (smp_grid){
        .grid = {blocks_for(io->out.width * io->out.channels, tiles->across, INT32_MAX),
                 blocks_for(io->out.rows, tiles->down, smp_grid_most(grid)), 1},
        .block = {(unsigned)tiles->block_x, (unsigned)tiles->block_y, 1},
    };
}
