/* The walk of a Gaussian over CPU tiles, for gaussian and the stages that build on a blur. Included by kernel files
 * only. */
#pragma once

#include "gaussian/gaussian_weights.h"
#include "lib/constants.h"

enum { GAUSSIAN_GROUP = 8 }; /* pairs of taps a loop (row pass); the column pass takes twice as many taps */

/* Output rows of one gaussian_down(). */
SMP_INLINE int gaussian_at_once(int r)
{
    return r <= GAUSSIAN_GROUP ? SMP_GAUSSIAN_AT_ONCE : 4;
}

/* The context of a blur's tiled walk. */
typedef struct gaussian_walk {
    const smp_gaussian *g;
    const float *w, *a;
    float outside; /* left and right of a row; smp_gaussian_outside() above and below */
    float *line;   /* smp_stencil_line() floats */
    float *rows;   /* SMP_GAUSSIAN_AT_ONCE rows of STENCIL_PITCH floats */
} gaussian_walk;

/* The two passes, in gaussian_passes.c. The column pass: gaussian_at_once(r) rows of n samples into o (pitch
 * STENCIL_PITCH); m: the window row of the first top tap. */
void SMP_PASTE(gaussian_down, SMP_ISA)(float *restrict o, const float *m, const float *w, int64_t n, int r);
/* Makes a window row: loads it and filters it along the row. */
void SMP_PASTE(gaussian_make, SMP_ISA)(const stencil_walk *walk, const stencil_tile *tile, int64_t y, float *row);

/* Initialises context and walk over `scratch`, smp_gaussian_scratch() bytes. */
SMP_INLINE stencil_walk gaussian_walk_over(const smp_io *io, const smp_gaussian *g, void *scratch,
                                           gaussian_walk *context)
{
    const int64_t reach = 2 * (int64_t)g->radius, step = smp_stencil_step(reach);
    float *window = scratch;
    *context = (gaussian_walk){.g = g,
                               .w = smp_gaussian_weights(g, io->table),
                               .a = smp_gaussian_across(g, io->table),
                               .outside = smp_outside(g->edge, g->fill, io->in.white),
                               .rows = window + smp_stencil_window(reach, step, STENCIL_PITCH)};
    const int64_t halo = (int64_t)g->radius * io->in.channels; /* the first sample after it begins a cache line */
    context->line = context->rows + SMP_GAUSSIAN_AT_ONCE * STENCIL_PITCH + (-halo & (STENCIL_LANES - 1));
    return (stencil_walk){.io = io,
                          .up = g->radius,
                          .down = g->radius,
                          .step = step,
                          .pitch = STENCIL_PITCH,
                          .window = window,
                          .context = context,
                          .make = SMP_PASTE(gaussian_make, SMP_ISA)};
}
