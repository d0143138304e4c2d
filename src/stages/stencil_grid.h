/* Launch geometries of the GPU kernels of neighbourhood stages (kernels/stencil.cuh and what builds on it), and the
 * choice between a fused blur and one in two launches. The parameters are the kernel parameter structs that are named.
 */
#ifndef SMP_STAGES_STENCIL_GRID_H
#define SMP_STAGES_STENCIL_GRID_H

#include "stages/stage.h"

/* Rows that a block marches down: the knob of bell_fused, bell_warp and box_warp, and of taps and gradient where these
 * march. */
extern const smp_knob smp_knob_band;

/* smp_bell, or a struct that begins with one. */
void smp_geometry_bell_rows(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_bell_columns(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_bell_fused(const smp_io *io, const void *params, smp_grid *grid);
/* The same for stages that have the kernels of bell_warp.cuh, which run where smp_bell_warp() says so. */
void smp_geometry_bell_warp(const smp_io *io, const void *params, smp_grid *grid);

/* smp_sharpen, smp_taps, smp_gradient, smp_blur_slope, smp_box. */
void smp_geometry_sharpen(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_taps(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_gradient(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_blur_slope(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_box_warp(const smp_io *io, const void *params, smp_grid *grid); /* where smp_box_warp() says so */
void smp_geometry_box_rows(const smp_io *io, const void *params, smp_grid *grid);
void smp_geometry_box_columns(const smp_io *io, const void *params, smp_grid *grid);

/* The tiled kernel of a 3 x 3 derivative, by channels. */
const char *smp_choose_gradient(const smp_io *io, const void *params);

/* names: of the fused kernels for 1, 2, .. SMP_BELL_FUSED_CHANNELS channels; null when the blur takes two launches. */
const char *smp_choose_bell_fused(const smp_io *io, const void *params, const char *const *names);
/* name, when the blur takes two launches. */
const char *smp_choose_bell_two(const smp_io *io, const void *params, const char *name);

#endif
