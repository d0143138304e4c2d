/* Connected components of a bit plane (kernels/reduce/bits.h), by runs of set pixels in rows: a run is joined with
 * those that it touches in the row above, in a union-find whose roots are the first runs. Threads take bands of rows,
 * whose components are then joined where bands meet. */
#pragma once

#include "reduce/bits.h"
#include "stages/stage.h"

typedef struct smp_pixel_run {
    int32_t from, to; /* columns from .. to-1 */
    uint32_t part;    /* the component's number, from 0 */
} smp_pixel_run;

typedef struct smp_components {
    smp_pixel_run *runs;  /* row by row */
    size_t *first;        /* of each row: index of its first run; height + 1 entries */
    smp_component *parts; /* numbered by their first pixels, top row first, then left */
    size_t count;
} smp_components;

/* Finds them. connectivity: 4 or 8 neighbours. threads: at most so many share the rows; any give the same. Free with
 * smp_components_free, also after a failure. */
smp_code smp_components_find(const void *bits, int64_t width, int64_t height, int connectivity, int threads,
                             smp_components *found, smp_error *err);
void smp_components_free(smp_components *found);

/* Grids of kernels that make a plane: a thread a word; and the pixels of its words, one channel, for other tiles. */
void smp_geometry_bit_words(const smp_io *io, const void *kernel, smp_grid *grid);
smp_io smp_grid_over_bits(const smp_io *io);

/* Sets the bits of columns from .. to-1 of a row that begins at `words`. */
void smp_bits_set(uint32_t *words, int64_t from, int64_t to);
