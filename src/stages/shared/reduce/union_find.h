/* Shared by stages whose components GPUs join (kernels/lib/union_find.h): places in result and scratch picture,
 * launches, grids. The reduction's first launches make the plane; those here follow when all rows are there. */
#pragma once

#include "lib/union_find.h"
#include "stages/stage.h"

/* Bytes of a bit plane of the picture; 0: it is too large to be joined, by anyone. */
size_t smp_union_find_plane(const smp_shape *in);

/* Fills in places, and the plan's result, which begins with so many planes, and `between`. The scratch picture begins
 * with `own` bytes, the stage's; work->table.size bytes are the table's. False: too large. What only has no room for a
 * device's numbers is planned too, and joined by the host. */
bool smp_union_find_place(const smp_shape *in, int planes, int64_t own, smp_union_find *sets, smp_node_plan *work);

/* Returns the result's part of the scratch picture that the host gets; null if the host joins. */
const void *smp_union_find_found(const smp_union_find *sets, const void *result);

/* Launches of a GPU alone. Their picture is io.second, and io.in and io.out are the scratch picture. */
#define SMP_UNION_FIND_THEN(name, shape)                                                                               \
    {                                                                                                                  \
        .from = SMP_SCRATCH, .to = SMP_SCRATCH, .cuda = #name, .geometry = shape, .last = true                         \
    }
#define SMP_UNION_FIND_SEAMS(variant)                                                                                  \
    SMP_UNION_FIND_THEN(union_find_seams_unordered_##variant, smp_geometry_union_find_words)
#define SMP_UNION_FIND_FLATTEN SMP_UNION_FIND_THEN(union_find_flatten, smp_geometry_union_find_chunks)

/* Grids of these: a thread a word, a block a tile, a block a chunk of words. */
void smp_geometry_union_find_words(const smp_io *io, const void *kernel, smp_grid *grid);
void smp_geometry_union_find_tiles(const smp_io *io, const void *kernel, smp_grid *grid);
void smp_geometry_union_find_chunks(const smp_io *io, const void *kernel, smp_grid *grid);
/* The same of some rows of a picture. */
void smp_union_find_grid_words(const smp_view *picture, int64_t rows, smp_grid *grid);
void smp_union_find_grid_tiles(const smp_view *picture, int64_t rows, smp_grid *grid);
